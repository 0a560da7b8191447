"""Names in written C: the user's own where asked for, and none that two folders of ours share by accident."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

import tauform as tf
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


@pytest.mark.parametrize("name", ["", "left arm", "1st", "double", "arm;", "_arm", "t1"])
@pytest.mark.parametrize("verb", VERBS)
def test_a_name_that_c_does_not_allow_is_one_sentence(
    verb: str, name: str, log: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*VERBS[verb], "out", "--name", name]) == 2
    out, err = capsys.readouterr()
    assert (out, len(err.splitlines())) == ("", 1)
    assert repr(name) in err
    assert not (log.parent / "out").exists()


def test_code_of_a_model_and_of_its_fit_are_linked_into_one_program(log: Path) -> None:
    """Both predict the torque under names that differ, and that of the fit holds what a robot cannot."""
    assert main(["model", "two_link", str(log), "-o", "out", "--friction", "quadratic", "--tolerance", "0"]) == 0
    Path("main.c").write_text(
        '#include <stdio.h>\n#include "two_link.h"\n#include "two_link_fit_drive.h"\n'
        "int main(void)\n{\n    const double q[2] = {0.3, -0.4}, qd[2] = {1.5, 2.0}, qdd[2] = {0.5, 1.0};\n"
        "    double robot[2], fit[2];\n    two_link_inverse_dynamics(q, qd, qdd, robot);\n"
        "    two_link_fit_predicted_torque(q, qd, qdd, fit);\n"
        '    printf("%.17g %.17g %.17g %.17g", robot[0], robot[1], fit[0], fit[1]);\n    return 0;\n}\n'
    )
    sources = ["main.c", "out/c/two_link.c", "out/c_fit/two_link_fit.c"]
    command = ["cc", "-Wall", "-Werror", "-Iout/c", "-Iout/c_fit", *sources, "-lm", "-o", "main"]
    subprocess.run(command, check=True, capture_output=True)
    printed = subprocess.run(["./main"], check=True, capture_output=True, text=True).stdout
    robot, fit = np.array(printed.split(), dtype=float).reshape(2, 2)
    q, qd, qdd = np.array([0.3, -0.4]), np.array([1.5, 2.0]), np.array([0.5, 1.0])
    np.testing.assert_allclose(robot, tf.inverse_dynamics(tf.load("out/robot.toml"), q, qd, qdd), rtol=1e-9)
    true = tf.inverse_dynamics(tf.load("two_link"), q, qd, qdd) + 0.5 * qd * np.abs(qd)
    np.testing.assert_allclose(fit, true, rtol=0.01)
