"""Positions of joints that slide in another unit than metres, and values that no robot has: never called good."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from sampling import representatives
from tauform.description.joint import Limits
from tauform.errors import RecordingError
from tauform.identification.verdict.mass_matrices import mass_matrix_columns, postures
from verdicts.stands import fourier

UNITS = {"mm": 1e-3, "cm": 1e-2, "um": 1e-6, "m": 1.0}
STROKE = 0.5


def slides(kinds: str, limits: Limits) -> tf.Robot:
    robot = tf.random_robot(kinds, 3, industrial=True).without_drives()
    joints = tuple(
        replace(joint, limits=joint.limits if joint.type.is_angle else limits, viscous=20.0, coulomb=8.0)
        for joint in robot.joints
    )
    return replace(robot, joints=joints)


def recorded(robot: tf.Robot, unit: str, seed: int = 1) -> tf.Recording:
    """A motion of half a metre and three radians, of which the slides' positions are in a unit."""
    t, *states = fourier(robot.n_joints, 20.0, 200.0, np.random.default_rng(seed))
    kinds = {joint.name: joint.type.is_angle for joint in robot.joints}
    sliding = ~np.array([kinds[name] for name in robot.joint_names])
    q, qd, qdd = (np.where(sliding, STROKE / 3 * x, x) for x in states)
    tau = tf.inverse_dynamics(robot, q, qd, qdd)
    noise = 0.01 * tau.std(axis=0) * np.random.default_rng(seed).normal(size=tau.shape)
    return tf.Recording(t, q / np.where(sliding, UNITS[unit], 1.0), tau + noise)


@pytest.mark.parametrize("kinds", ["PP", "RP"])
def test_slides_outside_their_limits_are_refused_with_the_unit_that_fits(kinds: str) -> None:
    robot = slides(kinds, Limits(-STROKE, STROKE))
    with pytest.raises(RecordingError, match=r"slides from .* which reads as millimetres; .*units={'q': 'mm'}"):
        tf.identify(robot, recorded(robot, "mm"))
    if kinds == "RP":
        return
    # One slide of two: the unit of its column alone.
    q = np.asarray(recorded(robot, "m").q) * [1.0, 1e3]
    with pytest.raises(RecordingError, match=r"'joint2' slides .*units={'COLUMN': 'mm'}, the name of its column"):
        tf.identify(robot, replace(recorded(robot, "m"), q=q))


def test_slides_without_limits_are_refused_for_speeds_that_no_slide_has() -> None:
    robot = slides("PP", Limits())
    with pytest.raises(RecordingError, match="reads as millimetres"):
        tf.identify(robot, recorded(robot, "mm"))


CASES = [(kinds, unit) for kinds in ("PP", "RP", "PPR") for unit in UNITS]


@pytest.mark.parametrize("case", representatives(CASES, ("PP", "mm"), ("RP", "m")))
def test_no_fit_with_a_value_that_no_robot_has_is_good(case: tuple[str, str]) -> None:
    """Limits that allow any unit: the described masses tell."""
    kinds, unit = case
    robot = slides(kinds, Limits(-1e9, 1e9))
    fit = tf.identify(robot, recorded(robot, unit), validate=recorded(robot, unit, seed=2))
    said = str(fit.verdict)
    assert ("moving masses come out as" in said) == (unit != "m"), said
    assert unit == "m" or fit.verdict.grade == "not trustworthy"
    # What holds for every fit that is called good.
    possible = [(own.is_nonnegative or own.kind == "m") and not own.is_sum for own in fit.base.parameters]
    negative = np.array(possible) & (fit.theta < -3 * fit.deviations[: fit.base.n])
    columns = mass_matrix_columns(fit, postures(fit))
    positive = np.linalg.eigvalsh(columns @ fit.values[: columns.shape[-1]]).min() > 0
    assert fit.verdict.grade != "good" or (positive and not negative.any())


def test_a_mass_below_zero_is_never_good() -> None:
    robot = slides("PP", Limits())
    fit = tf.identify(robot, recorded(robot, "m"), validate=recorded(robot, "m", seed=2), couplings=None)
    assert fit.verdict.grade == "good"
    signed = replace(fit, values=np.where(np.arange(len(fit.values)) == 0, -1.0, 1.0) * fit.values)
    assert signed.names[0].startswith("m")
    assert signed.verdict.grade != "good"


def test_units_that_measure_no_joint_are_refused_and_others_say_where_they_count(tmp_path: Path) -> None:
    robot = slides("RP", Limits(-STROKE, STROKE))
    own = recorded(robot, "mm")
    path = tmp_path / "log.csv"
    header = "t,q1,q2,tau1,tau2"
    np.savetxt(path, np.column_stack([own.t, own.q, own.tau]), delimiter=",", header=header, comments="")
    for units in ({"q": "mm"}, {"q2": "mm"}):
        read = tf.read_recording(path, robot, units=units)
        np.testing.assert_allclose(np.asarray(read.q), np.asarray(own.q) * [1.0, 1e-3], rtol=1e-6, atol=1e-9)
    read = tf.read_recording(path, robot, units={"q": "deg"})
    assert any("joint2 slides, and deg does not count there" in finding for finding in read.findings)
    only = slides("PP", Limits())
    with pytest.raises(RecordingError, match=r"measures no joint of this robot: all of them slide; units={'q': 'mm'}"):
        tf.read_recording(path, only, units={"q": "deg"})
    said = " ".join(tf.inspect_log(path).findings)
    assert "units={'q': 'mm'}" in said
