"""The library that CasADi loads: functions, and Jacobians of our own that its solvers find."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from tauform.errors import GenerationError

casadi = pytest.importorskip("casadi")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> tuple[tf.Robot, str]:
    robot = tf.load("sr6ia")
    folder = tmp_path_factory.mktemp("casadi") / "out"
    programs = [tf.generate(robot, f) for f in ("inverse_dynamics", "mass_matrix")]
    programs.append(tf.generate(robot, "gravity_torque", parameters="runtime"))
    tf.write(programs, folder, target="casadi", name="arm")
    strict = "CFLAGS=-std=c99 -O2 -Wall -Wextra -Werror"
    subprocess.run(["make", "libarm.so", strict], cwd=folder, check=True, capture_output=True)
    return robot, str(folder / "libarm.so")


def test_a_function_and_its_jacobian_are_found(library: tuple[tf.Robot, str]) -> None:
    robot, path = library
    function = casadi.external("arm_inverse_dynamics", path)
    q, qd, qdd = np.random.default_rng(0).uniform(-1, 1, (3, robot.n_joints))
    np.testing.assert_allclose(np.array(function(q, qd, qdd))[:, 0], tf.inverse_dynamics(robot, q, qd, qdd), atol=1e-12)
    # a symbol is differentiated through the library, whose own Jacobian has no finite difference in it
    symbol = casadi.MX.sym("q", robot.n_joints)
    slope = casadi.Function("slope", [symbol], [casadi.jacobian(function(symbol, qd, qdd), symbol)])
    expected = tf.linearize_inverse(robot, q, qd, qdd).dq
    np.testing.assert_allclose(np.array(slope(q)), expected, atol=1e-12 * np.abs(expected).max())


def test_matrices_stand_column_by_column(library: tuple[tf.Robot, str]) -> None:
    robot, path = library
    mass = casadi.external("arm_mass_matrix", path)
    q = np.random.default_rng(1).uniform(-1, 1, robot.n_joints)
    np.testing.assert_allclose(np.array(mass(q)), tf.mass_matrix(robot, q), atol=1e-12)
    step = 1e-6 * np.eye(robot.n_joints)
    slopes = [(tf.mass_matrix(robot, q + e) - tf.mass_matrix(robot, q - e)) / 2e-6 for e in step]
    expected = np.array([slope.ravel(order="F") for slope in slopes]).T
    np.testing.assert_allclose(np.array(mass.jacobian()(q, 0)), expected, atol=1e-8)


def test_arguments_and_results_that_are_absent(library: tuple[tf.Robot, str]) -> None:
    robot, path = library
    gravity = casadi.external("arm_gravity_torque", path)
    theta = tf.generate(robot, "gravity_torque", parameters="runtime").theta_of(robot)
    found = gravity(theta=theta)["tau"]  # without q
    np.testing.assert_allclose(np.array(found)[:, 0], tf.gravity_torque(robot, np.zeros(robot.n_joints)), atol=1e-12)


def test_the_check_of_the_folder_says_what_differs(library: tuple[tf.Robot, str]) -> None:
    folder = Path(library[1]).parent
    done = subprocess.run(
        ["make", "check", f"PYTHON={__import__('sys').executable}"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "arm_mass_matrix: Jacobians differ" in done.stdout


def test_a_linearization_beside_its_function_is_the_derivative(tmp_path: Path) -> None:
    robot = tf.load("sr6ia")
    pair = [tf.generate(robot, name) for name in ("inverse_dynamics", "linearize_inverse")]
    tf.write(pair, tmp_path / "out", target="casadi", name="arm")
    subprocess.run(["make", "libarm.so"], cwd=tmp_path / "out", check=True, capture_output=True)
    q, qd, qdd = np.random.default_rng(2).uniform(-1, 1, (3, robot.n_joints))
    found = casadi.external("arm_inverse_dynamics", str(tmp_path / "out" / "libarm.so")).jacobian()(q, qd, qdd, 0)
    expected = tf.linearize_inverse(robot, q, qd, qdd)
    for block, wanted in zip(found, (expected.dq, expected.dqd, expected.dqdd), strict=True):
        np.testing.assert_allclose(np.array(block), wanted, atol=1e-12 * max(np.abs(wanted).max(), 1.0))
    # The program's own derivative has more operations.
    tf.write(pair[:1], tmp_path / "longer", target="casadi", name="arm")
    texts = [(tmp_path / folder / "arm_plain.c").read_text() for folder in ("out", "longer")]
    assert len(texts[0]) < len(texts[1])


def test_a_linearization_of_something_else_is_refused(tmp_path: Path) -> None:
    robot = tf.load("two_link")
    damped = robot.with_drives([tf.Drive.of("viscous", 0, 2.0)])
    pair = [tf.generate(robot, "inverse_dynamics"), tf.generate(damped, "linearize_inverse")]
    with pytest.raises(GenerationError, match="does not hold the Jacobians of inverse_dynamics"):
        tf.write(pair, tmp_path / "out", target="casadi")
    assert not list(tmp_path.iterdir())
