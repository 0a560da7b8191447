"""The walks of docs/architecture.md are those that data take, and its table of rooms is the tree."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

import tauform as tf
from contracts.test_import_direction import LEVELS
from identification.arms import motion
from tauform.identification.motion.simulate import simulated_recording

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "tauform"
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
MOST_STOPS = 10
Stop = tuple[str, str]


def stops(title: str) -> list[Stop]:
    """File and function of each stop of a walk."""
    section = PAGE[PAGE.index(title) :].split("\n\n")[1]
    return re.findall(r"^\d+\. `([\w/]+\.py)`, `([\w.]+)`:", section, re.MULTILINE)


def first_calls(run: Callable[[], object]) -> list[Stop]:
    """Functions of the package in the order in which they were first called."""
    seen: dict[Stop, None] = {}

    def note(frame: object, event: str, _: object) -> None:
        code = frame.f_code  # type: ignore[attr-defined]
        if event == "call" and code.co_filename.startswith(str(PACKAGE)):
            seen.setdefault((str(Path(code.co_filename).relative_to(PACKAGE)), code.co_qualname))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(before)
    return list(seen)


def assert_walked(walk: list[Stop], run: Callable[[], object]) -> None:
    assert 5 < len(walk) <= MOST_STOPS
    assert len({file for file, _ in walk}) == len(walk)
    called = first_calls(run)
    assert [stop for stop in walk if stop not in called] == []
    assert sorted(walk, key=called.index) == walk


def test_from_a_dh_row_to_a_line_of_c(tmp_path: Path) -> None:
    row = {"joint": "revolute", "a": 0.3, "alpha": 0.4, "d": 0.1, "theta": 0.0, "mass": 1.0, "com": [0.1, 0.0, 0.0]}

    def run() -> None:
        tf.write_c(tf.generate(tf.Robot.from_dh([row, row], "modified")), tmp_path / "out")

    assert_walked(stops("From a row of a DH table"), run)


def test_from_a_csv_row_to_a_fitted_value(tmp_path: Path) -> None:
    robot = tf.load("two_link")
    made = simulated_recording(robot, motion(robot, 1), np.random.default_rng(0), torque_noise=0.01)
    names = ["t", *(f"{field}_{name}" for field in ("q", "tau") for name in robot.joint_names)]
    log = tmp_path / "log.csv"
    np.savetxt(log, np.column_stack([made.t, made.q, made.tau]), delimiter=",", header=",".join(names), comments="")
    assert_walked(stops("From a row of a CSV log"), lambda: tf.identify(robot, tf.read_recording(log, robot)))


def test_the_table_of_rooms_is_the_tree() -> None:
    """Its rows stand in the order of imports, and every room is named, in the row of its own."""
    table = PAGE[PAGE.index("| in `src/tauform/` |") : PAGE.index("**Who may import whom.**")]
    named: list[str] = []
    # Rooms that hold one folder for each language or format.
    shelves = PACKAGE / "codegen" / "backends", PACKAGE / "description" / "formats"
    each = {path.name for shelf in shelves for path in shelf.rglob("*") if path.is_dir()}
    for line in table.strip().splitlines()[2:]:
        modules, _, rooms = (cell.strip() for cell in line.strip("|").split("|"))
        own = [word.removesuffix(".py").strip("/") for word in re.findall(r"`([\w./]+)`", modules)]
        named += own
        if (PACKAGE / own[0]).is_dir():
            listed = set(re.findall(r"`([\w/]+)/`", rooms))
            found = {path.parent.name for path in (PACKAGE / own[0]).rglob("__init__.py")} - {own[0]}
            assert listed == found - each, own
    assert named == [level for level in LEVELS if level != "__main__"]
