"""What tests do with pages of the studio."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import tauform as tf
from tools.browser import watched
from tools.simulated_logs import simulated_log, write_csv


def open_studio(browser: Any, address: str) -> tuple[Any, list[str]]:
    """A page of a session of its own, and what it complained about."""
    context = browser.new_context(viewport={"width": 1366, "height": 900})
    # Robots are drawn without a graphics card here, perhaps beside other work: time decides nothing.
    context.set_default_timeout(180_000)
    page = context.new_page()
    complaints = watched(page)
    page.goto(address)
    page.wait_for_selector(".torque")
    return page, complaints


def torques(page: Any) -> Any:
    """Torques that the page shows, to all digits."""
    found = page.eval_on_selector_all(".torque", "all => all.map(e => Number(e.getAttribute('data-value')))")
    return np.array(found)


def drop_robot(page: Any, *files: Path) -> None:
    """Drop a robot's files on the Robot tab, which shows where to."""
    page.locator(".robot-upload input[type=file]").first.set_input_files([str(path) for path in files])


def drop_logs(page: Any, logs: Sequence[Path]) -> None:
    """Drop logs on the Identify tab, and wait until it lists them."""
    before = page.get_by_role("button", name="Look at it").count()
    page.locator(".log-upload input[type=file]").first.set_input_files([str(path) for path in logs])
    # Of the list that the server drew: the drop zone shows names before the files have arrived.
    page.get_by_role("button", name="Look at it").nth(before + len(logs) - 1).wait_for()


def heavier_arm(robot: tf.Robot, factor: float) -> tf.Robot:
    """The robot with heavier links and friction."""
    values = np.array(robot.parameters)
    values[robot.layout.links] *= factor
    robot.layout.by_joint(values)[:, 1:3] = 2.0, 1.2
    return robot.with_parameters(values)


def write_logs(robot: tf.Robot, folder: Path, count: int = 2, seconds: float = 10.0) -> list[Path]:
    """Logs of a robot: run1.csv, run2.csv, ..."""
    logs = {seed: simulated_log(robot, seed, seconds) for seed in range(1, count + 1)}
    return [write_csv(log, folder / f"run{seed}.csv") for seed, log in logs.items()]
