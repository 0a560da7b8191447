"""Factors of the mass matrix against Pinocchio, and the lemmas of Jain1993 that tie them together."""

from __future__ import annotations

import numpy as np
import pytest

import tauform as tf
from pinocchio_oracle import REAL_ROBOTS, Pair, model_of, pin, real_robot
from random_robots import random_tree
from tauform.errors import DescriptionError, ShapeError, SingularMassMatrixError

RANDOM = {f"random{n}": n for n in (1, 5, 12)}


@pytest.fixture(scope="module", params=[*list(REAL_ROBOTS)[:3], *RANDOM])
def pair(request) -> Pair:
    if request.param in RANDOM:
        return model_of(random_tree(RANDOM[request.param], seed=4, friction=False))
    return real_robot(request.param)


def positions(robot: tf.Robot) -> np.ndarray:
    return np.random.default_rng(0).uniform(-2, 2, (2, 3, robot.n_joints))


def agree(value, expected, tolerance=1e-10):
    np.testing.assert_allclose(value, expected, rtol=0, atol=tolerance * np.abs(expected).max())


def test_inverse_solutions_and_determinant_are_those_of_pinocchio(pair):
    q = positions(pair.robot)
    factor, b = tf.factorize(pair.robot, q), np.random.default_rng(1).normal(size=(3, pair.robot.n_joints))
    for place in np.ndindex(2, 3):
        theirs = pin.computeMinverse(pair.model, pair.data, pair.theirs(q[place]))
        theirs = (np.triu(theirs) + np.triu(theirs, 1).T)[np.ix_(pair.order, pair.order)]
        agree(factor.inverse[place], theirs)
        agree(factor.solve(b)[place], theirs @ b[place[1]])
        assert factor.logdet[place] == pytest.approx(-np.linalg.slogdet(theirs)[1], abs=1e-9)


def test_factors_are_those_of_pinocchio():
    pair = real_robot(next(iter(REAL_ROBOTS)))  # a chain, so that both count joints alike
    q = positions(pair.robot)[0, 0]
    pin.crba(pair.model, pair.data, pair.theirs(q))
    pin.cholesky.decompose(pair.model, pair.data)
    factor = tf.factorize(pair.robot, q)
    agree(factor.D, pair.data.D[pair.order])
    agree(factor.L.T, pair.data.U[np.ix_(pair.order, pair.order)])


@pytest.mark.parametrize("n", [1, 4, 9, 20])
def test_lemmas_4_2_to_4_8(n):
    robot = random_tree(n, seed=n)
    q = positions(robot)
    factor, M = tf.factorize(robot, q), tf.mass_matrix(robot, q)
    L_transposed = np.swapaxes(factor.L, -1, -2)
    agree(L_transposed * factor.D[..., None, :] @ factor.L, M)  # 4.2
    agree(factor.inverse @ M, np.broadcast_to(np.eye(n), M.shape), 1e-9)  # 4.4
    parents = robot.tree.parents
    for k in range(n):
        # Upsilon is the operational space inverse inertia of the body: J M^-1 J^T
        path = list(robot.tree.ancestors(k))
        J = np.zeros((*q.shape[:-1], 6, n))
        J[..., path] = np.swapaxes(factor.H[..., path, :], -1, -2)
        agree(factor.Upsilon[..., k, :, :], J @ factor.inverse @ np.swapaxes(J, -1, -2), 1e-9)
        # (4.19): psi carries the parent's over
        own = factor.H[..., k, :, None] * factor.H[..., k, None, :] / factor.D[..., k, None, None]
        psi = factor.psi[..., k, :, :]
        above = factor.Upsilon[..., parents[k], :, :] if parents[k] >= 0 else 0 * own
        agree(factor.Upsilon[..., k, :, :], np.swapaxes(psi, -1, -2) @ above @ psi + own, 1e-9)


def test_the_factor_has_complex_step_derivatives():
    robot, step = random_tree(6, seed=6), 1e-30
    q, direction = np.random.default_rng(2).normal(size=(2, 6))
    stepped = tf.factorize(robot, q + 1j * step * direction)
    rate = np.imag(tf.mass_matrix(robot, q + 1j * step * direction)) / step
    inverse = tf.factorize(robot, q).inverse
    agree(np.imag(stepped.inverse) / step, -inverse @ rate @ inverse, 1e-9)
    assert np.imag(stepped.logdet) / step == pytest.approx(np.trace(inverse @ rate), rel=1e-9)


def test_loops_and_shafts_have_factors_without_bodies():
    for robot in (tf.load("parallelogram"), tied_by_a_shaft()):
        q = positions(robot)
        factor, M = tf.factorize(robot, q), tf.mass_matrix(robot, q)
        agree(np.swapaxes(factor.L, -1, -2) * factor.D[..., None, :] @ factor.L, M)
        agree(factor.inverse @ M, np.broadcast_to(np.eye(robot.n_joints), M.shape))
        with pytest.raises(DescriptionError, match="K: loops or shafts"):
            _ = factor.K


def tied_by_a_shaft() -> tf.Robot:
    robot = tf.load("kr6_r700")
    return robot.with_drives([*robot.drives, tf.Drive.of("coupled_inertia", (3, 4), 0.01)])


def test_bad_input_is_one_sentence():
    robot = tf.load("two_link")
    factor = tf.factorize(robot, np.zeros((4, 2)))
    with pytest.raises(ShapeError, match=r"x: "):
        factor.solve(np.zeros(3))
    with pytest.raises(ShapeError, match="batch dimensions do not broadcast"):
        factor.solve(np.zeros((3, 2)))
    massless = robot.with_parameters(0 * robot.parameters)
    with pytest.raises(SingularMassMatrixError, match="link"):
        tf.factorize(massless, np.zeros(2))
