"""Externals over the knots of a motion: one call for all of them, Jacobians with one block per knot."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tauform as tf
from tauform.errors import GenerationError

casadi = pytest.importorskip("casadi")


def externals(robot: tf.Robot, folder: Path, functions: list[str], knots: int, **options: Any) -> list[Any]:
    """For every second function, which the next one may be the derivative of: externals of one state and over knots."""
    programs = [tf.generate(robot, function, **options) for function in functions]
    tf.write(programs, folder, target="casadi", name="arm", knots=knots)
    strict = "CFLAGS=-std=c99 -O1 -Wall -Wextra -Werror"
    subprocess.run(["make", "libarm.so", strict], cwd=folder, check=True, capture_output=True)
    names = [f"arm_{function}{over}" for function in functions[::2] for over in ("", "_knots")]
    return [casadi.external(name, str(folder / "libarm.so")) for name in names]


def knot_by_knot(single: Any, inputs: list[np.ndarray], blocks: int) -> list[Any]:
    """Jacobians of each knot along a diagonal, by the external of one state."""
    jacobian = single.jacobian()
    found = [jacobian(*(array[:, [k]] for array in inputs), 0) for k in range(inputs[0].shape[1])]
    return [casadi.diagcat(*(knot[block] for knot in found)) for block in range(blocks)]


# One knot, and a rest behind three full blocks of the vector code.
@pytest.mark.parametrize(
    ("name", "knots"), [("two_link", 1), ("two_link", 50), pytest.param("kr6_r700", 50, marks=pytest.mark.nightly)]
)
def test_values_and_jacobians_over_knots(tmp_path: Path, name: str, knots: int) -> None:
    robot = tf.load(name).without_friction()
    functions = ["inverse_dynamics", "linearize_inverse", "forward_dynamics", "linearize_forward"]
    inverse, inverse_knots, forward, forward_knots = externals(robot, tmp_path / "out", functions, knots)
    n = robot.n_joints
    motion = np.random.default_rng(0).uniform(-1, 1, (3, n, knots))
    q, qd, last = motion.transpose(0, 2, 1)
    cases = [
        (inverse, inverse_knots, tf.textbook.inverse_dynamics, tf.linearize_inverse(robot, q, qd, last)),
        (forward, forward_knots, tf.textbook.forward_dynamics, tf.linearize_forward(robot, q, qd, last)),
    ]
    for single, over, textbook, slopes in cases:
        wanted = textbook(robot, q, qd, last).T
        np.testing.assert_allclose(np.array(over(*motion)), wanted, atol=1e-11 * np.abs(wanted).max())
        found = over.jacobian()(*motion, 0)
        third = slopes.dqdd if over is inverse_knots else slopes.dtau
        for block, one, by in zip(
            found, knot_by_knot(single, list(motion), 3), (slopes.dq, slopes.dqd, third), strict=True
        ):
            assert block.sparsity() == one.sparsity() == casadi.diagcat(*[casadi.Sparsity.dense(n, n)] * knots)
            scale = max(float(np.abs(by).max()), 1.0)
            np.testing.assert_allclose(np.array(block), np.array(one), atol=1e-11 * scale)
            # Nonzeros are blocks column by column, knot after knot.
            entries = np.array(block.nonzeros()).reshape(knots, n, n).transpose(0, 2, 1)
            np.testing.assert_allclose(entries, by, atol=1e-11 * scale)


def test_what_is_absent_is_zero_or_left_out(tmp_path: Path) -> None:
    robot, knots = tf.load("two_link"), 20
    _, torque = externals(robot, tmp_path / "out", ["inverse_dynamics", "linearize_inverse"], knots)
    q = np.random.default_rng(1).uniform(-1, 1, (2, knots))
    # Without velocities and accelerations: null pointers on CasADi's side.
    np.testing.assert_allclose(np.array(torque(q=q)["tau"]), tf.gravity_torque(robot, q.T).T, atol=1e-12)
    symbol = casadi.MX.sym("q", 2, knots)
    slope = casadi.jacobian(casadi.vec(torque(symbol, 0, 0)), casadi.vec(symbol))
    # A solver sees one block per knot.
    assert slope.nnz() == 4 * knots
    # One of three Jacobians is wanted: the others have no place to go to.
    one = casadi.Function("one", [symbol], [slope, torque.jacobian()(symbol, 0, 0, 0)[2]])
    along_q, along_qdd = one(q)
    rest = np.zeros((knots, 2))
    wanted = tf.linearize_inverse(robot, q.T, rest, rest)
    for found, by in ((along_q, wanted.dq), (along_qdd, wanted.dqdd)):
        blocks = np.array(found.nonzeros()).reshape(knots, 2, 2).transpose(0, 2, 1)
        np.testing.assert_allclose(blocks, by, atol=1e-12 * np.abs(by).max())


def test_matrices_and_parameters_that_knots_share(tmp_path: Path) -> None:
    robot, knots = tf.load("two_link"), 18
    functions = ["mass_matrix", "gravity_torque"]
    program = tf.generate(robot, "mass_matrix", parameters="runtime")
    single, over = externals(robot, tmp_path / "out", functions, knots, parameters="runtime")
    theta = program.theta_of(robot)
    q = np.random.default_rng(2).uniform(-1, 1, (2, knots))
    found = np.array(over(q, theta)).reshape(2, knots, 2).transpose(1, 0, 2)
    np.testing.assert_allclose(found, tf.mass_matrix(robot, q.T), atol=1e-12)
    by_q, by_theta = over.jacobian()(q, theta, 0)
    parts = [single.jacobian()(q[:, k], theta, 0) for k in range(knots)]
    assert by_q.sparsity() == casadi.diagcat(*[casadi.Sparsity.dense(4, 2)] * knots)
    assert by_theta.shape == (4 * knots, len(theta))
    assert by_theta.is_dense()
    np.testing.assert_allclose(np.array(by_q), np.array(casadi.diagcat(*(p[0] for p in parts))), atol=1e-13)
    np.testing.assert_allclose(np.array(by_theta), np.array(casadi.vertcat(*(p[1] for p in parts))), atol=1e-13)


def test_the_check_of_the_folder_compares_knots_with_states(tmp_path: Path) -> None:
    robot, folder = tf.load("two_link"), tmp_path / "out"
    tf.write(tf.generate(robot, "gravity_torque", parameters="runtime"), folder, target="casadi", name="arm", knots=3)
    check = ["make", "check", f"PYTHON={sys.executable}", "CFLAGS=-std=c99 -O1 -Wall -Wextra -Werror"]
    done = subprocess.run(check, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "arm_gravity_torque_knots: 3 knots differ from single states" in done.stdout
    # Entries of two knots exchanged: the check can fail.
    text = (folder / "arm.c").read_text()
    (folder / "arm.c").write_text(text.replace("columns[l*size + k]", "columns[(n - 1 - l)*size + k]"))
    done = subprocess.run(check, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode != 0


@pytest.mark.parametrize(
    ("target", "knots", "words"),
    [("c", 5, "knots: C99 has no such functions"), ("casadi", -1, "knots: expected their number")],
)
def test_what_cannot_be_written_is_refused(tmp_path: Path, target: Any, knots: int, words: str) -> None:
    program = tf.generate(tf.load("two_link"), "gravity_torque")
    with pytest.raises(GenerationError, match=words):
        tf.write(program, tmp_path / "out", target=target, knots=knots)
    assert not list(tmp_path.iterdir())
