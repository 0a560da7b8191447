"""The library that CasADi loads: functions, and Jacobians of our own that its solvers find."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

import tauform as tf

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
