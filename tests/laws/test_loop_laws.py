"""Loop constraints against a parallelogram whose dynamics are derived by hand; loops that close by their geometry."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from random_robots import random_states
from tauform.description.joint import Joint, Link
from tauform.description.robot import Robot
from tauform.errors import DescriptionError, LoopError

G = 9.81
L1, L2 = 0.5, 0.2  # the crank at angle a; the lever at angle b
MASSES, COMS, SPINS = (3.0, 1.0, 0.7, 2.0), (0.2, 0.1, 0.25, 0.35), (0.05, 0.01, 0.02, 0.04)
ROTORS, VISCOUS, COULOMB = (0.3, 0.02, 0.2, 0.01), (1.0, 0.5, 0.7, 0.3), (0.4, 0.1, 0.2, 0.6)


@pytest.fixture(scope="module")
def parallelogram() -> Robot:
    """Bars 1 (crank, angle a) and 2 (lever, angle b) on the base; 3 at the end of 2, parallel to 1; 4 at the end of 1,
    parallel to 2. Motion in the x-y plane, gravity along -y. Tree order: 1, 4, 2, 3."""

    def joint(k: int, parent: int, x: float) -> Joint:
        T = np.eye(4)
        T[0, 3] = x
        return Joint(
            f"bar{k}",
            "revolute",
            parent,
            T,
            rotor_inertia=ROTORS[k - 1],
            viscous=VISCOUS[k - 1],
            coulomb=COULOMB[k - 1],
        )

    def link(k: int) -> Link:
        tensor = np.diag([0.0, SPINS[k - 1], SPINS[k - 1]])
        return Link(f"bar{k}", tf.Inertia.of(MASSES[k - 1], [COMS[k - 1], 0, 0], tensor, inertia_about="com"))

    joints = (joint(1, -1, 0.0), joint(4, 0, L1), joint(2, -1, 0.0), joint(3, 2, L2))
    robot = Robot("parallelogram", joints, (link(1), link(4), link(2), link(3)), np.array([0.0, -G, 0.0]))
    # (a, b - a, b, a - b)
    return robot.with_loops([[1, 0], [-1, 1], [0, 1], [1, -1]], np.zeros(4), ["bar1", "bar2"])


def by_hand(q, qd, qdd):
    """Lagrange's equations in the absolute angles a and b."""
    (m1, m2, m3, m4), (c1, c2, c3, c4), (i1, i2, i3, i4) = MASSES, COMS, SPINS
    (a, b), (ad, bd), (add, bdd) = q.T, qd.T, qdd.T
    r1, r2, r3, r4 = ROTORS
    relative = r3 + r4  # rotors of the passive joints turn at a - b
    M11 = m1 * c1**2 + m3 * c3**2 + m4 * L1**2 + i1 + i3 + r1 + relative
    M22 = m2 * c2**2 + m3 * L2**2 + m4 * c4**2 + i2 + i4 + r2 + relative
    k = m3 * L2 * c3 + m4 * L1 * c4
    M12 = k * np.cos(a - b) - relative
    g1 = G * np.cos(a) * (m1 * c1 + m3 * c3 + m4 * L1)
    g2 = G * np.cos(b) * (m2 * c2 + m3 * L2 + m4 * c4)
    f34 = (VISCOUS[2] + VISCOUS[3]) * (ad - bd) + (COULOMB[2] + COULOMB[3]) * np.sign(ad - bd)
    f1 = VISCOUS[0] * ad + COULOMB[0] * np.sign(ad) + f34
    f2 = VISCOUS[1] * bd + COULOMB[1] * np.sign(bd) - f34
    tau1 = M11 * add + M12 * bdd + k * np.sin(a - b) * bd**2 + g1 + f1
    tau2 = M12 * add + M22 * bdd - k * np.sin(a - b) * ad**2 + g2 + f2
    return np.stack([tau1, tau2], axis=-1)


def test_inverse_dynamics_is_that_of_the_parallelogram(parallelogram):
    q, qd, qdd = random_states(parallelogram, 50, seed=1)
    tau = by_hand(q, qd, qdd)
    np.testing.assert_allclose(
        tf.inverse_dynamics(parallelogram, q, qd, qdd), tau, rtol=0, atol=1e-12 * np.abs(tau).max()
    )
    Y = tf.regressor(parallelogram, q, qd, qdd)
    assert Y.shape == (50, 2, 56)
    np.testing.assert_allclose(Y @ parallelogram.parameters, tau, rtol=0, atol=1e-12 * np.abs(tau).max())


def test_forward_of_inverse_is_identity(parallelogram):
    q, qd, qdd = random_states(parallelogram, 50, seed=2)
    for method in ("aba", "mass_matrix"):
        np.testing.assert_allclose(
            tf.forward_dynamics(parallelogram, q, qd, by_hand(q, qd, qdd), method=method), qdd, rtol=0, atol=1e-12
        )


