"""Names in written C: the user's own where asked for, and none that two folders of ours share by accident."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from sampling import in_turns
from tauform.cli import main

VERBS = {
    "generate": ["generate", "two_link", "--functions", "gravity_torque", "-o"],
    "model": ["model", "two_link", "--tolerance", "0", "--functions", "gravity_torque", "-o"],
    "reduce": ["reduce", "two_link", "--route", "velocity", "--samples", "2000", "-o"],
    "multirate": ["multirate", "two_link", "-o"],
    "identify": ["identify", "two_link", "log.csv", "--friction", "plain", "--no-couplings", "--code"],
}


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A recording of a two-link arm whose friction grows with the square of the velocity, in the working folder."""
    monkeypatch.chdir(tmp_path)
    robot = tf.load("two_link")
    t = np.arange(0.0, 20.0, 0.01)
    phase, rate = np.outer(t, [2.0, 3.1]), np.array([2.0, 3.1])
    q, qd, qdd = np.sin(phase), rate * np.cos(phase), -(rate**2) * np.sin(phase)
    tau = tf.inverse_dynamics(robot, q, qd, qdd) + 0.5 * qd * np.abs(qd)
    tau += np.random.default_rng(0).normal(0, 1e-3, tau.shape)
    table = np.column_stack([t, q, tau])
    np.savetxt("log.csv", table, delimiter=",", header="t,q1,q2,tau1,tau2", comments="")
    return tmp_path / "log.csv"


@pytest.mark.parametrize("verb", VERBS)
def test_the_name_is_the_prefix_of_all(verb: str, log: Path) -> None:
    assert main([*VERBS[verb], "out", "--name", "left_arm"]) == 0
    folder = log.parent / "out" / ("c" if verb == "model" else "")
    assert "left_arm_" in (folder / "left_arm.h").read_text()
    assert "two_link_" not in (folder / "left_arm.c").read_text()


@pytest.mark.parametrize(("name", "verb"), in_turns(["", "left arm", "1st", "double", "arm;", "_arm", "t1"], VERBS))
def test_a_name_that_c_does_not_allow_is_one_sentence(
    verb: str, name: str, log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*VERBS[verb], "out", "--name", name]) == 2
    out, err = capsys.readouterr()
    assert (out, len(err.splitlines())) == ("", 1)
    assert repr(name) in err
    assert not (log.parent / "out").exists()


def test_two_models_are_linked_into_one_program_and_hold_their_friction(log: Path) -> None:
    """Names differ by their prefix; friction that grows with the square of the velocity is in the one C folder."""
    for name in ("left", "right"):
        line = ["model", "two_link", str(log), "-o", name, "--name", name, "--friction", "quadratic"]
        assert main([*line, "--tolerance", "0", "--functions", "inverse_dynamics"]) == 0
        assert [folder.name for folder in Path(name).iterdir() if folder.is_dir()] == ["c"]
    Path("main.c").write_text(
        '#include <stdio.h>\n#include "left.h"\n#include "right.h"\n'
        "int main(void)\n{\n    const double q[2] = {0.3, -0.4}, qd[2] = {1.5, 2.0}, qdd[2] = {0.5, 1.0};\n"
        "    double left[2], right[2];\n    left_inverse_dynamics(q, qd, qdd, left);\n"
        "    right_inverse_dynamics(q, qd, qdd, right);\n"
        '    printf("%.17g %.17g %.17g %.17g", left[0], left[1], right[0], right[1]);\n    return 0;\n}\n'
    )
    sources = ["main.c", "left/c/left.c", "right/c/right.c"]
    command = ["cc", "-Wall", "-Werror", "-Ileft/c", "-Iright/c", *sources, "-lm", "-o", "main"]
    subprocess.run(command, check=True, capture_output=True)
    printed = subprocess.run(["./main"], check=True, capture_output=True, text=True).stdout
    left, right = np.array(printed.split(), dtype=float).reshape(2, 2)
    q, qd, qdd = np.array([0.3, -0.4]), np.array([1.5, 2.0]), np.array([0.5, 1.0])
    np.testing.assert_allclose(left, tf.inverse_dynamics(tf.load("left/robot.toml"), q, qd, qdd), rtol=1e-9)
    assert (left == right).all()
    true = tf.inverse_dynamics(tf.load("two_link"), q, qd, qdd) + 0.5 * qd * np.abs(qd)
    np.testing.assert_allclose(left, true, rtol=0.01)
