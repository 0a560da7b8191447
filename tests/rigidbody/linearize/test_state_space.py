"""State-space models, their discretisation, and the sensitivity of a trajectory."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import tauform as tf
from random_robots import random_states, random_tree
from tauform.errors import ModelError, ShapeError

ROBOT = random_tree(3, seed=3)


def rates(robot, x, u):
    n = robot.n_joints
    return np.concatenate([x[n:], tf.forward_dynamics(robot, x[:n], x[n:], u)])


def simulated(robot, x0, u, times):
    """States at these times under torques u(t), to 1e-10."""
    solution = solve_ivp(
        lambda t, x: rates(robot, x, u(t)), times[[0, -1]], x0, "DOP853", times, rtol=1e-11, atol=1e-12
    )
    return solution.y.T


def test_state_space_is_the_derivative_of_the_state_rates():
    q, qd, tau = random_states(ROBOT, 1, seed=1)[:, 0]
    model = tf.state_space(ROBOT, q, qd, tau)
    x, h = np.concatenate([q, qd]), 1e-6
    A = [(rates(ROBOT, x + h * e, tau) - rates(ROBOT, x - h * e, tau)) / (2 * h) for e in np.eye(6)]
    B = [(rates(ROBOT, x, tau + h * e) - rates(ROBOT, x, tau - h * e)) / (2 * h) for e in np.eye(3)]
    np.testing.assert_allclose(model.A, np.stack(A, axis=-1), rtol=0, atol=1e-6 * np.abs(model.A).max())
    np.testing.assert_allclose(model.B, np.stack(B, axis=-1), rtol=0, atol=1e-6 * np.abs(model.B).max())


def test_without_torque_the_velocity_is_held():
    q, qd = random_states(ROBOT, 2, seed=2, n_vectors=2)
    held = tf.state_space(ROBOT, q, qd)
    tau = tf.inverse_dynamics(ROBOT, q, qd, np.zeros(3))
    np.testing.assert_array_equal(held.A, tf.state_space(ROBOT, q, qd, tau).A)


def test_zero_order_hold_is_exact():
    q, qd, tau = random_states(ROBOT, 4, seed=3)
    continuous, dt = tf.state_space(ROBOT, q, qd, tau), 0.05
    discrete = tf.state_space(ROBOT, q, qd, tau, dt=dt)
    assert discrete.A.shape == (4, 6, 6)
    x0, u = np.ones(6), np.array([1.0, -2.0, 0.5])
    for k in range(4):
        A, B = continuous.A[k], continuous.B[k]
        step = solve_ivp(lambda t, x, A=A, B=B: A @ x + B @ u, [0, dt], x0, rtol=1e-12, atol=1e-12).y[:, -1]
        np.testing.assert_allclose(discrete.A[k] @ x0 + discrete.B[k] @ u, step, rtol=1e-9)
    np.testing.assert_allclose(np.sort(np.abs(discrete.eigenvalues)), np.sort(np.exp(continuous.eigenvalues.real * dt)))
    np.testing.assert_allclose(np.sort(discrete.damping), np.sort(continuous.damping), rtol=0, atol=1e-9)


def test_pendulum_modes():
    # a point mass on a rod: (m l^2 + Ia) qdd = tau - Fv qd - m g l sin q
    m, length, g, rotor, viscous = 2.0, 0.5, 9.81, 0.1, 0.7
    row = {
        "joint": "revolute",
        "a": length,
        "alpha": 0.0,
        "d": 0.0,
        "mass": m,
        "rotor_inertia": rotor,
        "viscous": viscous,
    }
    pendulum = tf.Robot.from_dh([row], "standard", gravity=[g, 0, 0])
    model = tf.state_space(pendulum, [0.0])  # at rest
    inertia = m * length**2 + rotor
    np.testing.assert_allclose(model.A, [[0, 1], [-m * g * length / inertia, -viscous / inertia]], rtol=0, atol=1e-12)
    np.testing.assert_allclose(model.B, [[0], [1 / inertia]], rtol=0, atol=1e-12)
    frequency = np.sqrt(m * g * length / inertia)
    np.testing.assert_allclose(np.abs(model.eigenvalues), frequency)
    np.testing.assert_allclose(model.damping, viscous / inertia / (2 * frequency))
    assert model.is_controllable


def test_a_mode_that_no_torque_reaches_is_reported():
    model = tf.state_space(ROBOT, np.zeros(3), np.zeros(3))
    assert model.is_controllable
    A, B = np.diag([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), np.zeros((6, 3))
    B[:5, :] = 1
    assert not replace(model, A=A, B=B).is_controllable


def test_control_library_sees_the_same_model():
    control = pytest.importorskip("control")
    q, qd = random_states(ROBOT, 1, seed=4, n_vectors=2)[:, 0]
    model = tf.state_space(ROBOT, q, qd)
    system = model.to_control()
    assert isinstance(system, control.StateSpace)
    np.testing.assert_array_equal(system.A, model.A)
    assert system.input_labels == ["tau_joint1", "tau_joint2", "tau_joint3"]
    theirs, ours = control.sample_system(system, 0.01, method="zoh"), model.discretized(0.01)
    np.testing.assert_allclose(ours.A, theirs.A, rtol=0, atol=1e-12)
    np.testing.assert_allclose(ours.B, theirs.B, rtol=0, atol=1e-12)
    assert ours.to_control().dt == 0.01
    with pytest.raises(ModelError, match="batch"):
        tf.state_space(ROBOT, np.zeros((2, 3)), np.zeros(3)).to_control()


def test_wrong_time_steps_are_named():
    model = tf.state_space(ROBOT, np.zeros(3), np.zeros(3), dt=0.1)
    with pytest.raises(ModelError, match="already has a time step"):
        model.discretized(0.1)
    with pytest.raises(ModelError, match="positive"):
        tf.state_space(ROBOT, np.zeros(3), np.zeros(3), dt=0.0)
    with pytest.raises(ShapeError, match="t: expected numbers"):
        tf.trajectory_sensitivity(ROBOT, "soon", *np.zeros((3, 3, 3)))
    with pytest.raises(ShapeError, match="rising"):
        tf.trajectory_sensitivity(ROBOT, [0, 1, 1], *np.zeros((3, 3, 3)))
    with pytest.raises(ShapeError, match="tau: expected shape"):
        tf.trajectory_sensitivity(ROBOT, [0, 1], *np.zeros((2, 2, 3)), np.zeros((3, 3)))


def test_trajectory_sensitivity_is_the_difference_of_simulations():
    robot = random_tree(2, seed=5, chain=True, friction=False, prismatic=0)
    times = np.linspace(0, 0.5, 201)
    x0 = np.array([0.3, -0.4, 0.5, 0.2])

    def torque(t):
        return np.array([np.sin(3 * t), 0.5 * np.cos(2 * t)])

    x, tau = simulated(robot, x0, torque, times), np.array([torque(t) for t in times])
    fine, coarse = (
        tf.trajectory_sensitivity(robot, times[::k], x[::k, :2], x[::k, 2:], tau[::k], include=["link", "viscous"])
        for k in (1, 2)
    )
    assert fine.dq.shape == (201, 2, 22)
    parameters, h = np.array(robot.parameters), 1e-5
    for name in ("m_2", "mx_1", "Ixy_2", "Fv_1"):
        column, k = robot.parameter_names.index(name), fine.names.index(name)
        changed = [parameters + s * h * np.eye(28)[column] for s in (1, -1)]
        up, down = (simulated(robot.with_parameters(values), x0, torque, times) for values in changed)
        expected = (up - down) / (2 * h)
        ours = np.concatenate([fine.dq[..., k], fine.dqd[..., k]], axis=-1)
        np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-4 * np.abs(expected).max())
        # half the step, a quarter of the error
        error, coarse_error = (np.abs(s.dq[-1, :, k] - expected[-1, :2]).max() for s in (fine, coarse))
        assert 3 < coarse_error / error < 5
