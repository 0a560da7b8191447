"""Laws of mechanics on seeded random trees: revolute and prismatic joints, rotors, friction."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import tauform as tf
from random_robots import random_states, random_tree
from tauform.description.joint import Frame
from tauform.description.transform import inverse, rotation_rpy, translation

SIZES = (1, 2, 3, 5, 8, 13, 20, 30)
STEP = 1e-30  # complex step: the imaginary part is the derivative, without cancellation


@pytest.fixture(params=SIZES)
def robot(request) -> tf.Robot:
    return random_tree(request.param, seed=request.param)


def along(function, q, direction):
    """Directional derivative by the complex step."""
    return np.imag(function(q + 1j * STEP * direction)) / STEP


def times(matrix, vector):
    return (matrix @ vector[..., None])[..., 0]


def assert_close(value, expected, tolerance=1e-12):
    """Relative to the largest entry; the robots have sizes and masses near one, so less than one counts as one."""
    np.testing.assert_allclose(value, expected, rtol=0, atol=tolerance * max(np.abs(expected).max(), 1))


def test_power_equals_energy_rate(robot):
    q, qd, qdd = random_states(robot, 4, seed=1)
    power = (qd * (tf.inverse_dynamics(robot, q, qd, qdd) - tf.friction(robot, qd))).sum(axis=-1)
    energy_rate = (
        along(lambda q: tf.kinetic_energy(robot, q, qd), q, qd)
        + along(lambda v: tf.kinetic_energy(robot, q, v), qd, qdd)
        + along(lambda q: tf.potential_energy(robot, q), q, qd)
    )
    assert_close(energy_rate, power)


def test_mass_matrix_rate_minus_twice_coriolis_is_skew(robot):
    q, qd = random_states(robot, 4, seed=2, n_vectors=2)
    C = tf.coriolis_matrix(robot, q, qd)
    M_rate = along(lambda q: tf.mass_matrix(robot, q), q, qd)
    assert_close(C + np.swapaxes(C, -1, -2), M_rate)


def test_coriolis_matrix_holds_christoffel_symbols(robot):
    # C(q, u) w = C(q, w) u only when C_ijk is symmetric in the two velocities
    q, u, w = random_states(robot, 4, seed=3)
    uw, wu = times(tf.coriolis_matrix(robot, q, u), w), times(tf.coriolis_matrix(robot, q, w), u)
    assert_close(uw, wu)


def test_mass_matrix_is_symmetric_and_positive_definite(robot):
    q = random_states(robot, 4, seed=4, n_vectors=1)[0]
    for method in ("crba", "gdahj"):
        M = tf.mass_matrix(robot, q, method=method)
        assert np.array_equal(M, np.swapaxes(M, -1, -2))
        assert np.linalg.eigvalsh(M).min() > 0


def test_inverse_dynamics_is_sum_of_its_parts(robot):
    q, qd, qdd = random_states(robot, 4, seed=5)
    tau = tf.inverse_dynamics(robot, q, qd, qdd)
    bias = times(tf.coriolis_matrix(robot, q, qd), qd) + tf.gravity_torque(robot, q)
    assert_close(tf.bias_torque(robot, q, qd), bias)
    assert_close(times(tf.mass_matrix(robot, q), qdd) + bias + tf.friction(robot, qd), tau)


def test_regressor_times_parameters_is_torque(robot):
    q, qd, qdd = random_states(robot, 4, seed=6)
    tau = tf.inverse_dynamics(robot, q, qd, qdd)
    assert_close(tf.regressor(robot, q, qd, qdd) @ robot.parameters, tau)


def test_reference_regressor_is_mass_coriolis_gravity_and_friction(robot):
    q, qd, qd_r, qdd_r = random_states(robot, 4, seed=7, n_vectors=4)
    expected = (
        times(tf.mass_matrix(robot, q), qdd_r)
        + times(tf.coriolis_matrix(robot, q, qd), qd_r)
        + tf.gravity_torque(robot, q)
        + tf.friction(robot, qd)
    )
    assert_close(tf.slotine_li_regressor(robot, q, qd, qd_r, qdd_r) @ robot.parameters, expected)
    assert_close(tf.slotine_li_regressor(robot, q, qd, qd, qdd_r), tf.regressor(robot, q, qd, qdd_r))


def test_energy_regressor_times_parameters_is_energy(robot):
    q, qd = random_states(robot, 4, seed=8, n_vectors=2)
    kinetic, potential = tf.kinetic_energy(robot, q, qd), tf.potential_energy(robot, q)
    assert_close(np.einsum("ki,kij,kj->k", qd, tf.mass_matrix(robot, q), qd) / 2, kinetic)
    for energy, expected in (("kinetic", kinetic), ("potential", potential), ("total", kinetic + potential)):
        assert_close(tf.energy_regressor(robot, q, qd, energy=energy) @ robot.parameters, expected)


def test_gravity_torque_is_gradient_of_potential_energy(robot):
    q = random_states(robot, 4, seed=9, n_vectors=1)[0]
    gradient = [along(lambda q: tf.potential_energy(robot, q), q, unit) for unit in np.eye(robot.n_joints)]
    assert_close(np.stack(gradient, axis=-1), tf.gravity_torque(robot, q))


@pytest.mark.parametrize("method", ["aba", "mass_matrix"])
def test_forward_of_inverse_is_identity(robot, method):
    q, qd, qdd = random_states(robot, 4, seed=10)
    tau = tf.inverse_dynamics(robot, q, qd, qdd)
    assert_close(tf.forward_dynamics(robot, q, qd, tau, method=method), qdd, 1e-11)


def test_jacobian_times_velocity_is_rate_of_placement(robot):
    q, qd = random_states(robot, 4, seed=11, n_vectors=2)
    frame = robot.tool.name
    T, T_rate = tf.forward_kinematics(robot, q), along(lambda q: tf.forward_kinematics(robot, q), q, qd)
    R = T[..., :3, :3]
    spin = T_rate[..., :3, :3] @ np.swapaxes(R, -1, -2)
    w = np.stack([spin[..., 2, 1], spin[..., 0, 2], spin[..., 1, 0]], axis=-1)
    v = T_rate[..., :3, 3]
    assert_close(times(tf.jacobian(robot, q, frame), qd), np.concatenate([w, v], axis=-1))
    local = np.concatenate([times(np.swapaxes(R, -1, -2), w), times(np.swapaxes(R, -1, -2), v)], axis=-1)
    assert_close(times(tf.jacobian(robot, q, axes="local"), qd), local)


def with_other_link_frames(robot: tf.Robot, seed: int) -> tf.Robot:
    """Each link frame turned about its joint axis and moved along it: the same mechanism, described otherwise."""
    rng = np.random.default_rng(seed)
    moves = []
    for _ in robot.joints:
        G = np.eye(4)
        G[:3, :3] = Rotation.from_rotvec([0, 0, rng.uniform(-3, 3)]).as_matrix()
        G[2, 3] = rng.uniform(-1, 1)
        moves.append(G)
    joints = tuple(
        replace(
            joint,
            parent_from_joint=(inverse(moves[joint.parent]) if joint.parent >= 0 else np.eye(4))
            @ joint.parent_from_joint
            @ G,
        )
        for joint, G in zip(robot.joints, moves, strict=True)
    )
    links = tuple(
        replace(link, inertia=link.inertia.moved(inverse(G))) for link, G in zip(robot.links, moves, strict=True)
    )
    frames = tuple(Frame(f.name, f.link, inverse(moves[f.link]) @ f.link_from_frame) for f in robot.frames)
    return replace(robot, joints=joints, links=links, frames=frames)


def test_choice_of_link_frames_does_not_matter(robot):
    other = with_other_link_frames(robot, seed=12)
    q, qd, qdd = random_states(robot, 4, seed=12)
    for quantity in (
        lambda r: tf.inverse_dynamics(r, q, qd, qdd),
        lambda r: tf.mass_matrix(r, q),
        lambda r: tf.coriolis_matrix(r, q, qd),
        lambda r: tf.kinetic_energy(r, q, qd),
        lambda r: tf.potential_energy(r, q),
        lambda r: tf.forward_kinematics(r, q),
        lambda r: tf.jacobian(r, q, axes="local"),
    ):
        assert_close(quantity(other), quantity(robot), 1e-11)
    assert_close(tf.forward_dynamics(other, q, qd, qdd), tf.forward_dynamics(robot, q, qd, qdd), 1e-9)


def test_payload_adds_its_own_dynamics():
    robot = random_tree(5, seed=5)
    carried = tf.Inertia.of(2.0, [0.1, 0.2, 0.3], np.eye(3), inertia_about="com")
    q, qd = random_states(robot, 3, seed=14, n_vectors=2)
    loaded = robot.with_payload(carried)
    J = tf.jacobian(robot, q, axes="local")
    twist = times(J, qd)
    w, v = twist[..., :3], twist[..., 3:]
    h = carried.first_moment
    kinetic = (
        carried.mass * (v * v).sum(-1) / 2 + (v * np.cross(w, h)).sum(-1) + (w * times(carried.tensor, w)).sum(-1) / 2
    )
    assert_close(tf.kinetic_energy(loaded, q, qd) - tf.kinetic_energy(robot, q, qd), kinetic, 1e-10)


def test_base_placement_only_turns_gravity():
    robot = random_tree(6, seed=6)
    q, qd, qdd = random_states(robot, 3, seed=15)
    world_from_base = translation([0.3, -0.2, 0.4]) @ rotation_rpy([1.0, -0.5, 2.0])
    joints = tuple(
        replace(j, parent_from_joint=world_from_base @ j.parent_from_joint) if j.parent < 0 else j for j in robot.joints
    )
    moved = replace(robot, joints=joints, gravity=world_from_base[:3, :3] @ robot.gravity)
    assert_close(tf.inverse_dynamics(moved, q, qd, qdd), tf.inverse_dynamics(robot, q, qd, qdd))
    assert_close(tf.gravity_torque(moved, q), tf.gravity_torque(robot, q))
