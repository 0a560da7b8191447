"""The studio in a real browser: a robot is dropped and moved, a log is identified, C is downloaded and checked."""

from __future__ import annotations

import io
import re
import subprocess
import urllib.error
import urllib.request
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tauform as tf
from real_robots import urdf
from studio.studio_pages import drop_logs, drop_robot, heavier_arm, open_studio, torques, write_logs
from tauform.studio.scene import HIGHLIGHT
from tools.browser import BROWSER, NO_BROWSER, set_slider
from tools.simulated_logs import simulated_log

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytest.importorskip("nicegui", reason="nicegui is not installed")
pytestmark = pytest.mark.skipif(BROWSER is None, reason=NO_BROWSER)


def test_a_slider_shows_the_torque_of_the_package(browser: Any, address: str) -> None:
    page, complaints = open_studio(browser, address)
    assert "token" not in page.url
    robot, before = tf.load("two_link"), torques(page)
    set_slider(page, 1, 0.7)
    value = "Number(document.querySelectorAll('.torque')[1].getAttribute('data-value'))"
    page.wait_for_function(f"old => {value} !== old", arg=float(before[1]))
    positions = page.eval_on_selector_all(".q-slider", "all => all.map(e => e.getAttribute('aria-valuenow'))")
    shown = [float(value) for value in positions]
    assert -np.pi < shown[1] < np.pi
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


@pytest.mark.nightly
def test_a_page_of_another_origin_gets_no_answer(browser: Any, address: str) -> None:
    """A page of another site, opened in the browser that holds the session, reaches neither pages nor sockets."""
    page, _ = open_studio(browser, address)
    here = address.split("?")[0]
    other = page.context.new_page()
    # The same machine under another port is another origin, and its requests carry the cookie of this one.
    other.route("http://127.0.0.1:9/", lambda route: route.fulfill(body="<p>another site</p>"))
    other.goto("http://127.0.0.1:9/")
    fetched = "url => fetch(url, {credentials: 'include'}).then(r => r.status, () => 'refused')"
    assert other.evaluate(fetched, here) == "refused"
    socket = """url => new Promise(done => {
        const socket = new WebSocket(url);
        socket.onopen = () => done('open');
        socket.onclose = () => done('closed');
    })"""
    asked = here.replace("http", "ws") + "_nicegui_ws/socket.io/?EIO=4&transport=websocket"
    assert other.evaluate(socket, asked) == "closed"


@pytest.mark.nightly
def test_from_a_dropped_robot_and_logs_to_tested_c(browser: Any, address: str, tmp_path: Path) -> None:
    robot = tf.load("two_link")
    mine = robot.save(tmp_path / "mine.toml").path  # a URDF has no place for its gravity
    logs = write_logs(heavier_arm(robot, 1.3), tmp_path)

    page, complaints = open_studio(browser, address)
    page.get_by_text("Open another robot").click()
    drop_robot(page, mine)
    # The line that loads it: the drop zone names the file before it has arrived.
    page.wait_for_selector(".lines >> text=mine.toml")
    page.get_by_role("tab", name="Identify").click()
    drop_logs(page, logs)
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
def test_columns_that_no_name_tells_are_read_once_they_are_accepted(browser: Any, address: str, tmp_path: Path) -> None:
    """Milliseconds, joints counted downwards, nameless columns: the page shows its guess, and a click takes it."""
    log = simulated_log(heavier_arm(tf.load("two_link"), 1.3), 1)
    table = np.column_stack([1e3 * log.t, log.q[:, ::-1], log.tau[:, ::-1]])
    np.savetxt(tmp_path / "run.csv", table, delimiter=",", header="stamp,w2,w1,m2,m1", comments="")
    page, complaints = open_studio(browser, address)
    page.get_by_role("tab", name="Identify").click()
    drop_logs(page, [tmp_path / "run.csv"])
    page.get_by_role("button", name="Look at it").click()
    page.get_by_text("columns, and what they are read as").click()
    page.get_by_role("button", name="Read it as shown").click()
    page.wait_for_selector("text=Spectrum of the velocities")
    page.wait_for_selector(".lines >> text='q': ['w1', 'w2']")
    page.get_by_role("button", name="Identify").click()
    page.wait_for_selector(".verdict")
    assert complaints == []


