"""Columns of long batches, which are compiled, against those of short ones."""

from __future__ import annotations

import itertools

import numpy as np

import tauform as tf
from identification.arms import arm
from tauform.identification.regression.design import KERNEL_STATES, Design


def test_compiled_columns_of_a_robot_with_friction_are_the_plain_ones() -> None:
    design = Design.of(arm())
    n = KERNEL_STATES + 100
    states = np.random.default_rng(0).normal(size=(3, n, design.robot.n_joints))
    edges = np.linspace(0, n, 5).astype(int)
    plain = np.concatenate([design.columns(*states[:, a:b]) for a, b in itertools.pairwise(edges)])
    np.testing.assert_allclose(design.columns(*states), plain, rtol=0, atol=1e-12)
    # A short piece of a long whole is compiled as well.
    np.testing.assert_allclose(design.columns(*states[:, :50], total=n), plain[:50], rtol=0, atol=1e-12)


def test_every_column_has_the_unit_of_its_parameter() -> None:
    terms = [tf.Drive.of("stribeck", 0, width=0.1), tf.Drive.of("stiffness", 1), tf.Drive.of("load", 2)]
    robot = arm().with_drives([*arm().drives, *terms])
    design = Design.of(robot)
    assert design.units[-3:] == ("N m", "N m/rad", "1")
    unit = dict(zip(robot.layout.names, (own.unit for own in robot.layout.parameters), strict=True))
    assert [unit[name.replace("R_", "_")] for name in design.names] == list(design.units)
