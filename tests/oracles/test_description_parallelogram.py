"""The parallelogram arm against its hand-derived mass matrix and gravity torque (absolute angles of a five-bar)."""

from __future__ import annotations

import numpy as np

import tauform as tf

L_UPPER, L_CRANK = 0.6, 0.2


def bodies() -> dict[str, tuple[float, float, float]]:
    """Mass, distance of the centre of mass along the link, moment about it normal to the plane."""
    robot = tf.load("parallelogram")
    return {
        link.name: (link.inertia.mass, link.inertia.com[0], link.inertia.tensor_about_com[2, 2]) for link in robot.links
    }


def test_mass_matrix_in_the_plane() -> None:
    robot, b = tf.load("parallelogram"), bodies()
    (m2, c2, I2), (m5, c5, I5) = b["upper_arm"], b["forearm"]
    (m3, c3, I3), (m4, c4, I4) = b["crank_arm"], b["coupler_rod"]
    for q in np.random.default_rng(0).uniform(-3, 3, (5, 3)):
        # e(q) has angle q: x_forearm = L_UPPER e(q_s) - c5 e(q_c), x_coupler = L_CRANK e(q_c) + c4 e(q_s)
        M_ss = I2 + I4 + m2 * c2**2 + m4 * c4**2 + m5 * L_UPPER**2
        M_cc = I3 + I5 + m3 * c3**2 + m4 * L_CRANK**2 + m5 * c5**2
        M_sc = (m4 * L_CRANK * c4 - m5 * L_UPPER * c5) * np.cos(q[1] - q[2])
        M = tf.mass_matrix(robot, q)
        np.testing.assert_allclose(M[1:, 1:], [[M_ss, M_sc], [M_sc, M_cc]], rtol=0, atol=1e-12)


def test_gravity_torque() -> None:
    robot, b = tf.load("parallelogram"), bodies()
    q = np.array([0.3, 0.9, -0.4])
    zero = np.zeros(3)
    tau = tf.inverse_dynamics(robot, q, zero, zero)
    shoulder = b["upper_arm"][0] * b["upper_arm"][1] + b["forearm"][0] * L_UPPER
    shoulder += b["coupler_rod"][0] * b["coupler_rod"][1]
    crank = b["crank_arm"][0] * b["crank_arm"][1] + b["coupler_rod"][0] * L_CRANK - b["forearm"][0] * b["forearm"][1]
    expected = 9.81 * np.array([0.0, shoulder * np.cos(q[1]), crank * np.cos(q[2])])
    np.testing.assert_allclose(tau, expected, rtol=0, atol=1e-12)


def test_loop_closes() -> None:
    # The coupler's far end is the rear end of the forearm, a crank length behind the elbow, in every position.
    robot = tf.load("parallelogram")
    for q in np.random.default_rng(2).uniform(-3, 3, (4, 3)):
        coupler_end = tf.forward_kinematics(robot, q, "coupler_rod") @ [L_UPPER, 0, 0, 1]
        forearm_rear = tf.forward_kinematics(robot, q, "forearm") @ [-L_CRANK, 0, 0, 1]
        np.testing.assert_allclose(coupler_end, forearm_rear, rtol=0, atol=1e-12)
