"""Columns of long batches, which are compiled, against those of short ones."""

from __future__ import annotations

import itertools
import re
from dataclasses import replace

import numpy as np

import tauform as tf
from identification.arms import arm
from tauform.identification.regression.design import KERNEL_STATES, Design
from tauform.identification.regression.excitation import missing_motion


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


def test_advice_names_joints_as_the_robot_does() -> None:
    """A robot may count its joints from zero; a number of ours would mean the next one."""
    robot = tf.load("kr6_r700")
    robot = replace(robot, joints=tuple(replace(joint, name=f"axis_{k}") for k, joint in enumerate(robot.joints)))
    design = Design.of(robot)
    for k, (_, joints) in enumerate(design.kinds):
        advice = missing_motion(design, [k])
        assert set(re.findall(r"axis_\d", advice)) == {f"axis_{j}" for j in joints}
        assert not re.findall(r"joints? \d", advice)
