"""A real browser for tests, benchmarks and pictures, and a studio for it to open."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
BROWSER = next((path for name in NAMES if (path := shutil.which(name))), None)
NO_BROWSER = f"no browser installed (looked for {', '.join(NAMES)})"
# Robots are drawn in space without a graphics card; nothing is asked of the network.
OPTIONS = (
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--enable-unsafe-swiftshader",
)


@contextmanager
def chromium(more: Sequence[str] = ()) -> Iterator[Any]:
    """The browser, until the end of the block."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=BROWSER, args=[*OPTIONS, *more])
        yield running
        running.close()


@contextmanager
def studio(*arguments: str, folder: Path | None = None) -> Iterator[str]:
    """A studio of its own process; its address, with the token.

    Args:
        folder: where it is started; pages name files as they are given.

    Raises:
        AssertionError: it did not start, or complained of a defect meanwhile.
    """
    command = [sys.executable, "-m", "tauform", "studio", *arguments, "--no-browser", "--quiet"]
    # Complaints go to a file: a pipe that nobody reads would stop the server once it is full.
    with tempfile.TemporaryFile("w+", encoding="utf-8") as said:
        server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=said, text=True, encoding="utf-8", cwd=folder)
        assert server.stdout is not None
        try:
            found = re.findall(r"http://\S+", server.stdout.readline())
            if found:
                yield found[0]
        finally:
            server.terminate()
            server.wait(timeout=60)
        said.seek(0)
        complaints = said.read()
        assert found, complaints
        assert "Traceback" not in complaints, complaints


def watched(page: Any) -> list[str]:
    """What a page will complain about on its console."""
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    return complaints


def set_slider(page: Any, joint: int, share: float) -> None:
    """Click into the slider of a joint, at a share of its length."""
    slider = page.locator(".q-slider").nth(joint)
    # In the middle: the lines at the foot of narrow pages would take the click.
    slider.evaluate("slider => slider.scrollIntoView({block: 'center', behavior: 'instant'})")
    box = slider.bounding_box()
    page.mouse.click(box["x"] + share * box["width"], box["y"] + box["height"] / 2)
