"""Gradients along a motion against complex steps through the same integrator."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tauform as tf
from random_robots import random_tree
from tauform.arrays import Array
from tauform.description.robot import Robot
from tauform.description.tree import Tree
from tauform.errors import SimulationError
from tauform.rigidbody.articulated_body import articulated_body
from tauform.simulation.integrators import INTEGRATORS

STEP, N, H = 1e-30, 4, 0.01
RNG = np.random.default_rng(0)
Q0, QD0, TAU = 0.3 * RNG.normal(size=N), 0.3 * RNG.normal(size=N), RNG.normal(size=(6, N))
WEIGHTS = RNG.normal(size=(2, 7, N))


@pytest.fixture(scope="module")
def robot() -> Robot:
    return random_tree(N, seed=4, friction=False)


def cost(tree: Tree, integrator: str, q: Array, qd: Array, tau: Array) -> complex:
    """Weighted sum of all positions and velocities, on complex numbers."""
    q, qd = q[:, None].astype(complex), qd[:, None].astype(complex)
    total = (WEIGHTS[0, 0] * q[:, 0] + WEIGHTS[1, 0] * qd[:, 0]).sum()
    for k, torque in enumerate(tau.astype(complex)):
        q, qd, _ = INTEGRATORS[integrator](lambda q, qd, t=torque: articulated_body(tree, q, qd, t[:, None]), q, qd, H)
        total = total + (WEIGHTS[0, k + 1] * q[:, 0] + WEIGHTS[1, k + 1] * qd[:, 0]).sum()
    return complex(total)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_gradients_are_complex_steps(robot: Robot, integrator: str) -> None:
    motion = tf.simulate(robot, Q0, QD0, TAU, 0.06, H, integrator=integrator, limits=False)  # type: ignore[arg-type]
    found = motion.gradient(*WEIGHTS, parameters=True, geometry=True)
    assert found.parameters is not None
    assert found.geometry is not None
    tree, unit = robot.tree, 1j * STEP * np.eye(N)

    def slope(changed: Tree = tree, q: Array = Q0, qd: Array = QD0, tau: Array = TAU) -> float:
        return cost(changed, integrator, q, qd, tau).imag / STEP

    np.testing.assert_allclose(found.q0, [slope(q=Q0 + e) for e in unit], rtol=1e-12)
    np.testing.assert_allclose(found.qd0, [slope(qd=QD0 + e) for e in unit], rtol=1e-12)
    for k, j in ((0, 0), (3, 2), (5, 3)):
        torque = TAU.astype(complex)
        torque[k, j] += 1j * STEP
        np.testing.assert_allclose(found.tau[k, j], slope(tau=torque), rtol=1e-10)
    scale = np.abs(found.parameters).max()
    for link, k in ((0, 9), (1, 1), (3, 6)):
        inertias = tree.inertias.astype(complex)
        inertias[link, k] += 1j * STEP
        expected = slope(replace(tree, inertias=inertias))
        np.testing.assert_allclose(found.parameters[10 * link + k], expected, rtol=0, atol=1e-12 * scale)
    scale = np.abs(found.geometry).max()
    for joint, k in ((1, 0), (2, 1), (3, 2)):
        translations = tree.translations.astype(complex)
        translations[joint, :, 0] += 1j * STEP * tree.rotations[joint, :, k, 0]
        expected = slope(replace(tree, translations=translations))
        np.testing.assert_allclose(found.geometry[6 * joint + 3 + k], expected, rtol=0, atol=1e-12 * scale)


def test_batches_smooth_friction_and_temperature_take_part() -> None:
    """Against differences of simulations, drive terms included."""
    robot = tf.load("two_link")
    joints = [replace(joint, viscous=0.3, coulomb=0.2, coulomb_width=0.1) for joint in robot.joints]
    robot = replace(robot, joints=tuple(joints))
    q0, tau = np.array([[0.1, 0.2], [-0.3, 0.5]]), RNG.normal(size=(30, 2))

    def end(arm: Robot, start: Array) -> tf.Motion:
        return tf.simulate(arm, start, None, tau, 0.15, 5e-3, integrator="rk4", limits=False)

    motion = end(robot, q0)
    weights = np.zeros(motion.q.shape)
    weights[:, -1] = 1.0
    found = motion.gradient(weights, parameters=True)
    assert found.tau.shape == motion.tau.shape
    assert found.parameters is not None
    h = 1e-6
    for j in range(2):
        change = h * np.eye(2)[j]
        expected = (end(robot, q0 + change).q - end(robot, q0 - change).q)[:, -1].sum(axis=-1) / (2 * h)
        np.testing.assert_allclose(found.q0[:, j], expected, rtol=1e-6)
    for column in (robot.layout.viscous(0), robot.layout.coulomb(1)):
        values = np.array(robot.parameters)
        up, down = (robot.with_parameters(values + s * h * np.eye(len(values))[column]) for s in (1, -1))
        expected = (end(up, q0).q - end(down, q0).q)[:, -1].sum(axis=-1) / (2 * h)
        np.testing.assert_allclose(found.parameters[:, column], expected, rtol=1e-5)


def test_what_has_no_gradient_is_one_sentence(robot: Robot) -> None:
    dry = tf.load("two_link")
    dry = replace(dry, joints=tuple(replace(joint, coulomb=0.2) for joint in dry.joints))
    with pytest.raises(SimulationError, match="dry friction jumps"):
        tf.simulate(dry, [0, 0], None, None, 0.1, limits=False).gradient()
    with pytest.raises(SimulationError, match="every=1"):
        tf.simulate(robot, Q0, None, None, 0.1, H, every=2, limits=False).gradient()
    pushed = tf.simulate(
        robot, Q0, None, None, 0.1, H, wrenches={robot.links[-1].name: [9, 0, 0, 0, 0, 0]}, limits=False
    )
    with pytest.raises(SimulationError, match="external wrenches"):
        pushed.gradient()
