"""Pages in a terminal of 80 columns: no line is wider, and no name is broken."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

import tauform as tf
from tauform.cli import main
from tauform.report.fitted import FittedTable, blocks, fitted

WIDTH = 80
NAMES = ("left_shoulder_flexion_joint", "left_elbow_pronation_joint", "left_wrist_abduction_joint")
LINKS = ("left_upper_arm_segment_link", "left_forearm_segment_link", "left_hand_with_tool_link")


@pytest.fixture(scope="module")
def robot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An arm with names as long as exporters make them, rotors, friction, limits and an almost aligned joint."""
    arm = tf.planar_chain(3)
    joints = [
        replace(joint, name=name, rotor_inertia=0.0123456, viscous=1.23456e-5, coulomb=0.123456, offset=-1.23456e-5)
        for joint, name in zip(arm.joints, NAMES, strict=True)
    ]
    bent = np.array(joints[1].parent_from_joint)
    bent[:3, :3] = [[1, 0, 0], [0, 1, -1e-7], [0, 1e-7, 1]]
    joints[1] = replace(joints[1], parent_from_joint=bent)
    links = [replace(link, name=name) for link, name in zip(arm.links, LINKS, strict=True)]
    path = tmp_path_factory.mktemp("widths") / "arm.toml"
    replace(arm, joints=tuple(joints), links=tuple(links)).save(path)
    return path


LINES = {
    "show": ["show", "ROBOT"],
    "robots": ["robots"],
    "base": ["base", "ROBOT", "--include", "link", "--include", "rotor", "--include", "coulomb"],
    "derive": ["derive", "ROBOT"],
    "linearize": ["linearize", "ROBOT"],
    "generate": ["generate", "ROBOT", "-o", "c"],
    "model": ["model", "ROBOT", "-o", "m", "--tolerance", "0", "--function", "gravity_torque"],
    "excite": ["excite", "ROBOT", "--seconds", "0.2", "--velocity", "2", "--acceleration", "9", "-o", "motion.csv"],
    "multirate": ["multirate", "ROBOT"],
    "reduce": ["reduce", "ROBOT", "--samples", "2000", "--route", "velocity", "--route", "parameters"],
}
NAMED = ("show", "linearize", "excite", "multirate")


@pytest.mark.parametrize("verb", LINES)
def test_nothing_is_wider_than_the_terminal_and_no_name_is_broken(
    verb: str, robot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", str(WIDTH))
    assert main([str(robot) if word == "ROBOT" else word for word in LINES[verb]]) == 0
    out = capsys.readouterr().out
    # A path is never broken, however long it is.
    assert [line for line in out.splitlines() if len(line.rstrip()) > WIDTH and str(tmp_path) not in line] == []
    words = set(out.replace("'", " ").replace(",", " ").split())
    for name in NAMES if verb in NAMED else ():
        assert name in words


@pytest.mark.parametrize("verb", LINES)
def test_json_is_json_and_nothing_else(
    verb: str, robot: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([*(str(robot) if word == "ROBOT" else word for word in LINES[verb]), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)


def printed(table: FittedTable, width: int) -> str:
    console = Console(width=width, highlight=False)
    with console.capture() as captured:
        console.print(table, crop=False)
    return captured.get()


def test_a_wide_table_continues_in_blocks_that_begin_with_the_name() -> None:
    table = FittedTable("Numbers", ("joint", *"abcdef"), (("elbow", *["0.123456"] * 6), ("wrist", *["1"] * 6)))
    lines = printed(table, 40).splitlines()
    assert max(map(len, lines)) <= 40
    assert sum(line.split()[:1] == ["elbow"] for line in lines) == 2  # three numbers in each block
    assert sum(line.split()[:1] == ["Numbers"] for line in lines) == 1


def test_text_wraps_between_words_before_a_table_is_split() -> None:
    table = FittedTable("", ("name", "what", "n"), (("a", "several words in a row", "1"),), text_columns=2)
    out = printed(table, 24)
    assert out.count("name") == 1
    assert {"several", "words", "row"} <= set(out.split())


def test_a_name_wider_than_the_terminal_stays_whole() -> None:
    assert "x" * 60 in printed(FittedTable("", ("name", "n"), (("x" * 60, "1"),)), 40)


def test_columns_give_room_from_the_widest_on() -> None:
    assert fitted([10, 30, 5], [10, 8, 5], 40) == [10, 17, 5]
    assert fitted([10, 10], [10, 10], 5) == [10, 10]
    assert blocks([4, 10, 10, 10, 10], 36) == [[0, 1, 2], [0, 3, 4]]


def test_square_brackets_are_no_markup() -> None:
    assert "[red]" in printed(FittedTable("[b]", ("name [m]",), (("[red]",),)), 40)
