"""What users do by mistake, in a real browser: a sentence in the page, and nothing is lost."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tauform as tf
from studio.studio_pages import drop_logs, drop_robot, heavier_arm, open_studio, torques, write_logs
from tauform.studio.on_the_page import OnThePage
from tauform.wording import spoken_by
from tools.browser import BROWSER, NO_BROWSER, set_slider

pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
pytest.importorskip("nicegui", reason="nicegui is not installed")
pytestmark = [pytest.mark.nightly, pytest.mark.skipif(BROWSER is None, reason=NO_BROWSER)]


def test_a_file_that_is_no_robot_becomes_a_sentence(browser: Any, address: str, tmp_path: Path) -> None:
    bad = tmp_path / "bad.urdf"
    bad.write_text("<robot name='x'><link name='a'>")
    page, _ = open_studio(browser, address)
    page.get_by_text("Open another robot").click()
    drop_robot(page, bad)
    page.wait_for_selector("text=bad.urdf:")
    assert torques(page).shape == (2,)


def test_a_mesh_that_is_missing_is_named_and_the_robot_shown(browser: Any, address: str, tmp_path: Path) -> None:
    bare = tmp_path / "bare.urdf"
    solid = "<visual><geometry><mesh filename='gone.stl'/></geometry></visual>"
    inertial = "<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' iyz='0'/></inertial>"
    joint = "<joint name='j' type='continuous'><parent link='base'/><child link='arm'/><axis xyz='0 1 0'/></joint>"
    bare.write_text(f"<robot name='x'><link name='base'/><link name='arm'>{solid}{inertial}</link>{joint}</robot>")
    page, _ = open_studio(browser, address)
    page.get_by_text("Open another robot").click()
    drop_robot(page, bare)
    page.wait_for_selector("text=gone.stl")
    assert torques(page).shape == (1,)


def test_files_of_another_kind_are_named_and_unreadable_logs_leave_the_list(
    browser: Any, address: str, tmp_path: Path
) -> None:
    words, log = tmp_path / "notes.txt", tmp_path / "words.csv"
    words.write_text("hello")
    log.write_text("name,town\nanna,rome\nbert,oslo\n")
    page, complaints = open_studio(browser, address)
    page.get_by_text("Open another robot").click()
    drop_robot(page, words)
    page.wait_for_selector("text=notes.txt: not of a kind that is read here")
    page.get_by_role("tab", name="Identify").click()
    drop_logs(page, [log])
    page.get_by_role("button", name="Look at it").click()
    page.wait_for_selector("text=words.csv: none of its columns (name, town) holds numbers")
    page.get_by_role("button", name="remove this log").click()
    page.get_by_role("button", name="Look at it").wait_for(state="detached")
    assert complaints == []


def test_two_tabs_show_and_change_one_project(browser: Any, address: str, tmp_path: Path) -> None:
    page, _ = open_studio(browser, address)
    second = page.context.new_page()
    second.goto(address.split("?")[0])
    second.wait_for_selector("text=Open in another tab too")
    page.get_by_text("Open another robot").click()
    drop_robot(page, tf.load("kr6_r700").save(tmp_path / "six.toml").path)
    second.wait_for_function("document.querySelectorAll('.torque').length === 6")


def test_a_robot_of_the_catalogue_can_be_picked_again_after_another(browser: Any, address: str, tmp_path: Path) -> None:
    page, complaints = open_studio(browser, address)
    page.get_by_text("Open another robot").click()
    assert page.get_by_label("catalogue").input_value() == "two_link"
    # Browsers escape the quote on its way.
    drop_robot(page, tf.load("kr6_r700").save(tmp_path / 'six "new" ä.toml').path)
    page.wait_for_selector("text=kr6_r700: 6 joints")
    page.wait_for_selector(""".lines >> text=six "new" ä.toml""")
    page.get_by_label("catalogue").click()
    page.get_by_role("option", name="two_link").click()
    page.wait_for_selector("text=two_link: 2 joints")
    assert complaints == []


def test_a_reload_keeps_the_lines_and_is_no_other_tab(browser: Any, address: str) -> None:
    """The page that was left may come back for a minute; it is not open meanwhile."""
    page, _ = open_studio(browser, address)
    set_slider(page, 1, 0.3)
    lines = page.locator("footer.lines code").first
    page.wait_for_function("document.querySelector('footer.lines code').textContent.includes('inverse_dynamics')")
    said = lines.inner_text()
    page.reload()
    page.wait_for_selector(".torque")
    # Twice the time between looks for other tabs.
    page.wait_for_timeout(4000)
    assert lines.inner_text() == said
    assert not page.get_by_text("Open in another tab too").is_visible()


def test_a_log_of_another_robot_is_told_by_its_columns(browser: Any, address: str, tmp_path: Path) -> None:
    """Looked at, it says what it lacks and shows its columns; identified, it becomes a sentence."""
    logs = write_logs(tf.load("kr6_r700"), tmp_path, count=1)
    page, complaints = open_studio(browser, address)
    page.get_by_role("tab", name="Identify").click()
    drop_logs(page, logs)
    page.get_by_role("button", name="Look at it").click()
    page.wait_for_selector("text=columns, and what they are read as")
    said = page.inner_text("body")
    assert "13 columns, 1000 samples" in said
    with spoken_by(OnThePage()), pytest.raises(tf.errors.TauformError) as refused:
        tf.read_recording(logs[0], tf.load("two_link"))
    assert "in the lists of columns" in str(refused.value) or '"positions (q)"' in str(refused.value)
    assert str(refused.value) in said
    page.get_by_role("button", name="Identify").click()
    page.wait_for_selector(".q-notification >> text=run1.csv")
    assert "Nothing is identified yet" in page.inner_text("body")
    assert complaints == []


def test_two_gigabytes_are_refused_by_a_sentence(browser: Any, address: str, tmp_path: Path) -> None:
    large = tmp_path / "large.csv"
    with large.open("wb") as file:
        file.truncate(2 * 2**30)  # nothing is stored of it
    page, complaints = open_studio(browser, address)
    page.get_by_role("tab", name="Identify").click()
    page.locator(".log-upload input[type=file]").first.set_input_files(str(large))
    page.wait_for_selector("text=name large logs at the start instead: tauform studio ROBOT LOG")
    assert page.get_by_role("button", name="Look at it").count() == 0
    assert complaints == []


def test_a_tab_closed_in_the_middle_of_a_run_loses_nothing(browser: Any, address: str, tmp_path: Path) -> None:
    """The session's last tab: nobody looks while the run goes on, and the next tab shows its result."""
    page, _ = open_studio(browser, address)
    page.get_by_role("tab", name="Identify").click()
    drop_logs(page, write_logs(heavier_arm(tf.load("two_link"), 1.2), tmp_path))
    page.get_by_role("button", name="Identify").click()
    page.wait_for_selector("text=Identifying:")
    context = page.context
    page.close()
    later = context.new_page()
    later.goto(address.split("?")[0])
    later.wait_for_selector(".verdict")
    assert later.locator("text=run2.csv").count() > 0


