"""Linearised dynamics: exact derivatives, and six algorithms that agree, on seeded random trees."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tauform as tf
from random_robots import random_states, random_tree
from tauform.errors import ShapeError, SingularMassMatrixError, UnknownNameError

SIZES = (1, 2, 3, 5, 8, 12, 20, 30)
STEP = 1e-30


@pytest.fixture(params=[*SIZES, "loops"])
def robot(request) -> tf.Robot:
    if request.param == "loops":
        tree = random_tree(6, seed=6)
        F = np.random.default_rng(6).normal(size=(6, 4))
        F[:4] = np.eye(4)
        return tree.with_loops(F, [0, 0, 0, 0, 0.5, 1], [joint.name for joint in tree.joints[:4]])
    return random_tree(request.param, seed=request.param)


def times(matrix, vector):
    return (matrix @ vector[..., None])[..., 0]


def close(value, expected, tolerance=1e-12):
    np.testing.assert_allclose(value, expected, rtol=0, atol=tolerance * max(np.abs(expected).max(), 1))


def by_complex_step(function, *vectors):
    """Derivative of function(*vectors) by each vector: three matrices; all columns are one batch."""
    units = np.eye(vectors[0].shape[-1])[:, None]
    matrices = []
    for k in range(len(vectors)):
        stepped = [v + 1j * STEP * units if i == k else v for i, v in enumerate(vectors)]
        matrices.append(np.moveaxis(np.imag(function(*stepped)) / STEP, 0, -1))
    return matrices


def test_inverse_matrices_are_complex_step_derivatives(robot):
    vectors = random_states(robot, 2, seed=1)
    exact = by_complex_step(lambda *v: tf.inverse_dynamics(robot, *v), *vectors)
    linear = tf.linearize_inverse(robot, *vectors)
    for value, expected in zip((linear.dq, linear.dqd, linear.dqdd), exact, strict=True):
        close(value, expected)
    close(linear.dqdd, tf.mass_matrix(robot, vectors[0]))


@pytest.mark.parametrize("method", ["direct", "conventional"])
def test_forward_matrices_are_complex_step_derivatives(robot, method):
    vectors = random_states(robot, 2, seed=2)
    exact = by_complex_step(lambda *v: tf.forward_dynamics(robot, *v), *vectors)
    linear = tf.linearize_forward(robot, *vectors, method=method)
    for value, expected in zip((linear.dq, linear.dqd, linear.dtau), exact, strict=True):
        close(value, expected, 2e-12)


def test_velocity_derivative_is_twice_the_coriolis_matrix_and_viscous_friction(robot):
    q, qd, qdd = random_states(robot, 2, seed=3)
    F = np.eye(robot.n_bodies) if robot.closure is None else robot.closure.F
    viscous = F.T @ np.diag([joint.viscous for joint in robot.joints]) @ F
    close(tf.linearize_inverse(robot, q, qd, qdd).dqd, 2 * tf.coriolis_matrix(robot, q, qd) + viscous)


def test_forward_derivatives_are_inverse_ones_behind_the_mass_matrix(robot):
    q, qd, qdd = random_states(robot, 2, seed=4)
    inverse = tf.linearize_inverse(robot, q, qd, qdd)
    forward = tf.linearize_forward(robot, q, qd, tf.inverse_dynamics(robot, q, qd, qdd))
    scale = 1e-11 * np.abs(forward.dtau).max()
    close(inverse.dqdd @ forward.dq, -inverse.dq, scale)
    close(inverse.dqdd @ forward.dqd, -inverse.dqd, scale)
    close(inverse.dqdd @ forward.dtau, np.broadcast_to(np.eye(robot.n_joints), forward.dtau.shape), scale)


def test_inverse_vector_is_matrices_times_changes(robot):
    *state, dq, dqd, dqdd = random_states(robot, 2, seed=5, n_vectors=6)
    linear = tf.linearize_inverse(robot, *state)
    expected = times(linear.dq, dq) + times(linear.dqd, dqd) + times(linear.dqdd, dqdd)
    close(tf.linearize_inverse_vector(robot, *state, dq, dqd, dqdd), expected)
    close(tf.linearize_inverse_vector(robot, *state, dqd=dqd), times(linear.dqd, dqd))


@pytest.mark.parametrize("method", ["direct", "conventional"])
def test_forward_vector_is_matrices_times_changes(robot, method):
    *state, dq, dqd, dtau = random_states(robot, 2, seed=6, n_vectors=6)
    linear = tf.linearize_forward(robot, *state)
    expected = times(linear.dq, dq) + times(linear.dqd, dqd) + times(linear.dtau, dtau)
    close(tf.linearize_forward_vector(robot, *state, dq, dqd, dtau, method=method), expected, 1e-11)
    close(tf.linearize_forward_vector(robot, *state, dtau=dtau, method=method), times(linear.dtau, dtau), 1e-11)


def test_transposed_products_are_weights_times_matrices(robot):
    *state, weights = random_states(robot, 2, seed=7, n_vectors=4)
    inverse, forward = tf.linearize_inverse(robot, *state), tf.linearize_forward(robot, *state)
    for name in ("dq", "dqd", "dqdd"):
        expected = times(np.swapaxes(getattr(inverse, name), -1, -2), weights)
        close(getattr(tf.linearize_inverse_transposed(robot, *state, weights), name), expected)
    for name in ("dq", "dqd", "dtau"):
        expected = times(np.swapaxes(getattr(forward, name), -1, -2), weights)
        close(getattr(tf.linearize_forward_transposed(robot, *state, weights), name), expected, 1e-11)


def test_parameter_derivative_of_forward_dynamics(robot):
    q, qd, tau = random_states(robot, 2, seed=8)
    derivative = tf.linearize_forward_parameters(robot, q, qd, tau)
    parameters = np.array(robot.parameters)
    change = np.random.default_rng(8).normal(size=parameters.shape) * 1e-3
    h = 1e-4
    up, down = (tf.forward_dynamics(robot.with_parameters(parameters + s * h * change), q, qd, tau) for s in (1, -1))
    close(derivative @ change, (up - down) / (2 * h), 1e-7)
    link_columns = tf.linearize_forward_parameters(robot, q, qd, tau, include=["link"])
    np.testing.assert_array_equal(link_columns, derivative[..., robot.layout.links])


def test_batch_equals_one_at_a_time():
    robot = random_tree(4, seed=4)
    vectors = random_states(robot, 3, seed=9)
    for function, names in (
        (tf.linearize_inverse, ("dq", "dqd", "dqdd")),
        (tf.linearize_forward, ("dq", "dqd", "dtau")),
    ):
        batch = function(robot, *vectors)
        for k in range(3):
            one = function(robot, *vectors[:, k])
            for name in names:
                np.testing.assert_allclose(getattr(batch, name)[k], getattr(one, name), rtol=0, atol=1e-12)


def test_singular_mass_matrix_is_named():
    robot = random_tree(4, seed=4)
    joints = tuple(replace(joint, rotor_inertia=None) for joint in robot.joints)
    links = (*robot.links[:-1], replace(robot.links[-1], inertia=tf.Inertia.zero()))
    empty = replace(robot, joints=joints, links=links)
    state = np.zeros((3, 4))
    for method in ("direct", "conventional"):
        with pytest.raises(SingularMassMatrixError, match="link4"):
            tf.linearize_forward(empty, *state, method=method)
        with pytest.raises(SingularMassMatrixError, match="link4"):
            tf.linearize_forward_vector(empty, *state, method=method)
    with pytest.raises(SingularMassMatrixError, match="link4"):
        tf.linearize_forward_transposed(empty, *state, np.ones(4))
    with pytest.raises(SingularMassMatrixError, match="link4"):
        tf.linearize_forward_parameters(empty, *state)
    # inverse dynamics divides by nothing
    assert np.isfinite(tf.linearize_inverse(empty, *state).dq).all()


def test_wrong_input_is_named():
    robot = random_tree(3, seed=3)
    with pytest.raises(ShapeError, match=r"qd: expected shape \(\.\.\., 3\)"):
        tf.linearize_inverse(robot, np.zeros(3), np.zeros(4), np.zeros(3))
    with pytest.raises(ShapeError, match="dqd"):
        tf.linearize_forward_vector(robot, *np.zeros((3, 3)), dqd=np.zeros(2))
    with pytest.raises(UnknownNameError, match="symbolic"):
        tf.linearize_forward(robot, *np.zeros((3, 3)), method="symbolic")
    with pytest.raises(UnknownNameError, match="symbolic"):
        tf.linearize_forward_vector(robot, *np.zeros((3, 3)), method="symbolic")