@pytest.mark.nightly
def test_a_finding_that_is_clicked_shows_its_link(browser: Any, address: str, tmp_path: Path) -> None:
    """In a colour of its own, in space; a second click takes it back."""
    # The second link has moments of inertia that no body has: one is larger than the others together.
    broken = tmp_path / "broken.urdf"
    inertia = "<inertia ixx='{}' iyy='0.1' izz='0.1' ixy='0' ixz='0' iyz='0'/>"
    links = "".join(
        f"<link name='l{k}'><inertial><mass value='1'/>{inertia.format(ixx)}</inertial>"
        "<visual><geometry><box size='0.1 0.1 0.4'/></geometry></visual></link>"
        f"<joint name='j{k}' type='continuous'><parent link='{parent}'/><child link='l{k}'/>"
        "<origin xyz='0 0 0.4'/><axis xyz='0 1 0'/></joint>"
        for k, (ixx, parent) in enumerate([(0.1, "base"), (5.0, "l0")])
    )
    broken.write_text(f"<robot name='broken'><link name='base'/>{links}</robot>")
    page, complaints = open_studio(browser, address)
    page.get_by_text("Open another robot").click()
    drop_robot(page, broken)
    page.wait_for_selector("text=broken: 2 joints")
    colours = """() => {
        const found = [];
        getElement(document.querySelector('.scene').id.slice(1)).scene.traverse(
            part => part.material?.color && found.push(part.material.color.getHexString()));
        return found;
    }"""
    finding = page.locator(".finding", has_text="l1").first
    finding.click()
    page.wait_for_selector(".finding.chosen")
    page.wait_for_function(f"() => ({colours})().includes('{HIGHLIGHT[1:]}')")
    finding.click()
    page.wait_for_function(f"() => !({colours})().includes('{HIGHLIGHT[1:]}')")
    assert complaints == []


@pytest.mark.nightly
def test_meshes_dropped_beside_their_urdf_are_drawn(browser: Any, address: str, tmp_path: Path) -> None:
    """Files arrive without their folders: a mesh is found by its name beside the robot's file."""
    source = urdf("z1")
    meshes = sorted({Path(visual.solid.file) for visual in tf.load(source).visuals if hasattr(visual.solid, "file")})
    assert meshes
    page, complaints = open_studio(browser, address)
    with page.expect_response(re.compile(r"mesh/0\.stl")) as served:
        page.get_by_text("Open another robot").click()
        drop_robot(page, source, *meshes)
    assert served.value.ok
    page.wait_for_selector(".lines >> text=z1.urdf")
    # Asked for again: the browser does not keep what it was sent for long.
    size = page.evaluate("fetch('/mesh/0.stl').then(answer => answer.arrayBuffer()).then(bytes => bytes.byteLength)")
    assert size > 1000
    assert "shown without its shape" not in page.inner_text("body")
    assert complaints == []


@pytest.mark.nightly
def test_a_slider_shrinks_the_program(browser: Any, address: str) -> None:
    """Error of each joint against operations and nanoseconds; a wider error buys fewer operations."""
    page, complaints = open_studio(browser, address)
    page.get_by_text("Open another robot").click()
    page.get_by_label("catalogue").click()
    page.get_by_role("option", name="kr6_r700").click()
    page.wait_for_selector("text=kr6_r700: 6 joints")
    page.get_by_role("tab", name="Shrink").click()
    operations = []
    # The Robot tab's sliders are still there while it leaves.
    page.locator(".scene").first.wait_for(state="detached")
    for share in (0.45, 0.9):
        set_slider(page, 0, share)
        page.get_by_role("button", name="Shrink").click()
        page.wait_for_selector("text=Shrinking:")
        page.wait_for_selector("text=Shrinking:", state="hidden")
        page.wait_for_selector("text=Error of each joint")
        rows = page.locator(".q-table tbody tr").all_inner_texts()
        exact, reduced = (row.split("\t") for row in rows)
        operations.append(int(reduced[1]))
        assert int(reduced[1]) < int(exact[1])
        # nanoseconds of both programs, measured here
        assert min(float(exact[3]), float(reduced[3])) > 0
    assert operations[1] < operations[0]
    assert page.locator(".js-plotly-plot .barlayer .point").count() == 6
    assert complaints == []


@pytest.mark.nightly
def test_a_log_says_what_may_be_left_out(browser: Any, address: str, tmp_path: Path) -> None:
    """The motion of dropped logs takes the place of a profile, as in the line below the page."""
    robot = tf.load("two_link")
    page, complaints = open_studio(browser, address)
    page.get_by_role("tab", name="Identify").click()
    drop_logs(page, write_logs(robot, tmp_path, count=1))
    page.get_by_role("tab", name="Shrink").click()
    page.get_by_label("motion").click()
    page.get_by_role("option", name="as in the logs").click()
    set_slider(page, 0, 0.9)
    page.get_by_role("button", name="Shrink").click()
    page.wait_for_selector("text=Error of each joint")
    exact, reduced = (row.split("\t") for row in page.locator(".q-table tbody tr").all_inner_texts())
    assert int(reduced[1]) <= int(exact[1])
    page.wait_for_selector(".lines >> text=run1.csv")
    assert complaints == []
