"""Derivatives by the placement of joints: complex steps, Pinocchio's kinematic regressors, and a calibration."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

import tauform as tf
from pinocchio_oracle import model_of, pin
from random_robots import random_tree
from tauform.description.tree import Tree
from tauform.errors import DescriptionError, ShapeError, UnknownNameError
from tauform.rigidbody.inverse_dynamics import newton_euler

STEP = 1e-30


def displaced(tree: Tree, column: int) -> Tree:
    """The tree with one displacement of one joint, as an imaginary step."""
    i, k = divmod(column, 6)
    axis, R, p = np.eye(3)[k % 3], tree.rotations.astype(complex), tree.translations.astype(complex)
    if k < 3:
        R[i, :, :, 0] = R[i, :, :, 0] @ (np.eye(3) + 1j * STEP * np.cross(np.eye(3), axis))
    else:
        p[i, :, 0] = p[i, :, 0] + 1j * STEP * (R[i, :, :, 0] @ axis)
    return replace(tree, rotations=R, translations=p)


@pytest.mark.parametrize("seed", [3, 4])
def test_torques_by_the_geometry_are_complex_steps(seed: int) -> None:
    robot = random_tree(5, seed=seed, friction=False)
    states = np.random.default_rng(seed).normal(size=(3, 5))
    D = tf.linearize_inverse_geometry(robot, *states)
    inside = [x[:, None].astype(complex) for x in states]
    expected = [newton_euler(displaced(robot.tree, c), *inside)[:, 0].imag / STEP for c in range(30)]
    np.testing.assert_allclose(D.T, expected, rtol=0, atol=1e-12 * np.abs(expected).max())
    tau = tf.inverse_dynamics(robot, *states)
    F = tf.linearize_forward_geometry(robot, states[0], states[1], tau)
    np.testing.assert_allclose(tf.mass_matrix(robot, states[0]) @ F, -D, rtol=0, atol=1e-11 * np.abs(D).max())


SPRINGS = {
    "a spring to the base": [
        tf.Drive.of("spring", coefficient=300.0, rest=0.1, ends=((-1, (0, 0.1, 0.5)), (3, (0.2, 0, 0.1))))
    ],
    "a force between links, and friction by its load": [
        tf.Drive.of("force", coefficient=30.0, ends=((0, (0, 0.1, 0.5)), (3, (0.2, 0, 0.1)))),
        tf.Drive.of("load", joints=1, coefficient=0.2),
    ],
}


@pytest.mark.parametrize("springs", SPRINGS)
def test_springs_feel_where_joints_are_mounted(springs: str) -> None:
    """Differences between robots that are mounted elsewhere, of every function that differentiates by the geometry."""
    robot = random_tree(4, seed=7, chain=True)
    robot = robot.with_drives([*robot.drives, *SPRINGS[springs]])
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, 4))
    tau = tf.inverse_dynamics(robot, q, qd, qdd)
    steps = 1e-6 * np.eye(24)

    def differences(function: Callable[[tf.Robot], np.ndarray]) -> np.ndarray:
        pairs = [function(robot.with_geometry(h)) - function(robot.with_geometry(-h)) for h in steps]
        return np.array(pairs).T / 2e-6

    for found, expected in (
        (tf.linearize_inverse_geometry(robot, q, qd, qdd), lambda r: tf.textbook.inverse_dynamics(r, q, qd, qdd)),
        (tf.linearize_forward_geometry(robot, q, qd, tau), lambda r: tf.textbook.forward_dynamics(r, q, qd, tau)),
    ):
        numbers = differences(expected)
        np.testing.assert_allclose(found, numbers, rtol=0, atol=1e-8 * np.abs(numbers).max())


def test_relations_between_joints_are_held() -> None:
    robot = random_tree(4, seed=2, friction=False)
    F = np.array([[1.0, 0, 0], [0, 1, 0], [0.5, -2, 0], [0, 0, 1]])
    tied = robot.with_loops(F, np.zeros(4), [robot.joint_names[j] for j in (0, 1, 3)])
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, 2, 3))
    free = tf.linearize_inverse_geometry(robot, q @ F.T, qd @ F.T, qdd @ F.T)
    np.testing.assert_allclose(tf.linearize_inverse_geometry(tied, q, qd, qdd), F.T @ free, rtol=0, atol=1e-12)


def test_frames_move_as_pinocchios_regressor_says() -> None:
    pair = model_of(random_tree(6, seed=5, friction=False))
    robot, q = pair.robot, np.random.default_rng(1).normal(size=6)
    tip = robot.links[-1].name
    found = tf.kinematic_regressor(robot, q, tip, axes="local")
    model, data = pair.model, pair.data
    pin.forwardKinematics(model, data, pair.theirs(q))
    joint = int(pair.order[-1]) + 1
    theirs = pin.computeJointKinematicRegressor(model, data, joint, pin.ReferenceFrame.LOCAL)
    for i in range(6):
        # Theirs have linear parts first, on both sides.
        block = theirs[:, 6 * int(pair.order[i]) : 6 * int(pair.order[i]) + 6]
        np.testing.assert_allclose(found[:, 6 * i : 6 * i + 6], np.roll(block, 3, axis=(0, 1)), rtol=0, atol=1e-12)


def test_trajectories_move_as_simulations_of_displaced_robots_do() -> None:
    robot = random_tree(3, seed=5, chain=True, friction=False, prismatic=0)
    tau = np.random.default_rng(0).normal(size=(100, 3))

    def motion(arm: tf.Robot) -> tf.Motion:
        return tf.simulate(arm, [0.3, -0.4, 0.2], None, tau, 0.1, 1e-3, integrator="rk4", limits=False)

    nominal = motion(robot)
    found = tf.trajectory_sensitivity(robot, nominal.t, nominal.q, nominal.qd, nominal.tau, by="geometry")
    assert found.names == tf.geometry_names(robot)
    for column in (6, 9, 17):
        h = 1e-6 * np.eye(18)[column]
        up, down = motion(robot.with_geometry(h)), motion(robot.with_geometry(-h))
        expected = (up.q - down.q) / 2e-6
        # Torques are held within a step there, interpolated here.
        np.testing.assert_allclose(found.dq[..., column], expected, rtol=0, atol=0.02 * np.abs(found.dq).max())


def test_a_calibration_finds_the_displaced_joints() -> None:
    robot, rng = tf.load("kr6_r700"), np.random.default_rng(0)
    true = robot.with_geometry(1e-3 * rng.normal(size=36))
    q = rng.uniform(-2, 2, (40, 6))
    measured, arm = tf.forward_kinematics(true, q), robot
    for _ in range(3):
        missing = (measured - tf.forward_kinematics(arm, q))[:, :3, 3]
        columns = tf.kinematic_regressor(arm, q)[:, 3:]
        change = np.linalg.lstsq(columns.reshape(-1, 36), missing.reshape(-1), rcond=1e-9)[0]
        arm = arm.with_geometry(change)
    fresh = rng.uniform(-2, 2, (20, 6))
    errors = tf.forward_kinematics(true, fresh) - tf.forward_kinematics(arm, fresh)
    assert np.abs(errors[:, :3, 3]).max() < 1e-9
    assert np.abs((tf.forward_kinematics(true, fresh) - tf.forward_kinematics(robot, fresh))[:, :3, 3]).max() > 1e-3


def test_bad_input_is_one_sentence() -> None:
    robot, loop = tf.load("two_link"), tf.load("four_bar")
    with pytest.raises(ShapeError, match="changes: expected shape"):
        robot.with_geometry(np.zeros(6))
    with pytest.raises(UnknownNameError, match="axes: no"):
        tf.kinematic_regressor(robot, np.zeros(2), axes="tool")  # type: ignore[arg-type]
    with pytest.raises(DescriptionError, match="close by its geometry"):
        tf.linearize_inverse_geometry(loop, *np.zeros((3, loop.n_joints)))
    with pytest.raises(UnknownNameError, match="by: no"):
        tf.trajectory_sensitivity(robot, [0, 1], *np.zeros((3, 2, 2)), by="length")  # type: ignore[arg-type]
