"""Closed forms of robots whose joints follow others linearly: mimic joints, parallelograms."""

from __future__ import annotations

import numpy as np
import pytest

import tauform as tf
from pinocchio_oracle import model_of, pin
from random_robots import random_tree
from sampling import representatives
from tauform.description.robot import Robot
from tauform.errors import ModelError

# Rows follow the first and the third joint: by a half, the other way round, twice one less another, by itself.
RATIOS = np.array([[1.0, 0.0], [0.5, 0.0], [0.0, 1.0], [2.0, -1.0], [-1.0, 1.0]])
OFFSETS = np.array([0.0, 0.3, 0.0, -0.2, np.pi / 2])
INCLUDE = ("link", "rotor")


def tied(tree: Robot) -> Robot:
    return tree.with_loops(RATIOS, OFFSETS, [tree.joint_names[j] for j in (0, 2)])


@pytest.mark.parametrize("seed", representatives(range(8), 1, 4))
def test_torques_are_pinocchios_on_random_trees(seed: int) -> None:
    """Turning and sliding joints, branches; tau = F^T rnea(F q + offset, F qd, F qdd)."""
    pair = model_of(random_tree(5, seed=seed, friction=False))
    robot = tied(pair.robot.rigid)
    bound = tf.derive(robot, include=INCLUDE).bind(robot)
    q, qd, qdd = np.random.default_rng(seed).uniform(-1, 1, (3, 4, 2))
    tau = bound.textbook.inverse_dynamics(q, qd, qdd)
    for k in range(len(q)):
        full = RATIOS @ q[k] + OFFSETS, RATIOS @ qd[k], RATIOS @ qdd[k]
        theirs = pin.rnea(pair.model, pair.data, pair.theirs(full[0]), *(pair.theirs_v(x) for x in full[1:]))
        expected = RATIOS.T @ theirs[pair.order]
        np.testing.assert_allclose(tau[k], expected, rtol=0, atol=1e-10 * np.abs(theirs).max())


@pytest.mark.parametrize("name", ["parallelogram", "hitachi_hpr_gautier"])
def test_all_quantities_and_programs_are_the_robots(name: str) -> None:
    robot = tf.load(name).rigid
    model = tf.derive(robot, include=INCLUDE)
    assert model.n_base == tf.base_parameters(robot, include=INCLUDE).n
    bound, states = model.bind(robot), np.random.default_rng(0).uniform(-1, 1, (3, 6, robot.n_joints))
    functions = {
        "inverse_dynamics": 3,
        "mass_matrix": 1,
        "coriolis_matrix": 2,
        "gravity_torque": 1,
        "forward_dynamics": 3,
    }
    for function, n_arguments in functions.items():
        expected = getattr(tf.textbook, function)(robot, *states[:n_arguments])
        found = getattr(bound.textbook, function)(*states[:n_arguments])
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11 * np.abs(expected).max())
    # A program compares itself with the model before it is handed out; here with the robot.
    kernel = tf.compile(tf.generate(bound, algorithm="factored"))
    expected = tf.textbook.inverse_dynamics(robot, *states)
    np.testing.assert_allclose(kernel(*states), expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def test_the_search_finds_as_many_terms() -> None:
    robot = tf.load("parallelogram").rigid
    columns = list(robot.columns(INCLUDE))

    def torque(q, qd, qdd, x):
        return tf.textbook.regressor(robot, q, qd, qdd, include=INCLUDE) @ x

    searched, model = tf.derive_from(torque, "RRR", len(columns)), tf.derive(robot, include=INCLUDE)
    assert (model.n_terms, model.n_base) == (searched.n_terms, searched.n_base)


def test_a_joint_that_follows_by_a_fraction_counts_in_it() -> None:
    robot = tied(random_tree(5, seed=1, friction=False, prismatic=0).rigid)
    model = tf.derive(robot, include=INCLUDE)
    np.testing.assert_array_equal(model.coordinates.scale, [0.5, 1.0])
    load = tf.Inertia.of(2.0, [0.1, 0.02, 0.03], np.diag([0.1, 0.1, 0.1]), inertia_about="com")
    states = np.random.default_rng(0).uniform(-1, 1, (3, 2))
    expected = tf.textbook.inverse_dynamics(robot.with_payload(load), *states)
    found = model.bind(robot, payload=load).textbook.inverse_dynamics(*states)
    np.testing.assert_allclose(found, expected, rtol=1e-10)
    smaller = model.bind(robot).with_terms(30, "slow")
    assert smaller.n_terms < model.n_terms


def test_what_is_not_derived_is_one_sentence() -> None:
    robot = tf.load("parallelogram")
    with pytest.raises(ModelError, match="loops that are not linear in q"):
        tf.derive(tf.load("four_bar"))
    with pytest.raises(ModelError, match="nothing can be assumed or fixed"):
        tf.derive(robot, assume={"my_1": 0})
    with pytest.raises(ModelError, match="links and rotors alone"):
        tf.derive(robot, include=["link", "viscous"])
    tree = random_tree(3, seed=1, friction=False, prismatic=0)
    odd = tree.with_loops([[1, 0], [np.sqrt(2), 0], [0, 1]], np.zeros(3), [tree.joint_names[j] for j in (0, 2)])
    with pytest.raises(ModelError, match="no fractions"):
        tf.derive(odd)
    model = tf.derive(robot, include=INCLUDE)
    rubbing = robot.with_parameters(np.where(np.array(robot.parameter_names) == "Fv_1", 0.3, robot.parameters))
    with pytest.raises(ModelError, match="Fv_1 of parallelogram is not part of this model"):
        model.bind(rubbing)
    with pytest.raises(ModelError, match="friction of one would act on several"):
        model.bind(robot.rigid, friction=np.ones((3, 3)))
    with pytest.raises(ModelError, match="save: files of closed forms"):
        model.save("model.npz")
    with pytest.raises(ModelError, match="kinematics: joints of parallelogram"):
        model.kinematics()
