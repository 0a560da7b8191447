"""The studio in a real browser: a robot is dropped and moved, a log is identified, C is downloaded and checked."""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import sys
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tauform as tf
from real_robots import urdf

sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytest.importorskip("nicegui", reason="nicegui is not installed")
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
BROWSER = next((path for name in BROWSERS if (path := shutil.which(name))), None)
pytestmark = pytest.mark.skipif(BROWSER is None, reason=f"no browser installed (looked for {', '.join(BROWSERS)})")
QUIET = ("--no-sandbox", "--disable-background-networking", "--disable-dev-shm-usage", "--no-first-run")
GRAPHICS = "--enable-unsafe-swiftshader"


@contextmanager
def studio(*arguments: str) -> Iterator[str]:
    """A running studio; its address."""
    command = [sys.executable, "-m", "tauform", "studio", *arguments, "--no-browser", "--quiet"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert server.stdout is not None
    said = ""
    while "token=" not in said:
        line = server.stdout.readline()
        assert line, said
        said += line
    yield re.findall(r"http://\S+", said)[0]
    server.terminate()
    server.wait(timeout=20)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with studio("two_link") as found:
        yield found


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=BROWSER, args=[*QUIET, GRAPHICS])
        yield running
        running.close()


def open_studio(browser: Any, address: str, **options: Any) -> tuple[Any, list[str]]:
    """A page of a session of its own, and what it complained about."""
    context = browser.new_context(viewport={"width": 1366, "height": 900}, **options)
    # Robots are drawn without a graphics card here, perhaps beside other work: time decides nothing.
    context.set_default_timeout(180_000)
    page = context.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(address)
    page.wait_for_selector(".torque")
    return page, complaints


def torques(page: Any) -> Any:
    """Torques that the page shows, to all digits."""
    found = page.eval_on_selector_all(".torque", "all => all.map(e => Number(e.getAttribute('data-value')))")
    return np.array(found)


def test_a_slider_shows_the_torque_of_the_package(browser: Any, address: str) -> None:
    page, complaints = open_studio(browser, address)
    assert "token" not in page.url
    robot, before = tf.load("two_link"), torques(page)
    slider = page.locator(".q-slider").nth(1)
    box = slider.bounding_box()
    page.mouse.click(box["x"] + 0.7 * box["width"], box["y"] + box["height"] / 2)
    value = "Number(document.querySelectorAll('.torque')[1].getAttribute('data-value'))"
    page.wait_for_function(f"old => {value} !== old", arg=float(before[1]))
    low, high = -np.pi, np.pi
    positions = page.eval_on_selector_all(".q-slider", "all => all.map(e => e.getAttribute('aria-valuenow'))")
    shown = [float(value) for value in positions]
    assert low < shown[1] < high
    np.testing.assert_allclose(torques(page), tf.inverse_dynamics(robot, shown, [0, 0], [0, 0]), rtol=1e-9, atol=1e-9)
    # a reload loses nothing
    moved = torques(page)
    page.reload()
    page.wait_for_selector(".torque")
    np.testing.assert_allclose(torques(page), moved, rtol=1e-12)
    assert complaints == []


def test_requests_without_a_session_are_refused(address: str) -> None:
    for path in ("", "mesh/0.stl", "_nicegui/client/x"):
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(address.split("?")[0] + path)
        assert refused.value.code == 403


def log_of(robot: tf.Robot, path: Path, seed: int) -> Path:
    rng = np.random.default_rng(seed)
    t, w = np.arange(0.0, 10.0, 0.01), 2 * np.pi * 0.15 * np.arange(1, 6)
    a, b = rng.normal(size=(2, len(w), robot.n_joints)) * (0.7 / np.arange(1, 6))[:, None]
    sine, cosine = np.sin(np.outer(t, w)), np.cos(np.outer(t, w))
    q, qd = sine @ a + cosine @ b, (cosine * w) @ a - (sine * w) @ b
    tau = tf.inverse_dynamics(robot, q, qd, -(sine * w**2) @ a - (cosine * w**2) @ b)
    tau += 0.01 * tau.std(axis=0) * rng.normal(size=tau.shape)
    names = [f"{letter}{j + 1}" for letter in ("q", "tau") for j in range(robot.n_joints)]
    np.savetxt(path, np.column_stack([t, q, tau]), delimiter=",", header=",".join(["t", *names]), comments="")
    return path


