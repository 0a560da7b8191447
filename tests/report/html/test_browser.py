"""The report in a real browser: no errors, plots are there, sliders and pointer move the robot, dark and narrow."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tauform as tf
from sampling import representatives
from tauform.pipeline.model_robot import RobotModel
from tauform.pipeline.motion import coordinate_ranges, sweep_motion
from tauform.report.delivery import Delivery
from tauform.report.html.document import Section, document
from tauform.report.html.robot_view import robot_view

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
BROWSER = next((path for name in BROWSERS if (path := shutil.which(name))), None)
pytestmark = pytest.mark.skipif(BROWSER is None, reason=f"no browser installed (looked for {', '.join(BROWSERS)})")

QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-dev-shm-usage",
    "--no-first-run",
)
LAPTOP, NARROW = {"width": 1366, "height": 768}, {"width": 390, "height": 844}


@dataclass
class Tab:
    """An open page, and what it complained about or asked the network for."""

    page: Any
    complaints: list[str]
    requests: list[str]

    def origins(self) -> Any:
        """(n + 1, 3) origins of the links and of the tool that the page shows."""
        return np.array(json.loads(self.page.locator("figure.robot-view").get_attribute("data-origins")))

    def move(self, joint: int, value: float) -> None:
        """Set a slider as a user does."""
        slider = self.page.locator(".joint input").nth(joint)
        slider.evaluate("(s, v) => { s.value = v; s.dispatchEvent(new Event('input')); }", value)

    def lines(self) -> str:
        """The drawn robot, as markup."""
        text: str = self.page.locator("figure.robot-view svg").inner_html()
        return text


Open = Callable[..., Tab]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=BROWSER, headless=True, args=list(QUIET))
        yield running
        running.close()


@pytest.fixture
def open_page(browser: Any) -> Iterator[Open]:
    tabs: list[Any] = []

    def open_file(path: Path, viewport: dict[str, int] = LAPTOP, scheme: str = "light") -> Tab:
        page = browser.new_page(viewport=viewport, color_scheme=scheme)
        tabs.append(page)
        tab = Tab(page, [], [])
        page.on("console", lambda message: tab.complaints.append(message.text))
        page.on("pageerror", lambda error: tab.complaints.append(str(error)))
        page.on("request", lambda request: tab.requests.append(request.url))
        page.goto(path.as_uri())
        page.wait_for_selector("figure.robot-view[data-origins]")
        return tab

    yield open_file
    for page in tabs:
        page.close()


@pytest.mark.parametrize("viewport", [LAPTOP, NARROW], ids=["laptop", "narrow"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_loads_without_complaints_and_fits_the_window(
    open_page: Open, delivery: Delivery, viewport: dict[str, int], scheme: str
) -> None:
    tab = open_page(delivery.report, viewport, scheme)
    assert tab.complaints == []
    assert [url for url in tab.requests if not url.startswith(("file:", "data:"))] == []
    assert tab.page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]


def test_dark_and_light_differ_in_the_background_and_keep_contrast(open_page: Open, delivery: Delivery) -> None:
    lightness = {}
    for scheme in ("light", "dark"):
        page = open_page(delivery.report, scheme=scheme).page
        style = "getComputedStyle(document.querySelector('section'))"
        colours = [page.evaluate(f"{style}.{name}") for name in ("backgroundColor", "color")]
        lightness[scheme] = [np.mean([int(v) for v in c[c.index("(") + 1 : -1].split(",")[:3]]) for c in colours]
    assert lightness["light"][0] > 200 > 80 > lightness["light"][1]
    assert lightness["dark"][0] < 80 < 200 < lightness["dark"][1]


def test_every_plot_is_drawn(open_page: Open, delivery: Delivery, two_link: RobotModel) -> None:
    page = open_page(delivery.report).page
    plots = page.locator("figure.plot")
    assert plots.count() == 2
    for k in range(plots.count()):
        assert plots.nth(k).locator("path.series").count() >= 2
        assert plots.nth(k).locator("svg").first.bounding_box()["height"] > 150
    assert plots.first.locator("[role=tab]").all_inner_texts() == list(two_link.robot.joint_names)


def test_tabs_legend_and_pointer_of_a_plot(open_page: Open, delivery: Delivery) -> None:
    plot = open_page(delivery.report).page.locator("figure.plot").first
    paths = plot.locator(".stage path.series")
    first = paths.first.get_attribute("d")
    plot.locator("[role=tab]").nth(1).click()
    assert paths.first.get_attribute("d") != first

    shown = paths.count()
    plot.locator(".legend button").first.click()
    assert paths.count() == shown - 1
    assert plot.locator(".legend button").first.get_attribute("aria-pressed") == "false"
    plot.locator(".legend button").first.click()
    assert paths.count() == shown

    plot.locator(".stage svg").first.hover()
    tip = plot.locator(".tip")
    assert tip.is_visible()
    label, time = tip.inner_text().splitlines()[0].split(": ")
    assert label == "time [s]"
    assert 2.7 < float(time) < 3.0  # near the middle of six seconds; the left margin is wider
    assert tip.locator("tr").count() == shown


@pytest.mark.parametrize("name", ["kr6_r700", "sr6ia", "parallelogram"])
def test_sliders_move_the_robot_where_forward_kinematics_says(open_page: Open, tmp_path: Path, name: str) -> None:
    robot = tf.load(name)
    path = tmp_path / "view.html"
    path.write_text(document(name, "", [Section("robot", "Robot", robot_view(robot, sweep_motion(robot)))]))
    tab = open_page(path)
    before = tab.lines()
    low, high = coordinate_ranges(robot).T
    q = np.random.default_rng(5).uniform(low, high)
    for j, value in enumerate(q):
        tab.move(j, float(value))
    expected = np.vstack([tf.link_placements(robot, q)[:, :3, 3], tf.forward_kinematics(robot, q)[:3, 3]])
    np.testing.assert_allclose(tab.origins(), expected, atol=1e-8)
    assert tab.lines() != before
    assert tab.complaints == []
    tab.page.locator("button.zero").click()
    assert tab.lines() == before


# Coordinates of everything but the floor, and the size of the drawing.
DRAWN = """svg => [
    [...svg.querySelectorAll("line:not(.floor)")].flatMap(
        line => [1, 2].map(k => [Number(line.getAttribute("x" + k)), Number(line.getAttribute("y" + k))])),
    [svg.clientWidth, svg.clientHeight]]"""


def drawn(tab: Tab) -> tuple[Any, Any]:
    """(N, 2) ends of the drawn lines in pixels, and the width and height that hold them."""
    points, size = tab.page.locator("figure.robot-view svg").evaluate(DRAWN)
    return np.array(points), np.array(size)


WINDOWS = {"laptop": LAPTOP, "narrow": NARROW}
FRAMED = list(product(("two_link", "kr6_r700", "sr6ia", "parallelogram", "humanoid"), WINDOWS))
# The widest in both windows; a long, a sliding and a closed one.
KEPT = [*FRAMED[-2:], ("kr6_r700", "narrow"), ("sr6ia", "laptop"), ("parallelogram", "narrow")]


@pytest.mark.parametrize("case", representatives(FRAMED, *KEPT), ids="-".join)
def test_the_robot_fills_its_frame_and_stays_inside(open_page: Open, tmp_path: Path, case: tuple[str, str]) -> None:
    name, window = case
    robot = tf.random_robot(12, seed=3, branching=0.4) if name == "humanoid" else tf.load(name)
    path = tmp_path / "view.html"
    path.write_text(document(name, "", [Section("robot", "Robot", robot_view(robot, sweep_motion(robot)))]))
    tab = open_page(path, WINDOWS[window])
    points, size = drawn(tab)
    assert np.ptp(points, axis=0).max() > 0.3 * size.min()
    low, high = coordinate_ranges(robot).T
    for q in (low, high, *np.random.default_rng(5).uniform(low, high, (3, robot.n_joints))):
        for j, value in enumerate(q):
            tab.move(j, float(value))
        points, size = drawn(tab)
        assert (points >= 0).all()
        assert (points <= size).all()
    tab.page.locator("figure.robot-view svg").press("+")
    assert np.ptp(drawn(tab)[0], axis=0).max() > 1.1 * np.ptp(points, axis=0).max()


def test_the_pointer_turns_the_view_and_leaves_the_joints(open_page: Open, delivery: Delivery) -> None:
    tab = open_page(delivery.report)
    view = tab.page.locator("figure.robot-view svg")
    view.scroll_into_view_if_needed()
    box = view.bounding_box()
    origins, lines = tab.origins(), tab.lines()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    tab.page.mouse.move(x, y)
    tab.page.mouse.down()
    tab.page.mouse.move(x + 120, y - 40)
    tab.page.mouse.up()
    assert tab.lines() != lines
    np.testing.assert_array_equal(tab.origins(), origins)
    view.dblclick()
    assert tab.lines() == lines


def test_the_motion_plays_and_stops(open_page: Open, delivery: Delivery) -> None:
    tab = open_page(delivery.report)
    button = tab.page.locator("button.play")
    at_rest = tab.page.locator("figure.robot-view").get_attribute("data-origins")
    button.click()
    tab.page.wait_for_function(
        "start => document.querySelector('figure.robot-view').dataset.origins !== start", arg=at_rest
    )
    button.click()
    assert np.abs(tab.origins() - json.loads(at_rest)).max() > 0
    stopped = tab.origins()
    tab.page.wait_for_timeout(100)
    np.testing.assert_array_equal(tab.origins(), stopped)
    assert tab.complaints == []
