"""The report in a real browser: no errors, plots are there, sliders and pointer move the robot, dark and narrow."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tauform as tf
from real_robots import urdf
from sampling import in_turns, representatives
from tauform.description.shapes import Mesh
from tauform.pipeline.motion import coordinate_ranges, home_position, sweep_motion
from tauform.pipeline.robot_model import RobotModel
from tauform.report.delivery import Delivery
from tauform.report.html.document import Section, document
from tauform.report.html.elements import folded, table
from tauform.report.html.meshes import MOST_TRIANGLES, LinkMesh, link_meshes
from tauform.report.html.plot import Panel, Plot, Series
from tauform.report.html.robot_view import home_box, robot_view, swept_box, view_data
from tools.browser import BROWSER, NO_BROWSER, chromium, watched

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytestmark = pytest.mark.skipif(BROWSER is None, reason=NO_BROWSER)

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

    def drawn(self) -> Any:
        """Points of the drawn robot, trace by trace, as Plotly holds them."""
        text = "JSON.stringify(document.querySelector('.robot .stage').data.slice(1).map(d => [d.x, d.y, d.z]))"
        return json.loads(self.page.evaluate(text))

    def eye(self) -> Any:
        """Place of the camera."""
        scene = "document.querySelector('.robot .stage')._fullLayout.scene"
        eye = self.page.evaluate(f"{scene}._scene ? {scene}._scene.getCamera().eye : {scene}.camera.eye")
        return np.array([eye[axis] for axis in "xyz"])


Open = Callable[..., Tab]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium(["--disable-gpu"]) as running:
        yield running


@pytest.fixture
def open_page(browser: Any) -> Iterator[Open]:
    tabs: list[Any] = []

    def open_file(path: Path, viewport: dict[str, int] = LAPTOP, scheme: str = "light") -> Tab:
        page = browser.new_page(viewport=viewport, color_scheme=scheme)
        tabs.append(page)
        tab = Tab(page, watched(page), [])
        page.on("request", lambda request: tab.requests.append(request.url))
        page.goto(path.as_uri())
        page.wait_for_selector("figure.robot-view[data-drawn]")
        return tab

    yield open_file
    for page in tabs:
        page.close()


@pytest.mark.parametrize(("viewport", "scheme"), in_turns([LAPTOP, NARROW], ["light", "dark"]))
def test_it_loads_without_complaints_and_fits_the_window(
    open_page: Open, delivery: Delivery, viewport: dict[str, int], scheme: str
) -> None:
    tab = open_page(delivery.report, viewport, scheme)
    assert tab.complaints == []
    assert [url for url in tab.requests if not url.startswith(("file:", "data:"))] == []
    assert tab.page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]


@pytest.mark.parametrize("width", [1366, 820, 420])
def test_no_table_hides_a_column(browser: Any, tmp_path: Path, width: int) -> None:
    """Nine vectors in a row: where they do not fit they stand one below the other, and on paper they wrap."""
    columns = ["link", *(f"principal moments {k} [kg m²]" for k in range(9))]
    rows = [[f"link{k}", *[np.array([0.0123, -0.0456, 7.89e-5])] * 9] for k in range(3)]
    wide = table(columns, rows, data=True, tall=True)
    path = tmp_path / "wide.html"
    path.write_text(document("wide", "", [Section("a", "seen", wide), Section("b", "folded", folded("more", wide))]))
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.goto(path.as_uri())
    page.locator("summary").click()
    hidden = "[...document.querySelectorAll('.wide')].map(box => box.scrollWidth - box.clientWidth)"
    page.wait_for_function(f"{hidden}.every(more => more <= 1)")
    assert page.locator(".stacked").count() == 2
    assert page.locator(".wide td >> nth=1").is_visible()
    # Sorting stays: descending at the second click.
    heading = page.locator("#a th button").first
    heading.click()
    heading.click()
    assert page.locator("#a td").first.inner_text().split()[-1] == "link2"
    # A4 without its margins: 186 mm at 96 pixels per inch.
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 703, "height": 900})
    assert page.evaluate("document.documentElement.scrollWidth") <= 703
    page.close()


def test_dark_and_light_differ_in_the_background_and_keep_contrast(open_page: Open, delivery: Delivery) -> None:
    lightness = {}
    for scheme in ("light", "dark"):
        page = open_page(delivery.report, scheme=scheme).page
        style = "getComputedStyle(document.querySelector('section'))"
        colours = [page.evaluate(f"{style}.{name}") for name in ("backgroundColor", "color")]
        lightness[scheme] = [np.mean([int(v) for v in c[c.index("(") + 1 : -1].split(",")[:3]]) for c in colours]
    assert lightness["light"][0] > 200 > 80 > lightness["light"][1]
    assert lightness["dark"][0] < 80 < 200 < lightness["dark"][1]


def test_the_first_screen_answers(open_page: Open, tmp_path: Path) -> None:
    """Verdict, torques, errors before and after, robot, reasons and next steps, without scrolling; the robot prints."""
    robot, t = tf.load("two_link"), np.arange(0.0, 8.0, 0.01)
    q = np.column_stack([np.sin(1.3 * t) + 0.4 * np.sin(2.9 * t), np.cos(1.7 * t) + 0.3 * np.sin(3.7 * t)])
    qd, qdd = np.gradient(q, t, axis=0), np.gradient(np.gradient(q, t, axis=0), t, axis=0)
    tau = 1.2 * tf.inverse_dynamics(robot, q, qd, qdd) + 0.5 * np.sign(qd)
    fit = tf.identify(robot, tf.Recording(t, q, tau))
    page = open_page(fit.report(tmp_path / "fit.html")).page
    for part in (
        ".verdict .figure",
        ".first figure.plot",
        ".first figure.plot >> nth=1",
        ".first .robot .stage",
        ".why h3",
    ):
        box = page.locator(part).first.bounding_box()
        assert box["width"] > 20, part
        assert box["y"] + min(box["height"], 40) < LAPTOP["height"], part
    assert page.locator(".verdict strong").inner_text().lower() == fit.verdict.grade
    page.pdf(path=str(tmp_path / "fit.pdf"), format="A4")
    assert page.locator("img.printed").get_attribute("src").startswith("data:image/png")


def test_every_plot_is_drawn(open_page: Open, delivery: Delivery, two_link: RobotModel) -> None:
    page = open_page(delivery.report).page
    plots = page.locator("figure.plot[data-drawn]")
    assert plots.count() == page.locator("figure.plot").count() == 2
    for k in range(plots.count()):
        assert plots.nth(k).locator(".scatterlayer .trace").count() >= 2
        assert plots.nth(k).locator(".stage").bounding_box()["height"] > 150
        assert plots.nth(k).locator(".stage").get_attribute("aria-label")
    assert plots.first.locator("[role=tab]").all_inner_texts() == list(two_link.robot.joint_names)
    # Nothing offers to send a figure away.
    titles = page.eval_on_selector_all(".modebar-btn", "all => all.map(e => e.getAttribute('data-title'))")
    assert titles
    assert not [title for title in titles if "Share" in title or "Cloud" in title]


def test_numbers_of_a_logarithmic_axis_stand_apart(browser: Any, tmp_path: Path) -> None:
    decades = (0.3, 0.9, 1.2, 1.6, 2.5, 7.0)
    values = [0.37 * 10 ** np.linspace(0.0, span, 12) for span in decades]
    panels = [Panel("", [Series("errors", y, x=np.arange(12))]) for y in values]
    plots = [Plot("Errors", [panel], "unit", "error", ylog=True).html for panel in panels]
    path = tmp_path / "axes.html"
    path.write_text(document("Axes", "", [Section("axes", "Axes", "".join(plots))]), "utf-8")
    page = browser.new_page(viewport=NARROW)
    page.goto(path.as_uri())
    page.wait_for_selector("figure.plot[data-drawn] >> nth=-1")
    boxes = "all => all.map(f => [...f.querySelectorAll('.ytick text')].map(t => t.getBoundingClientRect().toJSON()))"
    for span, found in zip(decades, page.eval_on_selector_all("figure.plot", boxes), strict=True):
        ends = sorted((box["top"], box["bottom"]) for box in found)
        # Digits are lower than their line.
        apart = [after[0] - before[1] for before, after in pairwise(ends)]
        assert len(ends) > 1, span
        assert min(apart) > -3, span
    page.close()


def test_tabs_keys_legend_and_zoom_of_a_plot(open_page: Open, delivery: Delivery) -> None:
    page = open_page(delivery.report).page
    plot = page.locator("figure.plot").first
    curve = "document.querySelector('figure.plot .stage').data[0].y.slice(0, 5).join()"
    first = page.evaluate(curve)
    plot.locator("[role=tab]").nth(1).click()
    page.wait_for_function(f"first => {curve} !== first", arg=first)
    plot.locator("[role=tab]").nth(1).press("ArrowLeft")
    page.wait_for_function(f"first => {curve} === first", arg=first)
    assert plot.locator("[role=tab]").first.get_attribute("aria-selected") == "true"

    shown = plot.locator(".scatterlayer .trace").count()
    plot.locator(".legend .legendtoggle").first.click()
    page.wait_for_function(
        "n => document.querySelector('figure.plot').querySelectorAll('.scatterlayer .trace').length === n",
        arg=shown - 1,
    )
    # a rectangle drawn with the pointer is a zoom
    area = plot.locator(".nsewdrag").first.bounding_box()
    page.mouse.move(area["x"] + 0.2 * area["width"], area["y"] + 5)
    page.mouse.down()
    page.mouse.move(area["x"] + 0.6 * area["width"], area["y"] + 5, steps=4)
    page.mouse.up()
    low, high = page.evaluate("document.querySelector('figure.plot .stage')._fullLayout.xaxis.range")
    assert 0.5 < low < 2.0 < 3.0 < high < 4.5  # of six seconds


@pytest.mark.parametrize("name", representatives(["kr6_r700", "sr6ia", "parallelogram"], "parallelogram"))
def test_sliders_move_the_robot_where_forward_kinematics_says(open_page: Open, tmp_path: Path, name: str) -> None:
    robot = tf.load(name)
    path = tmp_path / "view.html"
    path.write_text(document(name, "", [Section("robot", "Robot", robot_view(robot, sweep_motion(robot)))]))
    tab = open_page(path)
    before = tab.drawn()
    low, high = coordinate_ranges(robot).T
    q = np.random.default_rng(5).uniform(low, high)
    for j, value in enumerate(q):
        tab.move(j, float(value))
    expected = np.vstack([tf.link_placements(robot, q)[:, :3, 3], tf.forward_kinematics(robot, q)[:3, 3]])
    np.testing.assert_allclose(tab.origins(), expected, atol=1e-8)
    tip = [points[0] for points in tab.drawn()[-1]]  # the triad at the tool begins there
    np.testing.assert_allclose(tip, expected[-1], atol=1e-8)
    assert tab.complaints == []
    tab.page.locator("button.zero").click()
    assert tab.drawn() == before


def test_ellipsoids_have_the_mass_and_inertia_of_their_links() -> None:
    robot = tf.random_robot(5, seed=2)
    for body in view_data(robot, sweep_motion(robot))["bodies"]:
        inertia, axes = robot.inertias[body["link"]], np.array(body["axes"])
        # a solid ellipsoid: second moments A A' m / 5, and I = tr(S) 1 - S
        moments = axes @ axes.T * body["mass"] / 5
        np.testing.assert_allclose(
            np.trace(moments) * np.eye(3) - moments, inertia.tensor_about_com, rtol=1e-4, atol=1e-6
        )
        np.testing.assert_array_equal(body["com"], inertia.com)


def boxed(data: dict[str, Any]) -> tuple[Any, Any]:
    return np.array(data["low"]), np.array(data["high"])


@pytest.mark.parametrize("name", ["two_link", "kr6_r700", "sr6ia", "parallelogram", "humanoid"])
def test_the_robot_fills_its_frame_and_stays_inside(name: str) -> None:
    robot = tf.random_robot(12, seed=3, branching=0.4) if name == "humanoid" else tf.load(name)
    low, high = boxed(view_data(robot, sweep_motion(robot)))
    home = tf.link_placements(robot, home_position(robot))[:, :3, 3]
    assert (home >= low - 1e-9).all()
    assert (home <= high + 1e-9).all()
    poses = np.random.default_rng(5).uniform(*coordinate_ranges(robot).T, (100, robot.n_joints))
    places = tf.link_placements(robot, poses)[..., :3, 3].reshape(-1, 3)
    assert ((places >= low - 0.1 * (high - low)) & (places <= high + 0.1 * (high - low))).all(axis=1).mean() > 0.9
    assert np.ptp(places, axis=0).max() > 0.5 * (high - low).max()


def mujoco_arm(folder: Path) -> Path:
    """The xArm7 as a MuJoCo model with its meshes, as MuJoCo itself writes it."""
    mujoco = pytest.importorskip("mujoco", reason="mujoco is not installed")
    source = urdf("xarm7")
    text = re.sub(r'filename="package://[^"]*/', 'filename="', source.read_text())
    compiler = '<mujoco><compiler meshdir="assets" discardvisual="false"/></mujoco>'
    (folder / "assets").mkdir()
    for mesh in (source.parents[1] / "meshes").rglob("visual/*.stl"):
        shutil.copy(mesh, folder / "assets")
    (folder / "arm.urdf").write_text(re.sub(r"(<robot[^>]*>)", rf"\1{compiler}", text, count=1))
    mujoco.mj_saveLastXML(str(folder / "arm.xml"), mujoco.MjModel.from_xml_path(str(folder / "arm.urdf")))
    return folder / "arm.xml"


ARMS = ["panda", "ur10_robot", "talos_left_arm", "z1", "MuJoCo"]


@pytest.mark.parametrize("name", representatives(ARMS, "panda"))
def test_links_are_drawn_as_their_meshes(open_page: Open, tmp_path: Path, name: str) -> None:
    source = mujoco_arm(tmp_path) if name == "MuJoCo" else urdf(name)
    robot = tf.load(source, tip="panda_link8" if name == "panda" else None)
    meshes, missing = link_meshes(robot)
    assert missing == []
    # Fingers may have no mesh of their own.
    assert {mesh.link for mesh in meshes} >= set(range(6))
    assert sum(len(mesh.faces) for mesh in meshes) < 1.1 * MOST_TRIANGLES
    path = tmp_path / f"{name}.html"
    path.write_text(document(name, "", [Section("robot", "Robot", robot_view(robot, sweep_motion(robot)))]))
    assert path.stat().st_size < 6e6
    tab = open_page(path)
    q = np.random.default_rng(1).uniform(*coordinate_ranges(robot).T)
    for j, value in enumerate(q):
        tab.move(j, float(value))
    # corners of the last link's meshes stand where its frame does
    placed, drawn = tf.link_placements(robot, q), tab.drawn()
    for mesh, (x, y, z) in zip(meshes, drawn, strict=False):
        base_from_link = np.eye(4) if mesh.link < 0 else placed[mesh.link]
        expected = mesh.vertices @ base_from_link[:3, :3].T + base_from_link[:3, 3]
        np.testing.assert_allclose(np.column_stack([x, y, z]), expected, atol=2e-5)
    assert tab.complaints == []


@pytest.mark.nightly
def test_meshes_of_a_mujoco_model_stand_where_mujoco_has_them(tmp_path: Path) -> None:
    mujoco = pytest.importorskip("mujoco", reason="mujoco is not installed")
    source = mujoco_arm(tmp_path)
    robot, model = tf.load(source), mujoco.MjModel.from_xml_path(str(source))
    q = np.random.default_rng(1).uniform(*coordinate_ranges(robot).T)
    data = mujoco.MjData(model)
    data.qpos[:] = q
    mujoco.mj_kinematics(model, data)
    corners = []
    for geom in range(model.ngeom):
        mesh = model.geom_dataid[geom]
        first, count = model.mesh_vertadr[mesh], model.mesh_vertnum[mesh]
        placed = model.mesh_vert[first : first + count] @ data.geom_xmat[geom].reshape(3, 3).T
        corners.append(placed + data.geom_xpos[geom])
    expected = np.vstack(corners)
    low, high = swept_box(robot, q[None], link_meshes(robot)[0])
    # Decimation moves surfaces by a millimetre or two; the tool's frame lies on the last link.
    np.testing.assert_allclose([low, high], [expected.min(axis=0), expected.max(axis=0)], atol=4e-3)


def test_a_motion_is_framed_with_all_of_its_meshes() -> None:
    robot = tf.load("kr6_r700")
    q = np.random.default_rng(2).uniform(*coordinate_ranges(robot).T, (5, 6))
    corners = np.random.default_rng(3).normal(0, 0.3, (4, 3))
    low, high = swept_box(robot, q, [LinkMesh(2, corners, np.array([[0, 1, 2]]), (0.5, 0.5, 0.5))])
    for base_from_links in tf.link_placements(robot, q):
        placed = corners @ base_from_links[2][:3, :3].T + base_from_links[2][:3, 3]
        for points in (placed, base_from_links[:, :3, 3], np.zeros((1, 3))):
            assert (points >= low - 1e-12).all()
            assert (points <= high + 1e-12).all()
    home = home_box(robot)
    np.testing.assert_allclose(swept_box(robot, home_position(robot)[None]), home)


def test_a_mesh_that_is_missing_is_named(tmp_path: Path) -> None:
    robot = tf.load(urdf("panda"), tip="panda_link8")
    gone = [
        replace(v, solid=Mesh(str(tmp_path / "gone.stl"))) if v.frame == "panda_link3" else v for v in robot.visuals
    ]
    page = robot_view(replace(robot, visuals=tuple(gone)), sweep_motion(robot))
    assert "link &#x27;panda_link3&#x27; is shown without its shape: gone.stl: no such file" in page


def test_pointer_and_keys_turn_the_view_and_leave_the_joints(open_page: Open, delivery: Delivery) -> None:
    tab = open_page(delivery.report)
    view = tab.page.locator(".robot .stage")
    view.scroll_into_view_if_needed()
    box = view.bounding_box()
    origins, eye = tab.origins(), tab.eye()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    tab.page.mouse.move(x, y)
    tab.page.mouse.down()
    tab.page.mouse.move(x + 120, y - 40, steps=3)
    tab.page.mouse.up()
    tab.page.wait_for_timeout(200)
    turned = tab.eye()
    assert np.abs(turned - eye).max() > 0.1
    np.testing.assert_array_equal(tab.origins(), origins)
    view.press("+")
    tab.page.wait_for_timeout(200)
    assert np.linalg.norm(tab.eye()) < 0.95 * np.linalg.norm(eye)


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