@pytest.mark.nightly
def test_from_a_dropped_robot_and_logs_to_tested_c(browser: Any, address: str, tmp_path: Path) -> None:
    robot = tf.load("two_link")
    values = np.array(robot.parameters)
    values[:20] *= 1.3
    robot.layout.by_joint(values)[:, 1:3] = (2.0, 1.0), (3.0, 1.5)
    mine = robot.save(tmp_path / "mine.toml").path  # a URDF has no place for its gravity
    logs = [log_of(robot.with_parameters(values), tmp_path / f"run{k}.csv", k) for k in (1, 2)]

    page, complaints = open_studio(browser, address)
    page.get_by_text("Open another robot").click()
    page.locator(".robot-upload input[type=file]").first.set_input_files(str(mine))
    page.wait_for_function("document.body.innerText.includes('mine.toml')")
    page.get_by_role("tab", name="Identify").click()
    page.locator(".log-upload input[type=file]").first.set_input_files([str(path) for path in logs])
    page.wait_for_selector("text=run2.csv")
    page.get_by_role("button", name="Identify").click()
    page.wait_for_selector(".verdict")
    recordings = [tf.read_recording(path, robot) for path in logs]
    expected = tf.identify(robot, recordings[0], validate=recordings[1])
    assert page.locator(".verdict").inner_text().lower() == expected.verdict.grade != "not trustworthy"
    said = page.inner_text("body")
    assert f"{100 * expected.unseen.total:.2g} %" in said
    assert "torque error on validation recordings" in said
    page.wait_for_selector(".js-plotly-plot")

    page.get_by_role("tab", name="Deliver").click()
    page.get_by_role("button", name="Generate and test").click()
    page.wait_for_selector("text=Download")
    with page.expect_download() as download:
        page.get_by_role("button", name=re.compile("Download")).click()
    archive = zipfile.ZipFile(io.BytesIO(Path(download.value.path()).read_bytes()))
    archive.extractall(tmp_path / "got")
    folder = next(path.parent for path in (tmp_path / "got").rglob("Makefile"))
    check = subprocess.run(["make", "check"], cwd=folder, capture_output=True, text=True)
    assert check.returncode == 0, check.stdout + check.stderr
    assert complaints == []

    # another browser sees nothing of it
    other, _ = open_studio(browser, address)
    other.get_by_role("tab", name="Identify").click()
    other.wait_for_selector("text=Nothing is identified yet")
    assert other.locator("text=run2.csv").count() == 0
    other.context.close()

    # a tab that is opened in the middle of a run sees its end, and the one before
    page.get_by_role("tab", name="Identify").click()
    page.get_by_text("physically consistent links").click()
    page.get_by_role("button", name="Identify").click()
    page.wait_for_selector("text=Identifying:")
    second = page.context.new_page()
    second.goto(address.split("?")[0])
    page.close()
    second.wait_for_selector("text=Fits side by side")
    assert second.locator("text=fit 2, physical").count() > 0


@pytest.mark.nightly
def test_a_file_that_is_no_robot_becomes_a_sentence(browser: Any, address: str, tmp_path: Path) -> None:
    bad = tmp_path / "bad.urdf"
    bad.write_text("<robot name='x'><link name='a'>")
    page, _ = open_studio(browser, address)
    page.get_by_text("Open another robot").click()
    page.locator(".robot-upload input[type=file]").first.set_input_files(str(bad))
    page.wait_for_selector("text=bad.urdf:")
    assert torques(page).shape == (2,)
    # a mesh that is missing is named, and the robot shown without it
    bare = tmp_path / "bare.urdf"
    solid = "<visual><geometry><mesh filename='gone.stl'/></geometry></visual>"
    inertial = "<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial>"
    joint = "<joint name='j' type='continuous'><parent link='base'/><child link='arm'/><axis xyz='0 1 0'/></joint>"
    bare.write_text(f"<robot name='x'><link name='base'/><link name='arm'>{solid}{inertial}</link>{joint}</robot>")
    page.locator(".robot-upload input[type=file]").first.set_input_files(str(bare))
    page.wait_for_selector("text=gone.stl")
    assert torques(page).shape == (1,)
    # both tabs of a session follow
    second = page.context.new_page()
    second.goto(address.split("?")[0])
    second.wait_for_selector("text=Open in another tab too")
    page.locator(".robot-upload input[type=file]").first.set_input_files(
        str(tf.load("two_link").save(tmp_path / "two.toml").path)
    )
    second.wait_for_function("document.querySelectorAll('.torque').length === 2")


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


@pytest.mark.nightly
def test_a_tour_from_a_robot_to_code(browser: Any, tmp_path: Path) -> None:
    """Everything a newcomer does, with a picture of each step; the pictures of the site are made here."""
    robot = tf.load(urdf("panda"), tip="panda_link8")
    values = np.array(robot.parameters)
    values[robot.layout.links] *= 1.15
    robot.layout.by_joint(values)[:, 1:3] = (0.8, 0.4)
    logs = [str(log_of(robot.with_parameters(values), tmp_path / f"run{k}.csv", k)) for k in (1, 2)]
    with studio(str(urdf("panda")), *logs, "--tip", "panda_link8") as address:
        page, complaints = open_studio(browser, address)
        page.set_viewport_size({"width": 1200, "height": 720})
        tour = Tour(page, tmp_path / "tour")
        tour.picture("robot")
        for joint, share in ((1, 0.6), (3, 0.45), (5, 0.5)):
            box = page.locator(".q-slider").nth(joint).bounding_box()
            page.mouse.click(box["x"] + share * box["width"], box["y"] + box["height"] / 2)
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
        tour.picture("verdict")
        page.locator("text=The recording, links coloured").scroll_into_view_if_needed()
        page.get_by_role("button", name="Play").click()
        tour.picture("playback")
        page.get_by_role("button", name="Stop").click()
        page.evaluate("scrollTo(0, 0)")
        page.get_by_text("physically consistent links").click()
        tour.press("Identify", "text=Fits side by side")
        page.locator("text=Fits side by side").scroll_into_view_if_needed()
        page.mouse.wheel(0, 200)
        tour.picture("comparison")
        tour.tab("Deliver")
        tour.press("Generate and test", "text=The self-test passed")
        tour.picture("code")
        assert complaints == []
