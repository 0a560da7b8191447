"""Pictures of a report and of the studio as a browser shows them, for the pages: `python tools/pictures.py`."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from playwright.sync_api import sync_playwright

import tauform as tf
from tools.real_robots import urdf

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "pictures"
OPTIONS = ("--no-sandbox", "--disable-background-networking", "--no-first-run", "--enable-unsafe-swiftshader")
# name -> width, height, colour scheme
REPORTS = {"report": (1366, 768, "light"), "report_dark": (1366, 768, "dark"), "report_tablet": (820, 900, "light"),
           "report_narrow": (420, 900, "dark")}  # fmt: skip


def log(robot: tf.Robot, seed: int) -> tf.Recording:
    """A simulated motion with noise of one per cent."""
    rng = np.random.default_rng(seed)
    t, w = np.arange(0.0, 20.0, 0.005), 2 * np.pi * 0.1 * np.arange(1, 6)
    a, b = rng.normal(size=(2, len(w), robot.n_joints)) * (0.5 / np.arange(1, 6))[:, None]
    sine, cosine = np.sin(np.outer(t, w)), np.cos(np.outer(t, w))
    q, qd, qdd = sine @ a + cosine @ b, (cosine * w) @ a - (sine * w) @ b, -(sine * w**2) @ a - (cosine * w**2) @ b
    tau = tf.inverse_dynamics(robot, q, qd, qdd)
    return tf.Recording(t, q, tau + 0.01 * tau.std(axis=0) * rng.normal(size=tau.shape), name=f"run {seed}")


def fit() -> tf.Fit:
    """A Panda that is a tenth heavier than described, with friction."""
    robot = tf.load(urdf("panda"), tip="panda_link8")
    values = np.array(robot.parameters)
    values[robot.layout.links] *= 1.1
    robot.layout.by_joint(values)[:, 1:3] = 2.0, 1.5  # Fv, Fc
    real = robot.with_parameters(values)
    return tf.identify(robot, [log(real, 1), log(real, 2)], validate=log(real, 3), physical=True)


def keep(page: Any, name: str) -> None:
    """The window as a picture of 256 colours, which is a third of the bytes."""
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    FOLDER.mkdir(exist_ok=True)
    picture.quantize(256).save(FOLDER / f"{name}.png", optimize=True)


def reports(browser: Any, path: Path) -> None:
    """The first screen of a report, in several windows."""
    for name, (width, height, scheme) in REPORTS.items():
        page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
        page.goto(path.as_uri())
        page.wait_for_selector("figure.robot-view[data-drawn]")
        page.wait_for_timeout(1500)
        keep(page, name)
        page.close()


def studio(browser: Any) -> None:
    """The studio with a Panda, its second joint turned."""
    command = [sys.executable, "-m", "tauform", "studio", str(urdf("panda")), "--tip", "panda_link8", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8") as server:
        assert server.stdout is not None
        address = re.findall(r"http://\S+", server.stdout.readline())[0]
        page = browser.new_page(viewport={"width": 1366, "height": 768})
        page.goto(address)
        page.wait_for_selector(".torque")
        for joint, share in ((1, 0.35), (3, 0.35), (5, 0.5)):
            box = page.locator(".q-slider").nth(joint).bounding_box()
            page.mouse.click(box["x"] + share * box["width"], box["y"] + box["height"] / 2)
        page.wait_for_timeout(4000)
        keep(page, "studio")
        server.terminate()


if __name__ == "__main__":
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as scratch:
        running = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=list(OPTIONS))
        reports(running, fit().report(Path(scratch) / "report.html"))
        studio(running)
        running.close()
