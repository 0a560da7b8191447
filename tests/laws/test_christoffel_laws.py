"""D_ijk are derivatives of the mass matrix, and add up to the velocity torques."""

from __future__ import annotations

import numpy as np
import pytest

import tauform as tf
from sampling import representatives
from tauform.rigidbody.inertia.composite_rigid_body import composite_rigid_body


@pytest.mark.parametrize("seed", representatives(range(6), 0, 3))
def test_coefficients_are_christoffel_symbols(seed: int) -> None:
    """D_ijk = (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) / 2, by complex steps.  [Izaguirre1992, Eq. 1]"""
    robot = tf.random_robot("RPRRP", seed, branching=0.4)
    q, qd = np.random.default_rng(seed).uniform(-1, 1, (2, 5))
    steps = q[:, None] + 1e-30j * np.eye(5)
    slopes = composite_rigid_body(robot.tree, steps).imag / 1e-30  # (i, j, k) is dM_ij / dq_k
    expected = 0.5 * (slopes + slopes.transpose(0, 2, 1) - slopes.transpose(2, 0, 1))
    D = tf.christoffel_coefficients(robot, q)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(D, expected, rtol=0, atol=1e-12 * scale)
    velocity = tf.bias_torque(robot, q, qd) - tf.gravity_torque(robot, q)
    np.testing.assert_allclose(np.einsum("ijk,j,k", D, qd, qd), velocity, rtol=0, atol=1e-11 * scale)


def test_batches_keep_their_dimensions() -> None:
    robot = tf.load("two_link")
    q = np.random.default_rng(0).uniform(-1, 1, (3, 4, 2))
    D = tf.christoffel_coefficients(robot, q)
    assert D.shape == (3, 4, 2, 2, 2)
    np.testing.assert_array_equal(D[1, 2], tf.christoffel_coefficients(robot, q[1, 2]))


@pytest.mark.parametrize("name", ["kr6_r700", "hitachi_hpr_gautier", "four_bar"])
def test_frame_injection_makes_the_same_velocity_torques(name: str) -> None:
    """Chains, linear and general loops; the matrix itself is another factorisation.  [Safeea2018, Eqs. 4 to 17]"""
    robot = tf.load(name)
    q, qd = 0.4 * np.random.default_rng(0).normal(size=(2, 6, robot.n_joints))
    found, C = tf.frame_injection(robot, q, qd), tf.coriolis_matrix(robot, q, qd)
    torque = np.einsum("kij,kj->ki", C, qd)
    np.testing.assert_allclose(
        np.einsum("kij,kj->ki", found.coriolis, qd), torque, rtol=0, atol=1e-12 * np.abs(C).max()
    )
    D = np.einsum("kijj->kij", tf.christoffel_coefficients(robot, q))
    np.testing.assert_allclose(found.centrifugal, D, rtol=0, atol=1e-12 * np.abs(D).max())
