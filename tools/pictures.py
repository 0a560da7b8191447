"""Pictures of a report and of the studio as a browser shows them, for the pages: `python -m tools.pictures`."""

from __future__ import annotations

import io
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

import tauform as tf
from tools.browser import chromium, set_slider, studio
from tools.real_robots import copied_urdf, urdf
from tools.simulated_logs import simulated_log

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "pictures"
WIDTHS = {"": (1366, 768), "_tablet": (820, 1000), "_narrow": (420, 900)}
SCHEMES = {"": "light", "_dark": "dark"}


def fit() -> tf.Fit:
    """A Panda that is a tenth heavier than described, with friction."""
    robot = tf.load(urdf("panda"), tip="panda_link8")
    values = np.array(robot.parameters)
    values[robot.layout.links] *= 1.1
    robot.layout.by_joint(values)[:, 1:3] = 2.0, 1.5  # Fv, Fc
    real = robot.with_parameters(values)
    logs = [simulated_log(real, seed, seconds=20.0, rate=200.0, frequency=0.1, size=0.5) for seed in (1, 2, 3)]
    return tf.identify(robot, logs[:2], validate=logs[2], physical=True)


def keep(page: Any, name: str) -> None:
    """The window as a picture of 256 colours, which is a third of the bytes."""
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    FOLDER.mkdir(exist_ok=True)
    picture.quantize(256).save(FOLDER / f"{name}.png", optimize=True)


def windows(browser: Any) -> Any:
    """(end of a picture's name, page) for each width, light and dark."""
    for width, (across, down) in WIDTHS.items():
        for scheme, colours in SCHEMES.items():
            page = browser.new_page(viewport={"width": across, "height": down}, color_scheme=colours)
            # Robots are drawn without a graphics card, perhaps beside other work.
            page.set_default_timeout(120_000)
            yield width + scheme, page
            page.close()


def reports(browser: Any, path: Path) -> None:
    """The first screen of a report."""
    for end, page in windows(browser):
        page.goto(path.as_uri())
        page.wait_for_selector("figure.robot-view[data-drawn]")
        page.wait_for_timeout(1500)
        keep(page, f"report{end}")


def studios(browser: Any) -> None:
    """The studio with a Panda, three of its joints turned."""
    # By its name alone: pictures show no path of this machine.
    with (
        tempfile.TemporaryDirectory() as scratch,
        studio(copied_urdf("panda", Path(scratch)).name, "--tip", "panda_link8", folder=Path(scratch)) as address,
    ):
        for end, page in windows(browser):
            page.goto(address)
            page.wait_for_selector(".torque")
            for joint, share in ((1, 0.35), (3, 0.35), (5, 0.5)):
                set_slider(page, joint, share)
            page.evaluate("scrollTo(0, 0)")
            page.wait_for_timeout(4000)
            keep(page, f"studio{end}")


if __name__ == "__main__":
    with chromium() as running, tempfile.TemporaryDirectory() as scratch:
        reports(running, fit().report(Path(scratch) / "report.html"))
        studios(running)
