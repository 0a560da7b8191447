"""The notebooks in JupyterLab, in a real browser: every cell runs, and every plot and view is drawn."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tools.browser import BROWSER, NO_BROWSER, chromium, watched

pytest.importorskip("playwright.sync_api")
pytest.importorskip("jupyterlab", reason="JupyterLab is not installed; make nightly installs it")
FOLDER = Path(__file__).resolve().parents[2] / "docs" / "notebooks"
TOKEN = "of-this-test"
pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(BROWSER is None, reason=NO_BROWSER),
]
# A cell that is not run yet has no number, and one that runs a star.
FINISHED = """() => {
    const prompts = [...document.querySelectorAll('.jp-CodeCell .jp-InputPrompt')].map(e => e.textContent);
    return prompts.length > 0 && prompts.every(text => /[0-9]/.test(text));
}"""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """JupyterLab on loopback, in a folder with copies of the notebooks."""
    home = tmp_path_factory.mktemp("jupyter")
    shutil.copytree(FOLDER, home / "notebooks")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--ip=127.0.0.1", f"--port={port}"]
    command += [f"--IdentityProvider.token={TOKEN}", f"--notebook-dir={home / 'notebooks'}"]
    environment = {**os.environ, "JUPYTER_CONFIG_DIR": str(home / "config"), "JUPYTER_DATA_DIR": str(home / "data")}
    server = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        found = f"http://127.0.0.1:{port}"
        for _ in range(600):
            try:
                urllib.request.urlopen(f"{found}/api?token={TOKEN}", timeout=5).close()
                break
            except (urllib.error.URLError, ConnectionError):
                time.sleep(0.1)
        yield found
    finally:
        server.terminate()
        server.wait(30)


@pytest.mark.parametrize(("name", "plots", "views"), [("robot_to_c", 2, 1), ("log_to_verdict", 4, 0)])
def test_every_cell_runs_and_shows_what_it_makes(address: str, name: str, plots: int, views: int) -> None:
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 1366, "height": 6000})  # high, so that no cell is left undrawn
        page.set_default_timeout(180_000)
        complaints = watched(page)
        # A workspace of its own: JupyterLab would open the other notebook again.
        page.goto(f"{address}/lab/workspaces/{name}/tree/{name}.ipynb?token={TOKEN}")
        page.wait_for_selector(".jp-CodeCell")
        page.wait_for_selector(".jp-Notebook-ExecutionIndicator[data-status=idle]")
        run_all(page)
        # Asked before its kernels are known, JupyterLab lets the user choose one.
        page.wait_for_function(f"() => document.querySelector('.jp-Dialog') || ({FINISHED})()")
        if page.locator(".jp-Dialog").count():
            page.locator(".jp-Dialog .jp-mod-accept").click()
            run_all(page)
        page.wait_for_function(FINISHED)
        page.wait_for_function(f"() => document.querySelectorAll('.js-plotly-plot .main-svg').length >= {plots}")
        assert page.locator(".js-plotly-plot").count() == plots
        assert page.locator("[data-mime-type='application/vnd.jupyter.error']").count() == 0
        assert page.locator("[data-mime-type='application/vnd.jupyter.stderr']").count() == 0
        assert page.locator(".jp-OutputArea iframe").count() == views
        if views:
            check_view(page)
    assert complaints == []


def run_all(page: Any) -> None:
    page.get_by_text("Run", exact=True).first.click()
    page.get_by_text("Run All Cells", exact=True).click()


def check_view(page: Any) -> None:
    """A slider moves the robot: what is drawn changes."""
    frame = page.locator(".jp-OutputArea iframe").first.content_frame
    slider = frame.locator("input[type=range]").first
    slider.wait_for()
    before = frame.locator("body").screenshot()
    slider.focus()
    for _ in range(20):
        slider.press("ArrowRight")
    page.wait_for_timeout(500)
    assert frame.locator("body").screenshot() != before
