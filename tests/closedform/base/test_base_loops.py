"""Gautier1991, graph-structured robots: a parallelogram arm against a derivation by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tauform as tf
from tauform.description.inertia import Inertia
from tauform.description.joint import Joint, Link
from tauform.description.robot import Robot
from tauform.description.transform import translation
from tauform.errors import ModelError

ARM, CRANK = 0.6, 0.2


def parallelogram() -> Robot:
    """Planar, axes along z, gravity along -y: upper arm at angle a, crank at b, coupler at a, forearm at b + pi.

    In tree coordinates: q = (a, b + pi - a, b, a - b) for upper arm, forearm, crank, coupler.
    """
    places = [(-1, 0.0), (0, ARM), (-1, 0.0), (2, CRANK)]
    joints = tuple(
        Joint(name, "revolute", parent, translation([x, 0, 0]))
        for name, (parent, x) in zip(("upper", "fore", "crank", "coupler"), places, strict=True)
    )
    links = tuple(Link(f"{joint.name} link", Inertia(np.arange(1.0, 11.0))) for joint in joints)
    robot = Robot("parallelogram", joints, links, np.array([0.0, -9.81, 0.0]))
    F = [[1, 0], [-1, 1], [0, 1], [1, -1]]
    return robot.with_loops(F, [0, np.pi, 0, 0], ("upper", "crank"))


def by_hand(robot: Robot) -> np.ndarray:
    """Coefficients of the eight functions in T + U, derived on paper (link 1 upper arm, 2 forearm, 3 crank, 4 coupler).

    da^2 / 2, db^2 / 2, g sin a, g cos a, g sin b, g cos b, da db cos(a - b), da db sin(a - b)
    """
    rows = [
        {"Izz_1": 1, "Izz_4": 1, "m_2": ARM**2},
        {"Izz_2": 1, "Izz_3": 1, "m_4": CRANK**2},
        {"mx_1": 1, "mx_4": 1, "m_2": ARM},
        {"my_1": 1, "my_4": 1},
        {"mx_3": 1, "mx_2": -1, "m_4": CRANK},
        {"my_3": 1, "my_2": -1},
        {"mx_4": CRANK, "mx_2": -ARM},
        {"my_4": CRANK, "my_2": ARM},
    ]
    matrix = np.zeros((len(rows), len(robot.parameters)))
    for row, entries in zip(matrix, rows, strict=True):
        for name, value in entries.items():
            row[robot.parameter_names.index(name)] = value
    return matrix


@pytest.mark.parametrize("source", ["dynamic", "velocity_free", "energy"])
@pytest.mark.parametrize("method", ["qr", "svd", "qr_pivoted"])
def test_parallelogram_has_the_eight_combinations_derived_by_hand(source: str, method: str) -> None:
    robot = parallelogram()
    base = tf.base_parameters(robot, method=method, source=source)
    hand = by_hand(robot)
    assert base.n == len(hand) == 8
    np.testing.assert_allclose(hand[:, list(base.pivots)] @ base.grouping, hand, rtol=0, atol=1e-12)


def test_loop_robot_of_base_parameters_has_the_same_torques() -> None:
    robot = tf.load("parallelogram")
    base = tf.base_parameters(robot)
    virtual = robot.with_base_parameters(base.values(robot))
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, 30, robot.n_joints))
    expected = tf.inverse_dynamics(robot, q, qd, qdd)
    np.testing.assert_allclose(
        tf.inverse_dynamics(virtual, q, qd, qdd), expected, rtol=0, atol=1e-12 * abs(expected).max()
    )


def test_relations_around_a_loop_hold_for_any_lengths() -> None:
    """Gautier1991, section V: those of the Hitachi HPR, in symbols, are the numbers of one with other lengths."""
    robot = tf.load("hitachi_hpr_gautier")
    base = tf.base_parameters(robot)
    assert all(relation.exact for relation in base.relations)
    lengths = {"D4": 0.37, "D5": 0.29, "D6": 0.41}
    joints = []
    for joint in robot.joints:
        named = tuple(replace(length, value=lengths[length.name]) for length in joint.lengths)
        T = joint.parent_from_joint.copy()
        T[:3, 3] = sum((length.value * length.direction for length in named), np.zeros(3))
        joints.append(replace(joint, parent_from_joint=T, lengths=named))
    other = replace(robot, joints=tuple(joints))
    numeric = tf.base_parameters(other)
    assert numeric.pivots == base.pivots
    place = {name: k for k, name in enumerate(base.parameter_names)}
    for relation, row in zip(base.relations, numeric.grouping, strict=True):
        symbolic = np.zeros_like(row)
        for name, coefficient in relation.terms.items():
            symbolic[place[name]] = coefficient.evaluate(lengths)
        np.testing.assert_allclose(symbolic, row, rtol=0, atol=1e-9, err_msg=relation.name)


def test_a_parallelogram_whose_pivots_have_one_length_is_in_symbols_too() -> None:
    relations = {relation.name: relation for relation in tf.base_parameters(tf.load("parallelogram")).relations}
    assert all(relation.exact for relation in relations.values())
    assert str(relations["mxR_3"]) == "mxR_3 = mx_3 - x_3^-1 x_5 mx_5"


def test_closed_form_of_a_loop_that_bends_is_refused() -> None:
    with pytest.raises(ModelError, match="not linear in q have no closed form"):
        tf.base_parameters(tf.load("four_bar"), source="closed_form")