def test_coriolis_and_energy_of_the_active_joints(parallelogram):
    q, qd = random_states(parallelogram, 20, seed=3, n_vectors=2)
    C, M = tf.coriolis_matrix(parallelogram, q, qd), tf.mass_matrix(parallelogram, q)
    M_rate = tf.mass_matrix(parallelogram, q + 1e-30j * qd).imag / 1e-30
    skew = M_rate - 2 * C
    np.testing.assert_allclose(skew, -np.swapaxes(skew, 1, 2), rtol=0, atol=1e-13)
    np.testing.assert_allclose(
        tf.bias_torque(parallelogram, q, qd),
        (C @ qd[..., None])[..., 0] + tf.gravity_torque(parallelogram, q),
        rtol=0,
        atol=1e-12,
    )
    np.testing.assert_allclose(
        tf.kinetic_energy(parallelogram, q, qd), np.einsum("ki,kij,kj->k", qd, M, qd) / 2, rtol=0, atol=1e-13
    )


def test_jacobian_of_a_carried_frame(parallelogram):
    q = random_states(parallelogram, 5, seed=4, n_vectors=1)[0]
    J = tf.jacobian(parallelogram, q, frame="bar4")
    assert J.shape == (5, 6, 2)
    # the origin of bar 4 is the end of bar 1; bar 4 itself turns with b
    np.testing.assert_allclose(J[:, 3, 0], -L1 * np.sin(q[:, 0]), rtol=0, atol=1e-15)
    np.testing.assert_allclose(J[:, 3, 1], 0, rtol=0, atol=1e-15)
    np.testing.assert_allclose(J[:, 2], np.tile([0.0, 1.0], (5, 1)), rtol=0, atol=1e-15)


def solved_loop() -> Robot:
    """A four-bar on a column, with a pivot that is almost on its line, and a tool to carry things."""
    robot = tf.load("four_bar")
    almost = np.array(robot.joints[2].parent_from_joint)
    almost[1, 3] = 1e-3
    joints = (*robot.joints[:2], replace(robot.joints[2], parent_from_joint=almost), *robot.joints[3:])
    start = {"crank": 1.0, "coupler": -0.7, "rocker": 1.6}
    tree = replace(robot, closure=None, joints=joints)
    return tree.with_closed_loop("four-bar", ["coupler_end", "rocker_end"], ["coupler", "rocker"], start=start)


# Every method that makes a robot of one with a loop, but those that refuse it.
CHANGES: dict[str, Callable[[Robot], Robot]] = {
    "with_payload": lambda robot: robot.with_payload(tf.Inertia.of(2.0), "coupler_end"),
    "with_tool": lambda robot: robot.with_tool([0.1, 0.0, 0.2]),
    "with_masses": lambda robot: robot.with_masses({"rocker_arm": 5.0}),
    "with_gravity": lambda robot: robot.with_gravity([1.0, 2.0, 3.0]),
    "with_parameters": lambda robot: robot.with_parameters(2 * np.array(robot.parameters)),
    "with_drives": lambda robot: robot.with_drives([tf.Drive.of("viscous", joints=0, coefficient=1.0)]),
    "without_drives": lambda robot: robot.without_drives(),
    "without_friction": lambda robot: robot.without_friction(),
    "locked": lambda robot: robot.locked({"yaw": 0.3}),
    "snapped": lambda robot: robot.snapped(0.01),
    "with_geometry": lambda robot: robot.with_geometry([0.0] * 3 + [0.02, 0.01, -0.03] + [0.0] * 15 + [0.01, 0.0, 0.0]),
    "with_relations": lambda robot: robot.with_relations({"crank": {"yaw": 0.2, "": 1.0}}),
    "with_base_parameters": lambda robot: robot.with_base_parameters(tf.base_parameters(robot).values(robot)),
}
REFUSED = {"up_to", "with_loops"}


def test_every_change_of_a_robot_is_tried() -> None:
    annotations = {name: getattr(method, "__annotations__", {}) for name, method in vars(Robot).items()}
    made = {name for name, own in annotations.items() if own.get("return") == "Robot"}
    assert made == {*CHANGES, *REFUSED, "from_dh", "with_closed_loop"}


@pytest.mark.parametrize("change", CHANGES)
def test_loops_stay_closed_whatever_is_changed(change: str, tmp_path: Path) -> None:
    robot = CHANGES[change](solved_loop())
    q = np.full((1, robot.n_joints), 0.2) * np.linspace(0.5, 1.5, 5)[:, None]
    ends = [tf.forward_kinematics(robot, q, frame=name)[:, :3, 3] for name in ("coupler_end", "rocker_end")]
    np.testing.assert_allclose(*ends, rtol=0, atol=1e-12)
    # What the file says is the robot, not a copy of an older geometry.
    again = tf.load(robot.save(tmp_path / "loop.toml").path)
    motion = (q, 1 + q, 2 + q)
    np.testing.assert_array_equal(tf.inverse_dynamics(again, *motion), tf.inverse_dynamics(robot, *motion))


def test_a_geometry_that_opens_a_loop_is_refused() -> None:
    with pytest.raises(LoopError, match="four-bar"):
        solved_loop().with_geometry([0.0] * 21 + [5.0, 0.0, 0.0])
    with pytest.raises(DescriptionError, match="tool: a loop closes at frame 'coupler_end'"):
        replace(solved_loop(), tip="coupler_end").with_tool([0.1, 0.0, 0.0])
    with pytest.raises(DescriptionError, match="tip: four_bar has joints"):
        solved_loop().up_to("coupler_rod")
    with pytest.raises(DescriptionError, match="not linear"):
        solved_loop().with_loops(np.zeros((4, 2)), np.zeros(4), ["yaw", "crank"])
