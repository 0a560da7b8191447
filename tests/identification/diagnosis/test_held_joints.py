"""Joints that the description holds still, and that move: named from the log's columns, or from the torques alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from tauform.arrays import Array
from verdicts.stands import fourier

LIFT = "joint1"


def lifted(reach: float) -> tuple[tf.Robot, Array, Array, Array]:
    """An arm on a lift, as described, and its time, positions and torques where the lift moves that far."""
    slides = replace(tf.random_robot("PRRRRR", 4, industrial=True), name="lifted").without_drives()
    t, q, qd, qdd = (x.copy() for x in fourier(6, 20.0, 100.0, np.random.default_rng(2)))
    for x in (q, qd, qdd):
        x[:, 0] *= reach
    size = np.maximum(tf.inverse_dynamics(slides, q, qd, qdd).std(axis=0), 1.0)
    joints = tuple(
        replace(joint, rotor_inertia=0.05 * x, viscous=0.05 * x, coulomb=0.1 * x)
        for joint, x in zip(slides.joints, size.tolist(), strict=True)
    )
    true = replace(slides, joints=joints)
    tau = tf.inverse_dynamics(true, q, qd, qdd)
    tau = tau + 0.01 * tau.std(axis=0) * np.random.default_rng(3).normal(size=tau.shape)
    return slides, t, q + 1e-5 * np.random.default_rng(5).normal(size=q.shape), tau


def written(folder: Path, t: Array, q: Array, tau: Array, names: tuple[str, ...]) -> Path:
    """A log of a whole robot: torques of the arm, positions of the lift too."""
    header = ["time", *(f"{name}_position" for name in names), *(f"{name}_effort" for name in names[1:])]
    path = folder / "run.csv"
    np.savetxt(path, np.column_stack([t, q, tau[:, 1:]]), delimiter=",", header=",".join(header), comments="")
    return path


def test_locked_joints_that_carry_moving_ones_are_remembered() -> None:
    robot = tf.random_robot("PRRR", 4)
    names = robot.joint_names
    held = robot.locked({names[0]: 0.2}).held
    assert [(own.name, own.position, own.unit, own.carries) for own in held] == [(names[0], 0.2, "m", names[1:])]
    # Nothing hangs on the last joint; what is cut off, or locked too, hangs on nothing either.
    assert robot.locked({names[3]: 0.2}).held == ()
    both = robot.locked({names[0]: 0.2}).locked({names[1]: 0.1})
    assert [own.carries for own in both.held] == [names[2:], names[2:]]
    assert robot.locked({names[0]: 0.2}).up_to(robot.links[1].name).held[0].carries == names[1:2]
    assert robot.locked({names[0]: 0.2}) == replace(robot.locked({names[0]: 0.2}), held=())


def test_a_lift_that_moves_in_the_log_is_named_and_no_fit_of_it_is_good(tmp_path: Path) -> None:
    slides, t, q, tau = lifted(0.1)
    described = slides.locked({LIFT: 0.0})
    path = written(tmp_path, t, q, tau, slides.joint_names)
    recording = tf.read_recording(path, described)
    assert recording.held[LIFT] == pytest.approx((q[:, 0].min(), q[:, 0].max()))
    verdict = tf.identify(described, recording).verdict
    assert verdict.grade != "good"
    low, high = q[:, 0].min(), q[:, 0].max()
    assert verdict.reasons[0].startswith(f"{LIFT} moves from {low:.3g} to {high:.3g} m in the log, and the description")
    assert any(LIFT in sentence for sentence in verdict.next)
    # The part of the log that is read counts, and no other.
    cut = tf.read_recording(path, described, between=(2.0, 9.0)).held[LIFT]
    inside = q[(t >= 2.0) & (t <= 9.0), 0]
    assert cut == pytest.approx((inside.min(), inside.max()))


def test_a_lift_that_stands_in_the_log_is_no_news(tmp_path: Path) -> None:
    slides, t, q, tau = lifted(0.0)
    described = slides.locked({LIFT: 0.0})
    fit = tf.identify(described, tf.read_recording(written(tmp_path, t, q, tau, slides.joint_names), described))
    assert not fit.suspicions
    assert LIFT not in str(fit.verdict)


def test_a_lift_that_only_torques_show_is_named() -> None:
    """The motion is found joint by joint from the others', so that noise alone names nothing."""
    for reach in (0.0, 0.2):
        slides, t, q, tau = lifted(reach)
        described = slides.locked({LIFT: 0.0})
        fit = tf.identify(described, tf.Recording(t, q[:, 1:], tau[:, 1:]))
        said = str(fit.verdict)
        assert (f"or a locked joint: {LIFT}): torques are as if the base accelerated" in said) == (reach > 0), said
        assert (fit.verdict.grade == "good") == (reach == 0), said
