"""Drive gains from currents with and without a known load."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tauform as tf
from identification.arms import arm, motion
from tauform.errors import IdentificationError
from tauform.identification import gains
from tauform.identification.motion.simulate import simulated_recording
from tauform.identification.regression.design import DEFAULT_INCLUDE

GAINS = np.array([38.0, 52.0, 21.0])
LOAD = tf.Inertia.of(6.0, (0.05, -0.02, 0.1), (0.05, 0.06, 0.04, 0, 0, 0), inertia_about="com")


def currents(robot: tf.Robot, seed: int, noise: float, exact: bool = False) -> tf.Recording:
    """What the drives log: torques over gains, with noise that is that of the currents."""
    path, rng = motion(robot, seed, rate=200.0), np.random.default_rng(seed)
    record = simulated_recording(robot, path, rng, position_noise=0.0 if exact else 1e-5, exact_states=exact)
    return replace(record, tau=record.tau / GAINS + rng.normal(scale=noise, size=record.q.shape))


def test_gains_are_found_within_one_percent() -> None:
    robot = arm()
    empty = [currents(robot, k, 0.02) for k in (1, 2)]
    loaded = [currents(robot.with_payload(LOAD), k, 0.02) for k in (3, 4)]
    found = tf.identify_gains(robot, empty, loaded, LOAD)
    np.testing.assert_allclose(found.gains, GAINS, rtol=0.01)
    assert (np.abs(found.gains - GAINS) < 4 * found.deviations).all()
    assert (found.deviations < 0.01 * GAINS).all()
    fit = tf.identify(robot, [found.torques(record) for record in empty], friction="plain", couplings=None)
    assert fit.verdict.grade == "good"


def test_without_noise_gains_and_values_are_the_truth() -> None:
    robot = arm()
    empty, loaded = currents(robot, 1, 0.0, exact=True), currents(robot.with_payload(LOAD), 2, 0.0, exact=True)
    found = tf.identify_gains(robot, empty, loaded, LOAD, filters=None)
    np.testing.assert_allclose(found.gains, GAINS, rtol=1e-9)
    truth = tf.base_parameters(robot, include=("link", "rotor", "viscous", "coulomb", "offset")).values(robot)
    assert np.abs(found.values - truth).max() < 1e-9 * np.abs(truth).max()


def test_drive_terms_that_are_declared_take_part() -> None:
    """Values are named in their order; temperatures reach the friction that depends on them."""
    terms = [
        tf.Drive.of("stribeck", 0, 2.0, width=0.3),
        tf.Drive.of("thermal", 1, -0.05),
        tf.Drive.of("stiffness", 2, 9.0),
    ]
    robot = arm().with_drives([*arm().drives, *terms])
    records = []
    for carried, seed in ((robot, 1), (robot.with_payload(LOAD), 2)):
        path = motion(robot, seed, rate=200.0)
        warm = np.linspace(20.0, 45.0, len(path.t))[:, None] * np.ones(3)
        record = simulated_recording(carried, path, np.random.default_rng(0), exact_states=True, temperature=warm)
        records.append(replace(record, tau=record.tau / GAINS))
    include = (*DEFAULT_INCLUDE, "stribeck", "thermal", "stiffness")
    found = tf.identify_gains(robot, *records, LOAD, filters=None, include=include)
    np.testing.assert_allclose(found.gains, GAINS, rtol=1e-9)
    assert len(found.names) == len(found.values)
    values = dict(zip(found.names, found.values, strict=True))
    for name, term in zip(robot.parameter_names[robot.layout.further], robot.further_drives, strict=True):
        assert values[name] == pytest.approx(term.coefficient, rel=1e-7)


def test_friction_by_load_is_refused_by_name() -> None:
    robot = arm().with_drives([*arm().drives, tf.Drive.of("load", 0, 0.1)])
    records = currents(robot, 1, 0.02), currents(robot.with_payload(LOAD), 2, 0.02)
    with pytest.raises(IdentificationError, match=r"which a gain scales too.*d.shape != 'load'"):
        tf.identify_gains(robot, *records, LOAD, include=(*DEFAULT_INCLUDE, "load"))


def test_a_load_that_is_not_there_cannot_set_the_scale() -> None:
    robot = arm()
    record = currents(robot, 1, 0.02)
    with pytest.raises(IdentificationError, match="does not tell gains from masses"):
        tf.identify_gains(robot, record, record, tf.Inertia.of(0.0, (0, 0, 0), (0,) * 6, inertia_about="com"))


def test_gains_that_do_not_settle_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    robot = arm()
    monkeypatch.setattr(gains, "MAX_STEPS", 1)
    with pytest.raises(IdentificationError, match="did not settle"):
        tf.identify_gains(robot, currents(robot, 1, 0.02), currents(robot.with_payload(LOAD), 2, 0.02), LOAD)
