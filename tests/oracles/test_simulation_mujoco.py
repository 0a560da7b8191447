"""Rollouts against MuJoCo's, step by step, and against scipy's DOP853."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import tauform as tf
from random_drives import with_random_drives
from random_robots import random_tree
from sampling import representatives
from tauform.cli.comparison.models import mujoco_model

mujoco = pytest.importorskip("mujoco")
STEP, STEPS = 1e-3, 50


def mujoco_states(robot: tf.Robot, integrator: str, q0, qd0, tau) -> tuple[np.ndarray, np.ndarray]:
    """Their positions and velocities after each step, without contacts and constraints."""
    model = mujoco_model(robot)
    model.opt.timestep = STEP
    model.opt.integrator = getattr(mujoco.mjtIntegrator, integrator)
    flags = mujoco.mjtDisableBit
    model.opt.disableflags = flags.mjDSBL_CONSTRAINT | flags.mjDSBL_CONTACT | flags.mjDSBL_EULERDAMP
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:], data.qfrc_applied[:] = q0, qd0, tau
    found = []
    for _ in range(STEPS):
        mujoco.mj_step(model, data)
        found.append((data.qpos.copy(), data.qvel.copy()))
    q, qd = zip(*found, strict=True)
    return np.array(q), np.array(qd)


@pytest.mark.parametrize(("ours", "theirs"), [("semi_implicit", "mjINT_EULER"), ("rk4", "mjINT_RK4")])
@pytest.mark.parametrize("name", representatives(["kr6", "tree"], "tree"))
def test_steps_equal_those_of_mujoco(name, ours, theirs):
    robot = tf.load("kr6_r700").rigid if name == "kr6" else random_tree(4, 3, friction=False)
    rng = np.random.default_rng(0)
    q0, qd0, tau = rng.uniform(-1, 1, (3, robot.n_joints))
    motion = tf.simulate(robot, q0, qd0, tau, STEPS * STEP, STEP, integrator=ours, limits=False)
    q, qd = mujoco_states(robot, theirs, q0, qd0, tau)
    np.testing.assert_allclose(motion.q[1:], q, rtol=0, atol=1e-11 * np.abs(q).max())
    np.testing.assert_allclose(motion.qd[1:], qd, rtol=0, atol=1e-11 * np.abs(qd).max())


CASES = {
    "tree": (lambda: random_tree(4, 3, friction=False), {}),
    "loop": (lambda: tf.load("parallelogram").rigid, {}),
    "drives": (
        lambda: with_random_drives(random_tree(3, 5, friction=False), 5, shapes=["stiffness", "smooth", "quadratic"]),
        {},
    ),
    "wrench": (lambda: tf.planar_chain(3), {"wrenches": {"link3": [5.0, 1.0, 0.0, 0.0, 0.0, 2.0]}}),
    "payload": (lambda: tf.planar_chain(2).with_payload(tf.Inertia.of(1.5, [0.1, 0.2, 0.3])), {}),
    "thermal": (
        lambda: with_random_drives(random_tree(3, 8, friction=False), 8, shapes=["thermal"]),
        {"temperature": [40.0, 55.0, 10.0]},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_rk4_ends_where_dop853_does(name):
    make, further = CASES[name]
    robot = make()
    rng = np.random.default_rng(1)
    q0, qd0, tau = rng.uniform(-1, 1, (3, robot.n_joints))
    n = robot.n_joints

    def rate(t, x):
        return np.concatenate([x[n:], tf.textbook.forward_dynamics(robot, x[:n], x[n:], tau, **further)])

    exact = solve_ivp(rate, (0, 0.1), np.concatenate([q0, qd0]), method="DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
    motion = tf.simulate(robot, q0, qd0, tau, 0.1, 5e-4, integrator="rk4", limits=False, **further)
    found = np.concatenate([motion.q[-1], motion.qd[-1]])
    np.testing.assert_allclose(found, exact, rtol=0, atol=1e-8 * max(1.0, np.abs(exact).max()))


@pytest.mark.parametrize(("integrator", "order"), [("semi_implicit", 1), ("midpoint", 2), ("rk4", 4)])
def test_errors_fall_with_the_order(integrator, order):
    robot, q0, qd0 = tf.planar_chain(2), np.array([0.5, 0.3]), np.array([0.0, 0.4])

    def end(step):
        return tf.simulate(robot, q0, qd0, None, 0.4, step, integrator=integrator, limits=False).q[-1]

    exact = tf.simulate(robot, q0, qd0, None, 0.4, 1e-4, integrator="rk4", limits=False).q[-1]
    coarse, fine = (np.abs(end(step) - exact).max() for step in (0.01, 0.005))
    assert 0.7 * 2**order < coarse / fine < 1.4 * 2**order
