"""Shapes, batches, complex numbers and bad input of the textbook algorithms."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tauform as tf
from random_robots import random_states, random_tree
from tauform.description.inertia import Inertia
from tauform.errors import ShapeError, SingularMassMatrixError, UnknownNameError

ROBOT = random_tree(4, seed=4)
FUNCTIONS = {
    "inverse_dynamics": 3,
    "forward_dynamics": 3,
    "mass_matrix": 1,
    "coriolis_matrix": 2,
    "gravity_torque": 1,
    "bias_torque": 2,
    "kinetic_energy": 2,
    "potential_energy": 1,
    "regressor": 3,
    "energy_regressor": 2,
    "slotine_li_regressor": 4,
    "forward_kinematics": 1,
    "link_placements": 1,
    "jacobian": 1,
    "friction": 1,
}


@pytest.mark.parametrize(("name", "n_arguments"), FUNCTIONS.items())
def test_batch_equals_one_at_a_time(name, n_arguments):
    function = getattr(tf, name)
    vectors = random_states(ROBOT, 6, seed=1, n_vectors=n_arguments)
    one_by_one = np.array([function(ROBOT, *vectors[:, k]) for k in range(6)])
    np.testing.assert_allclose(function(ROBOT, *vectors), one_by_one, rtol=0, atol=1e-13)
    nested = function(ROBOT, *vectors.reshape(n_arguments, 2, 3, ROBOT.n_joints))
    np.testing.assert_allclose(nested.reshape(one_by_one.shape), one_by_one, rtol=0, atol=1e-13)
    # one state against many, and no states at all
    np.testing.assert_allclose(function(ROBOT, vectors[0], *vectors[1:, :1])[0], one_by_one[0], rtol=0, atol=1e-13)
    assert function(ROBOT, *vectors[:, :0]).shape == (0, *one_by_one.shape[1:])


@pytest.mark.parametrize(("name", "n_arguments"), FUNCTIONS.items())
def test_wrong_input_is_named(name, n_arguments):
    function = getattr(tf, name)
    good = np.zeros((n_arguments, 4))
    with pytest.raises(ShapeError, match=r"expected shape \(\.\.\., 4\)"):
        function(ROBOT, *good[:-1], np.zeros(5))
    bad = good.copy()
    bad[-1, 2] = np.nan
    with pytest.raises(ShapeError, match="not finite"):
        function(ROBOT, *bad)


@pytest.mark.parametrize(("name", "n_arguments"), FUNCTIONS.items())
def test_complex_step_in_one_vector_keeps_its_imaginary_part(name, n_arguments):
    function = getattr(tf, name)
    vectors = list(random_states(ROBOT, 1, seed=2, n_vectors=n_arguments)[:, 0])
    direction = np.ones(4)
    for k in range(n_arguments):
        stepped = [*vectors[:k], vectors[k] + 1e-30j * direction, *vectors[k + 1 :]]
        derivative = np.imag(function(ROBOT, *stepped)) / 1e-30
        h = 1e-6
        up = function(ROBOT, *vectors[:k], vectors[k] + h * direction, *vectors[k + 1 :])
        down = function(ROBOT, *vectors[:k], vectors[k] - h * direction, *vectors[k + 1 :])
        np.testing.assert_allclose(derivative, (up - down) / (2 * h), rtol=0, atol=1e-6 * max(1, np.abs(up).max()))


def test_batches_that_do_not_broadcast():
    with pytest.raises(ShapeError, match="broadcast"):
        tf.inverse_dynamics(ROBOT, np.zeros((3, 4)), np.zeros((2, 4)), np.zeros(4))


@pytest.mark.parametrize(
    "call",
    [
        lambda: tf.mass_matrix(ROBOT, np.zeros(4), method="lagrange"),
        lambda: tf.forward_dynamics(ROBOT, *np.zeros((3, 4)), method="lagrange"),
        lambda: tf.regressor(ROBOT, *np.zeros((3, 4)), include=["mass"]),
        lambda: tf.energy_regressor(ROBOT, *np.zeros((2, 4)), energy="dark"),
        lambda: tf.jacobian(ROBOT, np.zeros(4), axes="body"),
        lambda: tf.forward_kinematics(ROBOT, np.zeros(4), frame="hand"),
    ],
)
def test_unknown_choice_is_named(call):
    with pytest.raises(UnknownNameError, match=r"lagrange|mass|dark|body|hand"):
        call()


def test_regressor_keeps_the_chosen_columns():
    vectors = random_states(ROBOT, 3, seed=3)
    Y = tf.regressor(ROBOT, *vectors)
    for include in (("link",), ("rotor", "viscous"), ("link", "coulomb", "offset")):
        chosen = list(ROBOT.columns(include))
        np.testing.assert_array_equal(tf.regressor(ROBOT, *vectors, include=include), Y[..., chosen])


@pytest.mark.parametrize("method", ["aba", "mass_matrix"])
def test_link_without_inertia_is_named(method):
    joints = tuple(replace(joint, rotor_inertia=None) for joint in ROBOT.joints)
    links = (*ROBOT.links[:-1], replace(ROBOT.links[-1], inertia=Inertia.zero()))
    empty = replace(ROBOT, joints=joints, links=links)
    with pytest.raises(SingularMassMatrixError, match=r"link4.*joint4"):
        tf.forward_dynamics(empty, *np.zeros((3, 4)), method=method)
    # a rotor is inertia enough
    driven = replace(empty, joints=(*joints[:-1], replace(joints[-1], rotor_inertia=0.1)))
    assert np.isfinite(tf.forward_dynamics(driven, *np.zeros((3, 4)), method=method)).all()


@pytest.mark.parametrize("method", ["aba", "mass_matrix"])
def test_unphysical_inertia_is_named(method):
    ten = np.array(ROBOT.links[1].inertia.parameters)
    ten[4:] = [-5, 0, -5, 0, 0, -5]
    ten[0] = 1e-3
    robot = replace(
        random_tree(4, seed=4, prismatic=0.0),
        links=(ROBOT.links[0], replace(ROBOT.links[1], inertia=Inertia(ten)), *ROBOT.links[2:]),
    )
    with pytest.raises(SingularMassMatrixError, match="positive definite"):
        tf.forward_dynamics(robot, *np.zeros((3, 4)), method=method)


def test_friction_is_zero_at_rest_except_for_the_offset():
    np.testing.assert_allclose(tf.friction(ROBOT, np.zeros(4)), [joint.offset for joint in ROBOT.joints])
