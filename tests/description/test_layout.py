"""Layout: every column is where the order of the parameters says."""

from __future__ import annotations

import numpy as np
import pytest

import tauform as tf
from random_robots import random_tree
from tauform.description.inertia import LINK_PARAMETERS
from tauform.description.joint import JOINT_PARAMETERS


@pytest.fixture(params=["chain", "tree"])
def robot(request: pytest.FixtureRequest) -> tf.Robot:
    return random_tree(5, seed=7, chain=request.param == "chain")


def test_columns_hold_what_links_and_joints_say(robot: tf.Robot) -> None:
    layout = robot.layout
    assert layout.n == len(robot.parameters)
    for i, (inertia, joint) in enumerate(zip(robot.inertias, robot.joints, strict=True)):
        assert (robot.parameters[layout.link(i)] == inertia.parameters).all()
        assert tuple(robot.parameters[layout.joint(i)]) == joint.parameters
        assert robot.parameters[layout.viscous(i)] == joint.viscous
        assert robot.parameters[layout.coulomb(i)] == joint.coulomb
        assert robot.parameters[layout.offset(i)] == joint.offset
        assert robot.parameters[layout.rotor(i)] == (joint.rotor_inertia or 0.0)
        assert robot.parameters[layout.of_link("Izz", i)] == inertia.tensor[2, 2]


def test_names_are_kind_and_number(robot: tf.Robot) -> None:
    numbers = range(1, robot.n_bodies + 1)
    links = [f"{kind}_{i}" for i in numbers for kind in LINK_PARAMETERS]
    assert robot.layout.names == (*links, *(f"{kind}_{i}" for i in numbers for kind in JOINT_PARAMETERS))
    assert robot.layout.names == robot.parameter_names


def test_every_column_has_one_group(robot: tf.Robot) -> None:
    layout = robot.layout
    groups = ("link", "rotor", "viscous", "coulomb", "offset")
    found = sorted(k for group in groups for k in layout.columns_of(group))
    assert found == list(range(layout.n))
    assert layout.columns_of("coulomb") == tuple(layout.coulomb(j) for j in range(robot.n_bodies))
    assert layout.friction == tuple(sorted(layout.columns_of("viscous", "coulomb", "offset")))


def test_parts_are_views_of_one_block(robot: tf.Robot) -> None:
    values = np.arange(float(robot.layout.n))
    robot.layout.by_joint(values)[:, 1:] = -1.0
    assert (values[list(robot.layout.friction)] == -1.0).all()
    assert (robot.layout.by_link(values)[1] == values[robot.layout.link(1)]).all()


def test_base_parameters_know_what_they_grow_from(robot: tf.Robot) -> None:
    base = tf.base_parameters(robot, include=("link", "rotor", "viscous", "coulomb", "offset"))
    assert tuple(own.name for own in base.parameters) == base.names
    for own, pivot, name in zip(base.parameters, base.pivots, base.names, strict=True):
        standard = robot.layout.parameters[pivot]
        assert (own.kind, own.joints, own.unit) == (standard.kind, standard.joints, standard.unit)
        assert own.is_sum == (name not in base.alone)


def test_units_follow_the_joint() -> None:
    robot = tf.random_robot("RP", 1)
    units = dict(zip(robot.layout.names, (own.unit for own in robot.layout.parameters), strict=True))
    assert (units["Fv_1"], units["Fv_2"]) == ("N m s/rad", "N s/m")
    assert (units["Ia_1"], units["Ia_2"], units["mx_2"], units["Izz_2"]) == ("kg m²", "kg", "kg m", "kg m²")
