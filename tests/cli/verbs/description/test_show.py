"""tauform robots and tauform show."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tauform
from tauform.cli import main
from tauform.description.inertia import Inertia
from tauform.report import tables


def as_json(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    assert main([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(list(arguments)) == 0
    return capsys.readouterr().out


def test_robots_lists_the_whole_catalogue(capsys: pytest.CaptureFixture[str]) -> None:
    listed = as_json(capsys, "robots")
    assert [entry["name"] for entry in listed] == list(tauform.robots())
    assert {"name": "sr6ia", "n_joints": 4, "joints": "RRPR"}.items() <= {e["name"]: e for e in listed}["sr6ia"].items()
    text = printed(capsys, "robots")
    assert all(entry["name"] in text for entry in listed)


def test_show_as_json_holds_the_robot(capsys: pytest.CaptureFixture[str]) -> None:
    shown, robot = as_json(capsys, "show", "kr6_r700"), tauform.load("kr6_r700")
    assert shown["n_joints"] == 6
    assert shown["gravity"] == [0, 0, -9.81]
    for joint, expected in zip(shown["joints"], robot.joints, strict=True):
        np.testing.assert_allclose(joint["parent_from_joint"], expected.parent_from_joint, atol=1e-15)
    for link, expected in zip(shown["links"], robot.inertias, strict=True):
        again = Inertia.of(link["mass"], link["com"], link["inertia_about_com"], inertia_about="com")
        np.testing.assert_allclose(again.parameters, expected.parameters, atol=1e-12)


@pytest.mark.parametrize("name", sorted(tauform.robots()))
def test_show_prints_every_joint_link_and_frame(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    text, robot = printed(capsys, "show", name), tauform.load(name)
    for part in (*robot.joints, *robot.links, *robot.frames):
        assert part.name in text


def test_options_reach_the_robot(capsys: pytest.CaptureFixture[str]) -> None:
    shown = as_json(capsys, "show", "kr6_r700", "--lock", "joint6=0.5", "--gravity", "0", "-9.81", "0")
    assert shown["n_joints"] == 5
    assert shown["gravity"] == [0, -9.81, 0]


def test_axis_at_zero_is_that_of_the_placements_multiplied_out() -> None:
    # A standard DH row with alpha = pi/2 turns the next axis from z to -y.
    shoulder = {"joint": "revolute", "a": 0.5, "alpha": np.pi / 2, "d": 0.2}
    rows = [shoulder, {"joint": "prismatic", "a": 0, "alpha": 0, "theta": 0}]
    robot = tauform.Robot.from_dh(rows, "standard")
    placed = tables.base_from_joints(robot)[1]
    np.testing.assert_allclose(placed[:3, 2], [0, -1, 0], atol=1e-15)
    np.testing.assert_allclose(placed[:3, 3], [0.5, 0, 0.2], atol=1e-15)


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "-"), (np.inf, "-"), (-0.0, "0"), (1 / 3, "0.3333"), ([1.0, -2.5], "1 -2.5"), ("[m]", "[m]"), (3, "3")],
)
def test_cells(value: Any, text: str) -> None:
    assert tables.cell(value) == text


def test_findings_are_printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bent.toml"
    path.write_text(
        'name = "bent"\nconvention = "standard"\n[[row]]\njoint = "revolute"\na = 1.0\nalpha = 0.0\nd = 0.0\n'
        'mass = 1.0\ncom = [0.0, 0.0, 0.0]\ninertia = [1.0, 1.0, 5.0, 0.0, 0.0, 0.0]\ninertia_about = "com"\n',
        encoding="utf-8",
    )
    findings = as_json(capsys, "show", str(path))["findings"]
    assert [(finding["severity"], finding["place"]) for finding in findings] == [("unphysical", "link 'link1'")]
    assert "link 'link1': " in printed(capsys, "show", str(path)).partition("Check:\n")[2]


@pytest.mark.parametrize("suffix", ["urdf", "toml"])
def test_shown_robot_is_saved_where_asked(suffix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / f"arm.{suffix}"
    text = printed(capsys, "show", "kr6_r700", "--tip", "link3", "-o", str(path))
    assert f"wrote {path}" in " ".join(text.split())
    assert tauform.load(path).joint_names == ("joint1", "joint2", "joint3")
    assert as_json(capsys, "show", "kr6_r700", "-o", str(path), "--force")["written"] == str(path)


def test_robot_that_cannot_be_saved_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "kr6_r700", "-o", "arm.json"]) == 2
    assert "ends in .toml or .urdf" in capsys.readouterr().err
