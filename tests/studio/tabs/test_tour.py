"""A tour of the studio, with a picture of each step; the pictures of the site are made here."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import tauform as tf
from real_robots import urdf
from studio.studio_pages import heavier_arm, open_studio, write_logs
from tools.browser import BROWSER, NO_BROWSER, set_slider, studio
from tools.real_robots import copied_urdf

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytest.importorskip("nicegui", reason="nicegui is not installed")
pytestmark = [pytest.mark.nightly, pytest.mark.skipif(BROWSER is None, reason=NO_BROWSER)]

# The verdict stands between the bar above and the lines below.
SEEN = """() => {
  const [seen, above, below] = [".verdict", "header", "footer"].map(
    one => document.querySelector(one).getBoundingClientRect());
  return seen.top >= above.bottom && seen.bottom <= below.top;
}"""


class Tour:
    """Screenshots in the order of the work; `TAUFORM_TOUR=docs/pictures/tour` renews those of the site."""

    def __init__(self, page: Any, folder: Path) -> None:
        self.page, self.folder = page, Path(os.environ.get("TAUFORM_TOUR", folder))
        self.folder.mkdir(parents=True, exist_ok=True)
        self.count = 0

    def picture(self, name: str) -> None:
        # Meshes and figures come after the numbers.
        self.page.wait_for_timeout(2500)
        self.count += 1
        path = self.folder / f"{self.count:02d}_{name}.jpg"
        self.page.screenshot(path=str(path), type="jpeg", quality=62)
        assert 15_000 < path.stat().st_size < 150_000

    def tab(self, name: str) -> None:
        self.page.get_by_role("tab", name=name).click()

    def press(self, name: str, until: str) -> None:
        self.page.get_by_role("button", name=name).click()
        self.page.wait_for_selector(until)


def test_a_tour_from_a_robot_to_code(browser: Any, tmp_path: Path) -> None:
    """Everything a newcomer does, with a picture of each step."""
    robot = tf.load(urdf("panda"), tip="panda_link8")
    # By their names alone: pictures show no path of this machine.
    names = [path.name for path in (copied_urdf("panda", tmp_path), *write_logs(heavier_arm(robot, 1.15), tmp_path))]
    with studio(*names, "--tip", "panda_link8", folder=tmp_path) as address:
        page, complaints = open_studio(browser, address)
        page.set_viewport_size({"width": 1200, "height": 820})
        tour = Tour(page, tmp_path / "tour")
        tour.picture("robot")
        for joint, share in ((1, 0.6), (3, 0.45), (5, 0.5)):
            set_slider(page, joint, share)
        tour.picture("sliders")
        page.get_by_text("Change masses, payload, tool, gravity").click()
        page.get_by_label("mass", exact=True).fill("3")
        tour.picture("payload")
        page.get_by_label("mass", exact=True).fill("0")
        tour.tab("Plan")
        tour.press("Plan a motion", "text=Least distance")
        tour.picture("plan")
        tour.tab("Identify")
        page.get_by_role("button", name="Look at it").first.click()
        page.wait_for_selector("text=Spectrum of the velocities")
        tour.picture("log")
        tour.press("Identify", ".verdict")
        # The button is at the foot of the logs; the page shows what was asked for, clear of its bars.
        page.wait_for_function(SEEN)
        tour.picture("verdict")
        page.locator("text=The recording, links coloured").scroll_into_view_if_needed()
        page.get_by_role("button", name="Play").click()
        tour.picture("playback")
        page.get_by_role("button", name="Stop").click()
        page.evaluate("scrollTo(0, 0)")
        page.get_by_text("physically consistent links").click()
        tour.press("Identify", "text=Fits side by side")
        page.locator("text=Fits side by side").scroll_into_view_if_needed()
        page.mouse.wheel(0, 260)
        tour.picture("comparison")
        tour.tab("Shrink")
        tour.press("Shrink", "text=Error of each joint")
        tour.picture("shrink")
        tour.tab("Deliver")
        tour.press("Generate and test", "text=The self-test passed")
        tour.picture("code")
        assert complaints == []