def test_a_browser_that_stands_still_loses_no_click(browser: Any, address: str) -> None:
    """Drawing without a graphics card may hold a page for a minute; what is clicked then still arrives."""
    page, complaints = open_studio(browser, address)
    debugger = page.context.new_cdp_session(page)
    debugger.send("Debugger.enable")
    page.evaluate("setTimeout(() => { debugger; document.querySelectorAll('.q-tab')[2].click(); }, 200)")
    # Longer than two heartbeats of the library, in which the page answers none.
    time.sleep(130)
    debugger.send("Debugger.resume")
    page.get_by_role("button", name="Identify").wait_for()
    assert complaints == []


def test_what_is_asked_while_work_runs_is_answered(browser: Any, address: str, tmp_path: Path) -> None:
    """A second Identify says what it waits for; another robot ends work that would belong to none."""
    page, complaints = open_studio(browser, address)
    page.get_by_role("tab", name="Identify").click()
    page.get_by_role("button", name="Identify").click()
    page.wait_for_selector("text=no log is chosen to fit")
    robot = tf.random_robot(7, seed=1)
    page.get_by_role("tab", name="Robot").click()
    page.get_by_text("Open another robot").click()
    drop_robot(page, robot.save(tmp_path / "seven.toml").path)
    page.wait_for_function("document.querySelectorAll('.torque').length === 7")
    page.get_by_role("tab", name="Identify").click()
    # Long ones: the work must outlast what is asked meanwhile.
    drop_logs(page, write_logs(heavier_arm(robot, 1.2), tmp_path, seconds=400.0))
    page.get_by_role("button", name="Identify").click()
    page.wait_for_selector("text=Identifying:")
    page.get_by_role("button", name="Identify").click()
    page.wait_for_selector("text=Identifying is still running; cancel it first")
    page.get_by_role("tab", name="Robot").click()
    page.get_by_text("Open another robot").click()
    drop_robot(page, tf.load("two_link").save(tmp_path / "two.toml").path)
    page.wait_for_function("document.querySelectorAll('.torque').length === 2")
    page.wait_for_selector("text=Identifying was ended")
    page.get_by_role("tab", name="Identify").click()
    page.wait_for_selector("text=Nothing is identified yet")
    assert np.isfinite(torques(page)).all()
    assert complaints == []
