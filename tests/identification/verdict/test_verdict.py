"""Verdicts: grades, reasons and next steps of sound and of spoilt fits."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from identification.arms import arm, motion, with_drives
from identification.fits import URDF, fit_of_quiet_robot
from tauform.identification.motion.simulate import simulated_recording


def test_the_verdict_follows_a_refit_to_the_recordings_it_is_validated_on() -> None:
    pytest.importorskip("clarabel")
    robot, rng = arm(), np.random.default_rng(8)
    records = [simulated_recording(robot, motion(robot, k), rng, torque_noise=[0.2, 0.2, 0.1]) for k in (1, 2)]
    # Torques of the opposite sign, a usual mistake: values fit as well as ever, but no links could have them.
    turned = [replace(record, tau=-record.tau) for record in records]
    free = tf.identify(robot, turned[0], validate=turned[1], friction="plain", couplings=None)
    physical = free.physically_consistent()
    assert free.validation is not None
    assert physical.validation is not None
    assert free.validation.total < 0.1
    assert str(free.verdict).startswith(
        "not trustworthy: the torques of all joints have the opposite sign: that leaves"
    )
    assert "gains=" in free.verdict.next[0]
    # A weight may lie on the other side of its axis, but no inertia is negative: a third of the torque is left.
    assert physical.validation.total > 0.3
    assert physical.validation.total > 100 * free.validation.total
    assert physical.verdict.grade == "not trustworthy"
    assert "physically consistent links" in str(physical.verdict)
    good = tf.identify(robot, records[0], validate=records[1], friction="plain", couplings=None, physical=True)
    assert good.verdict.grade == "good"
    assert good.validation is not None
    assert good.validation.total < 0.1


def test_the_verdict_says_where_a_mass_matrix_is_not_positive_definite() -> None:
    quiet = fit_of_quiet_robot()
    assert "mass matrix" not in str(quiet.verdict)
    # A hundredth of joint 3's own inertia is left: still positive, but less than it shares with the joints before.
    values, at = np.array(quiet.values), quiet.names.index("Ia_3")
    values[at] -= 0.99 * tf.mass_matrix(quiet.identified_robot, np.zeros(3))[2, 2]
    spoilt = replace(quiet, values=values)
    assert np.linalg.eigvalsh(tf.mass_matrix(spoilt.identified_robot, np.zeros(3)))[0] < 0
    assert spoilt.verdict.grade == "usable"
    assert "mass matrix is not positive definite in 100 of 100 postures" in str(spoilt.verdict)
    assert "physical=True" in spoilt.verdict.next[0]


def test_the_verdict_names_frames_that_are_almost_aligned(tmp_path: Path) -> None:
    """Axes that are 4e-6 rad off a right angle: fitted on a copy without a parameter that no motion can tell apart."""
    crooked = URDF.replace('<origin xyz="0 0 0.4"/>', '<origin xyz="0 0 0.4" rpy="0 4e-6 0"/>')
    source = tmp_path / "arm.urdf"
    source.write_text(crooked.replace('<axis xyz="0 1 0"/>', '<axis xyz="0 0 1"/>'))
    robot, straight = with_drives(tf.load(source)), with_drives(tf.load(source, snap=1e-5))
    recording = simulated_recording(robot, motion(robot, 1), np.random.default_rng(0), torque_noise=0.1)
    mended, sound = (tf.identify(x, recording, friction="plain", couplings=None) for x in (robot, straight))
    assert "almost, not exactly, aligned (off by 4.0e-06 rad)" in mended.findings[0]
    assert "a copy with these angles made exact" in mended.findings[0]
    assert mended.names == sound.names
    mended.save(tmp_path / "fit.npz")
    loaded = tf.load_fit(tmp_path / "fit.npz", robot)  # the user's own, crooked as its file is
    np.testing.assert_array_equal(loaded.values, mended.values)
    np.testing.assert_allclose(mended.values, sound.values, rtol=1e-4)
    assert mended.condition < 1.001 * sound.condition
    assert mended.verdict.grade == sound.verdict.grade == "good"
    # Parallel axes: what the angle tells apart is of second order.
    parallel = crooked.replace('<axis xyz="1 0 0"/>', '<axis xyz="0 1 0"/>').replace('"0 4e-6 0"', '"4e-6 0 0"')
    source.write_text(parallel)
    slanted = tf.load(source)
    recording = simulated_recording(
        with_drives(slanted), motion(slanted, 1), np.random.default_rng(0), torque_noise=0.1
    )
    assert tf.identify(slanted, recording, friction="plain", couplings=None).verdict.grade == "good"


def test_the_verdict_on_noise_is_not_trustworthy() -> None:
    robot = arm()
    noise = simulated_recording(robot, motion(robot, 1), np.random.default_rng(0), torque_noise=[2000, 2000, 1000])
    verdict = tf.identify(robot, noise, friction="plain", couplings=None).verdict
    assert verdict.grade == "not trustworthy"
    assert "error of all joints on held-out blocks" in str(verdict)
    assert verdict.next
