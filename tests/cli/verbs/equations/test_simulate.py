"""tauform simulate: what it writes and says."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from tauform.cli import main
from tauform.identification.motion.trajectory import quintic


def test_a_motion_is_followed_and_its_torques_repeat_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    robot = tf.load("two_link")
    path = quintic([[0.1, 0.2], [0.5, -0.3]], [0.5], 100.0, robot.joint_names).save_csv(tmp_path / "path.csv")
    line = [
        "simulate",
        "two_link",
        "--control",
        "follow",
        "--input",
        str(path),
        "--stiffness",
        "200",
        "--damping",
        "30",
    ]
    assert main([*line, "--duration", "0.6", "-o", str(tmp_path / "log.csv"), "--quiet", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    np.testing.assert_allclose(said["q"], [0.5, -0.3], rtol=0, atol=2e-3)
    again = ["simulate", "two_link", "--control", "torques", "--input", str(tmp_path / "log.csv")]
    assert main([*again, "--duration", "0.3", "--plot", str(tmp_path / "again.html"), "--quiet"]) == 0
    assert "Simulated motion" in (tmp_path / "again.html").read_text(encoding="utf-8")
    assert "joint2" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--control", "jump"], "choose from none, gravity"),
        (["--control", "follow"], "--input"),
        (["--step", "0"], "--step"),
        (["--q", "1,2,3"], "expected 2 numbers"),
    ],
)
def test_what_cannot_be_simulated_is_refused(
    options: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["simulate", "two_link", *options]) == 2
    assert words in capsys.readouterr().err
