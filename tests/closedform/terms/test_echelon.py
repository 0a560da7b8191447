"""Lloyd2021, Examples 5 and 6: the two-link arm with m, mx and Izz of each link."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import tauform as tf
from closedform.expansion.test_derivation import planar_zeros
from tauform.closedform.model.equations import term_names

A1 = 1.2
# Eq. 54. The paper numbers theta as: of c1 g, of qdd1, of qdd2, of c1 c2 g.
P1 = [
    [1, 0, 0, 0],
    [0, 0, 0, 1],
    [0, 0, 0, -1],
    [0, 1, 0, 0],
    [0, 0, 0, -2 * A1],
    [0, 0, 1, 0],
    [0, 0, 0, -A1],
    [0, 0, 0, 0],
    [0, 0, 0, A1],
    [0, 0, 0, 2 * A1],
]
P2 = [
    [0, 0, 0, 0],
    [0, 0, 0, 1],
    [0, 0, 0, -1],
    [0, 0, 1, 0],
    [0, 0, 0, -A1],
    [0, 0, 1, 0],
    [0, 0, 0, 0],
    [0, 0, 0, -A1],
    [0, 0, 0, 0],
    [0, 0, 0, 0],
]
ROWS = ("c1", "c1*c2", "s1*s2", "qdd1", "c2*qdd1", "qdd2", "c2*qdd2", "s2*qd1**2", "s2*qd2**2", "s2*qd1*qd2")
PAPER_THETA = [0, 2, 3, 1]  # ours come in the order in which they first appear


@pytest.fixture
def robot() -> tf.Robot:
    return tf.load("two_link")


@pytest.fixture
def model(robot) -> tf.ClosedFormModel:
    return tf.derive(robot, assume=planar_zeros(robot))


def test_reduction_matrices_of_example_5(model):
    echelon = model.echelon()
    assert term_names(model.exponents) == ROWS
    assert echelon.g == -9.81
    np.testing.assert_allclose(echelon.P[0][:, PAPER_THETA], P1, rtol=1e-14, atol=0)
    np.testing.assert_allclose(echelon.P[1][:, PAPER_THETA], P2, rtol=1e-14, atol=0)


def test_mass_matrix_of_example_6(robot, model):
    bound = _bound(model, robot)
    theta = (model.echelon().theta_from_base @ bound.theta)[PAPER_THETA]
    q = np.array([0.3, 0.7])
    c2 = np.cos(q[1])
    off = theta[2] - A1 * c2 * theta[3]
    expected = [[theta[1] - 2 * A1 * c2 * theta[3], off], [off, theta[2]]]
    np.testing.assert_allclose(bound.mass_matrix(q), expected, rtol=1e-14)


@pytest.mark.parametrize("name", ["two_link", "sr6ia"])
def test_echelon_form_gives_the_same_coefficients(name):
    robot = tf.load(name)
    model = tf.derive(robot)
    echelon = model.echelon()
    theta = model.theta(robot)
    gravity = ~model.exponents[3 * model.n_joints :].any(axis=0)
    coefficients = echelon.P @ (echelon.theta_from_base @ theta) * np.where(gravity, echelon.g, 1.0)
    np.testing.assert_allclose(coefficients, model.bind(robot).coefficients, rtol=1e-12, atol=1e-13)
    # theta_e = sum_i B_i theta_p,i
    back = np.einsum("ilp,ip->l", echelon.B, coefficients / np.where(gravity, echelon.g, 1.0))
    np.testing.assert_allclose(back, echelon.theta_from_base @ theta, rtol=1e-11, atol=1e-12)


def test_echelon_form_of_six_joints_is_sparse():
    P = tf.derive(tf.load("kr6_r700")).echelon().P
    assert np.count_nonzero(P) < 0.02 * P.size


def _bound(model, robot):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the rods have inertias that the example neglects
        return model.bind(robot)


@pytest.mark.parametrize("kinds", ["RR", "P", "PRP"])
def test_friction_stands_beside_the_coefficients(kinds):
    robot = tf.random_robot(kinds, 4)
    model = tf.derive(robot, include=("link", "rotor", "viscous", "coulomb", "offset"))
    echelon, bound = model.echelon(), model.bind(robot)
    theta = echelon.theta_from_base @ bound.theta
    is_gravity = model.exponents[3 * model.n_joints :].max(axis=0) == 0
    factors = np.where(is_gravity, echelon.g, 1.0)
    np.testing.assert_allclose((echelon.P @ theta) * factors, bound.coefficients, rtol=0, atol=1e-9)
    # nothing of theta is lost on the way
    np.testing.assert_allclose(np.linalg.solve(echelon.theta_from_base, theta), bound.theta, rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", ["kr6_r700", "lbr7"])
def test_no_rounding_is_left_in_the_echelon_form(name):
    """Lloyd2021, section 2.2.2: entries are lengths and ones; what rounding leaves is zero."""
    P = tf.derive(tf.load(name)).echelon().P
    assert np.abs(P[P != 0]).min() > 1e-6
