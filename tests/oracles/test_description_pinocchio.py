"""What our readers read moves as what Pinocchio reads from the same file."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

import tauform as tf
from real_robots import all_urdfs, pinocchio_order, pinocchio_state, urdf, without_losses
from sampling import representatives
from tauform.errors import DescriptionError

NAMED = [
    *("panda", "ur3_robot", "ur5_robot", "ur10_robot", "kinova", "xarm7", "talos_left_arm", "tiago_no_hand"),
    *("solo12", "anymal", "iiwa14"),
]
# Files that hold no robot of ours, and the reason.
NOT_A_ROBOT = {
    "quadrotor_base": "no moving joint",
    "iris_simple": "no moving joint",
    "ur3": "<robot> has no name",  # a xacro fragment under a URDF's name
}


def relative_torque_error(path: Path, n_states: int) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a file with a broken mimic warns; see tests/description
        robot = without_losses(tf.load(path))
    model = pin.buildModelFromUrdf(str(path))
    data, order = model.createData(), pinocchio_order(model, robot)
    assert sorted(order) == list(range(model.nv))
    rng = np.random.default_rng(7)
    q = rng.uniform(-np.pi, np.pi, (n_states, robot.n_joints))
    qd, qdd = rng.normal(size=(2, n_states, robot.n_joints))
    ours = tf.inverse_dynamics(robot, q, qd, qdd)
    theirs = np.zeros_like(ours)
    for k in range(n_states):
        v, a = np.zeros((2, model.nv))
        v[order], a[order] = qd[k], qdd[k]
        theirs[k] = pin.rnea(model, data, pinocchio_state(model, robot, q[k]), v, a)[order]
    return float(np.abs(ours - theirs).max() / np.abs(theirs).max())


@pytest.mark.parametrize("name", NAMED)
def test_urdf_torque_equals_rnea(name: str) -> None:
    assert relative_torque_error(urdf(name), n_states=20) < 1e-12


OTHERS = [path for path in all_urdfs() if path.stem in NOT_A_ROBOT]


@pytest.mark.parametrize("path", representatives(all_urdfs(), *all_urdfs()[::3], *OTHERS), ids=lambda path: path.stem)
def test_every_urdf_loads_with_rnea_torque_or_says_why_not(path: Path) -> None:
    if path.stem in NOT_A_ROBOT:
        with pytest.raises(DescriptionError, match=NOT_A_ROBOT[path.stem]):
            tf.load(path)
    else:
        assert relative_torque_error(path, n_states=2) < 1e-10


def test_frames_of_fixed_links_stand_where_pinocchio_puts_them() -> None:
    path = urdf("panda")
    robot = without_losses(tf.load(path))
    model = pin.buildModelFromUrdf(str(path))
    data = model.createData()
    q = np.random.default_rng(3).uniform(-1, 1, robot.n_joints)
    pin.framesForwardKinematics(model, data, pinocchio_state(model, robot, q))
    for name in ("panda_link8", "panda_hand", "panda_link3", "panda_leftfinger"):
        theirs = data.oMf[model.getFrameId(name, pin.FrameType.BODY)].homogeneous
        np.testing.assert_allclose(tf.forward_kinematics(robot, q, name), theirs, rtol=0, atol=1e-12)


def test_locked_robot_equals_pinocchio_reduced_model() -> None:
    path = urdf("panda")
    lock = {"panda_joint3": 0.4, "panda_finger_joint1": 0.02}
    robot = without_losses(tf.load(path, lock=lock))
    full = pin.buildModelFromUrdf(str(path))
    q_lock = pin.neutral(full)
    for name, value in {**lock, "panda_finger_joint2": 0.02}.items():
        q_lock[full.joints[full.getJointId(name)].idx_q] = value
    ids = [full.getJointId(name) for name in ("panda_joint3", "panda_finger_joint1", "panda_finger_joint2")]
    model = pin.buildReducedModel(full, ids, q_lock)
    q, qd, qdd = np.random.default_rng(1).normal(size=(3, 6))
    theirs = pin.rnea(model, model.createData(), q, qd, qdd)
    np.testing.assert_allclose(tf.inverse_dynamics(robot, q, qd, qdd), theirs, rtol=0, atol=1e-12)
