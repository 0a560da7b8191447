"""What each type of joint says about itself agrees with its transform."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from tauform.description.joint import Joint
from tauform.description.joint_types import JOINT_TYPES, JointType, joint_type
from tauform.description.parametric import random_inertia, random_robot
from tauform.errors import DescriptionError
from tauform.rigidbody.sweeps.spatial import cross_force, cross_motion, inertia_times

# Those of several coordinates say less of themselves: `tests/oracles/test_further_joint_types.py` has one.
every_type = pytest.mark.parametrize("joint", [own for own in JOINT_TYPES.values() if own.n_v == 1], ids=str)


def motion_subspace(joint: JointType) -> np.ndarray:
    return joint.moved(np.zeros(6), 1.0)


@every_type
def test_motion_subspace_is_the_derivative_of_the_transform(joint: JointType) -> None:
    q, h = 0.7, 1e-6
    rate = (joint.motion(q + h) - joint.motion(q - h)) / (2 * h)
    twist = np.linalg.inv(joint.motion(q)) @ rate  # [w]x, v in the link's frame
    w = [twist[2, 1], twist[0, 2], twist[1, 0]]
    np.testing.assert_allclose([*w, *twist[:3, 3]], motion_subspace(joint), rtol=0, atol=1e-9)
    about, along = joint.screw
    np.testing.assert_array_equal(motion_subspace(joint), [0, 0, about, 0, 0, along])


@every_type
def test_products_with_the_motion_subspace_are_those_of_spatial_algebra(joint: JointType) -> None:
    S, a = motion_subspace(joint), np.random.default_rng(0).normal(size=6)
    np.testing.assert_array_equal(joint.axis_rate(a), cross_motion(a, S))
    np.testing.assert_array_equal(joint.axis_cross_force(a), cross_force(S, a))
    assert joint.felt(a) == pytest.approx(S @ a, rel=1e-15)


@every_type
def test_batches_are_placed_as_single_positions(joint: JointType) -> None:
    rng = np.random.default_rng(1)
    R, p, q = np.linalg.qr(rng.normal(size=(3, 3)))[0], rng.normal(size=3), rng.normal(size=4)
    turned, moved = joint.placed(R[:, :, None], p[:, None], q)
    parent_from_joint = np.block([[R, p[:, None]], [np.zeros((1, 3)), np.ones((1, 1))]])
    for k, position in enumerate(q):
        T = parent_from_joint @ joint.motion(position)
        np.testing.assert_allclose(turned[:, :, k], T[:3, :3], rtol=0, atol=1e-15)
        np.testing.assert_allclose(moved[:, k], T[:3, 3], rtol=0, atol=1e-15)
        S = motion_subspace(joint)
        in_base = [*(T[:3, :3] @ S[:3]), *(np.cross(T[:3, 3], T[:3, :3] @ S[:3]) + T[:3, :3] @ S[3:])]
        np.testing.assert_allclose(joint.axis_in(T[:3, :3, None], T[:3, 3, None])[:, 0], in_base, rtol=0, atol=1e-15)


@pytest.mark.parametrize("joint", [own for own in JOINT_TYPES.values() if own.has_functions], ids=str)
def test_functions_of_the_closed_form_are_those_of_the_transform(joint: JointType) -> None:
    own, q, h = joint.functions, 0.7, 1e-6
    np.testing.assert_allclose(
        own.values(q), [q**a * np.sin(q) ** b * np.cos(q) ** c for a, b, c in own.exponents[: len(own.values(q))]]
    )
    slope = (own.values(q + h) - own.values(q - h)) / (2 * h)
    np.testing.assert_allclose(own.values(q) @ own.derivative, slope, rtol=0, atol=1e-9)
    T, f = joint.motion(q), np.random.default_rng(2).normal(size=6)
    X = np.tensordot(own.values(q)[: len(own.wrench)], own.wrench, 1)
    force = T[:3, :3] @ f[3:]
    np.testing.assert_allclose(X @ f, [*(T[:3, :3] @ f[:3] + np.cross(T[:3, 3], force)), *force], rtol=0, atol=1e-14)
    ten = random_inertia(np.random.default_rng(3))
    np.testing.assert_allclose(
        np.tensordot(own.values(q), own.ten, 1) @ ten.parameters, ten.moved(T).parameters, atol=1e-15
    )
    momentum = inertia_times(ten.parameters[:, None], motion_subspace(joint)[:, None])[:, 0]
    np.testing.assert_allclose(own.momentum @ ten.parameters, momentum, rtol=0, atol=1e-15)


@every_type
def test_a_joint_brings_the_constants_that_its_type_needs(joint: JointType) -> None:
    assert joint_type(joint.name, joint.constants) == joint
    with pytest.raises(DescriptionError, match="has no such constant"):
        joint_type(joint.name, [*joint.constants, ("radius", 1.0)])
    for name, _ in joint.constants:
        with pytest.raises(DescriptionError, match=f"{name} is missing"):
            joint_type(joint.name, [pair for pair in joint.constants if pair[0] != name])


def test_a_constant_of_another_type_is_refused_where_the_joint_is_named() -> None:
    with pytest.raises(DescriptionError, match="joint 'j': radius: a revolute joint has no such constant"):
        Joint("j", "revolute", -1, np.eye(4), constants=(("radius", 1.0),))


def test_one_coordinate_per_joint_gives_vectors_of_one_length() -> None:
    robot = random_robot("RPR", seed=0)
    assert (robot.n_q, robot.n_v) == (robot.n_joints, robot.n_joints) == (3, 3)
    tree = robot.tree
    assert (tree.q_rows, tree.v_rows, tree.n_v) == ((0, 1, 2), (0, 1, 2), 3)
    follows = robot.with_relations({"joint3": {"joint1": 2.0}})
    assert (follows.n_q, follows.n_v) == (2, 2)


@every_type
def test_types_survive_pickling(joint: JointType) -> None:
    again = pickle.loads(pickle.dumps(joint))
    assert again == joint
    assert hash(again) == hash(joint)
    assert again not in [other for other in JOINT_TYPES.values() if other.name != joint.name]
