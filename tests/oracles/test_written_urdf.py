"""URDFs that we write: Pinocchio and MuJoCo compute from the file what we compute from the robot, and so do we."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

import tauform as tf
from random_robots import random_tree
from real_robots import pinocchio_order, pinocchio_state, urdf
from tauform.description.joint import Limits

ARMS = ["panda", "ur5_robot", "kinova", "xarm7", "talos_left_arm", "tiago_no_hand", "solo12", "iiwa14"]
N_STATES = 10
# Joints that follow several others, or one by a function: a URDF has them free, and says so.
LOOPS = ("four_bar", "hitachi_hpr_gautier")
# Base parameters in place of links, and a joint that follows two.
NOT_A_URDF = ("puma260_izaguirre", "puma260_izaguirre_all", "puma560_gautier", "parallelogram", *LOOPS)


def limited_tree(seed: int) -> tf.Robot:
    """A random tree with limits of every kind: none, on one side, of the speed alone."""
    robot = random_tree(8, seed)
    kinds = (Limits(), Limits(-1.0, 2.0, 3.0, 40.0), Limits(upper=1.5), Limits(velocity=2.0))
    return replace(robot, joints=tuple(replace(j, limits=kinds[i % 4]) for i, j in enumerate(robot.joints)))


def carrying() -> tf.Robot:
    payload = tf.Inertia.of(1.5, [0.1, 0.0, 0.2], [0.01, 0.02, 0.02, 0.0, 0.0, 0.0], inertia_about="com")
    return tf.load("kr6_r700").with_payload(payload)


def robots() -> list[tf.Robot]:
    trees = [limited_tree(seed) for seed in range(6)]
    return [*trees, *(tf.load(name) for name in tf.robots() if name not in NOT_A_URDF), carrying()]


def rigid_parts(robot: tf.Robot) -> tf.Robot:
    """The robot without what a URDF cannot hold or Pinocchio leaves out: rotors and friction."""
    return robot.with_parameters(np.where(np.arange(robot.layout.n) < robot.layout.links.stop, robot.parameters, 0.0))


def theirs(model: pin.Model, robot: tf.Robot, states: np.ndarray) -> tuple[np.ndarray, ...]:
    """Pinocchio's torques, mass matrices and accelerations on the joints of the tree, in our order."""
    data, order = model.createData(), pinocchio_order(model, robot)
    model.gravity.linear = np.array(robot.gravity)
    torques, matrices, accelerations = [], [], []
    for q, qd, qdd in zip(*states, strict=True):
        place, v, a = pinocchio_state(model, robot, q), np.zeros(model.nv), np.zeros(model.nv)
        v[order], a[order] = qd, qdd
        torques.append(pin.rnea(model, data, place, v, a)[order])
        upper = np.triu(pin.crba(model, data, place))
        matrices.append((upper + np.triu(upper, 1).T)[np.ix_(order, order)])
        accelerations.append(pin.aba(model, data, place, v, pin.rnea(model, data, place, v, a))[order])
    return np.array(torques), np.array(matrices), np.array(accelerations)


def check_same(robot: tf.Robot, path: Path) -> None:
    """The file, read by Pinocchio and by us, against the robot."""
    again = tf.load(path, gravity=robot.gravity)
    assert again.joint_names == robot.joint_names
    assert [joint.limits for joint in again.joints] == [joint.limits for joint in robot.joints]
    rigid = rigid_parts(robot)
    F, offset = (robot.closure.F, robot.closure.offset) if robot.closure else (np.eye(robot.n_bodies), 0.0)
    q, qd, qdd = np.random.default_rng(5).normal(size=(3, N_STATES, robot.n_joints))
    model = pin.buildModelFromUrdf(str(path))
    tau, M, a = theirs(model, robot, np.array([q @ F.T + offset, qd @ F.T, qdd @ F.T]))
    # tau = F^T tau_tree and M = F^T M_tree F, by virtual work
    np.testing.assert_allclose(tf.inverse_dynamics(rigid, q, qd, qdd), tau @ F, rtol=0, atol=1e-12 * np.abs(tau).max())
    np.testing.assert_allclose(tf.mass_matrix(rigid, q), F.T @ M @ F, rtol=0, atol=1e-12 * np.abs(M).max())
    if robot.closure is None:
        ours = tf.forward_dynamics(rigid, q, qd, tau)
        np.testing.assert_allclose(ours, a, rtol=0, atol=1e-10 * np.abs(a).max())
    np.testing.assert_allclose(
        tf.inverse_dynamics(rigid_parts(again), q, qd, qdd), tau @ F, rtol=0, atol=1e-12 * np.abs(tau).max()
    )
    for name in ("viscous", "coulomb"):
        assert [getattr(joint, name) for joint in again.joints] == [getattr(joint, name) for joint in robot.joints]


@pytest.mark.parametrize("robot", robots(), ids=lambda robot: robot.name)
def test_written_urdf_has_the_dynamics_of_the_robot(robot: tf.Robot, tmp_path: Path) -> None:
    robot.save(tmp_path / "written.urdf")
    check_same(robot, tmp_path / "written.urdf")


@pytest.mark.parametrize("name", LOOPS)
def test_a_urdf_of_loops_says_which_joints_are_free(name: str, tmp_path: Path) -> None:
    robot = tf.load(name)
    said = robot.save(tmp_path / "written.urdf").findings
    free = set(tf.load(tmp_path / "written.urdf").joint_names) - set(robot.joint_names)
    assert free
    for joint in free:
        assert any(f"so {joint!r}, which" in sentence and "is free here" in sentence for sentence in said)


@pytest.mark.parametrize("name", ARMS)
def test_real_arm_survives_a_round_trip(name: str, tmp_path: Path) -> None:
    robot = tf.load(urdf(name))
    robot.save(tmp_path / "written.urdf")
    check_same(robot, tmp_path / "written.urdf")
    again = tf.load(tmp_path / "written.urdf")
    q = np.random.default_rng(2).uniform(-1, 1, robot.n_joints)
    for frame in robot.frames:
        ours, back = (tf.forward_kinematics(r, q, frame.name) for r in (robot, again))
        np.testing.assert_allclose(back, ours, rtol=0, atol=1e-12)
    assert sorted(frame.name for frame in again.frames) == sorted(frame.name for frame in robot.frames)
    assert len(again.shapes) == len(robot.shapes)


@pytest.mark.parametrize("seed", range(4))
def test_mujoco_reads_the_same_inertias_damping_and_friction(seed: int, tmp_path: Path) -> None:
    mujoco = pytest.importorskip("mujoco")
    robot = limited_tree(seed)
    path = robot.save(tmp_path / "written.urdf").path
    model = mujoco.MjModel.from_xml_path(str(path))
    data, matrix = mujoco.MjData(model), np.zeros((model.nv, model.nv))
    joints = [model.joint(name) for name in robot.joint_names]
    q = np.random.default_rng(seed).normal(size=robot.n_joints)
    data.qpos[[joint.qposadr[0] for joint in joints]] = q
    mujoco.mj_forward(model, data)
    mujoco.mj_fullM(model, data, matrix)
    order = [joint.dofadr[0] for joint in joints]
    M = matrix[np.ix_(order, order)]
    np.testing.assert_allclose(tf.mass_matrix(rigid_parts(robot), q), M, rtol=0, atol=1e-12 * np.abs(M).max())
    np.testing.assert_allclose(model.dof_damping[order], [joint.viscous for joint in robot.joints])
    np.testing.assert_allclose(model.dof_frictionloss[order], [joint.coulomb for joint in robot.joints])
