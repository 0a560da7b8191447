"""Friction laws that are asked for by name: each recovers its own truth."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from identification.arms import arm, motion
from tauform.errors import IdentificationError, RecordingError
from tauform.identification.motion.simulate import simulated_recording
from tauform.identification.verdict.carried import regathered
from tauform.identification.verdict.refit import with_columns

EXACT = {"filters": None, "couplings": None}
SHARES, PER_KELVIN = np.array([0.05, 0.08, 0.03]), np.array([-0.02, -0.03, -0.01])


def recorded(seed: int, noise: float = 0.0, rate: float = 100.0) -> tf.Recording:
    path = motion(arm(), seed, rate=rate)
    return simulated_recording(arm(), path, np.random.default_rng(seed), torque_noise=noise, exact_states=noise == 0)


def loaded(record: tf.Recording) -> tf.Recording:
    """The same with Coulomb friction that grows with the torque each joint carries."""
    path = motion(arm(), 1, rate=record.rate) if record.qd is None else None
    q, qd, qdd = (record.q, record.qd, record.qdd) if path is None else (path.q, path.qd, path.qdd)
    # Torque through the gear: of links and rotors, without friction.
    M, C = tf.mass_matrix(arm(), q), tf.coriolis_matrix(arm(), q, qd)
    carried = (M @ qdd[..., None] + C @ qd[..., None])[..., 0] + tf.gravity_torque(arm(), q)
    return replace(record, tau=record.tau + SHARES * np.abs(carried) * np.sign(qd))


def warmed(record: tf.Recording, qd: np.ndarray) -> tf.Recording:
    """The same while the joints warm up from 20 to 50 degrees."""
    temperature = 20 + 30 * (1 - np.exp(-record.t / 3))
    return replace(record, tau=record.tau + PER_KELVIN * (temperature - 20)[:, None] * qd, temperature=temperature)


def test_friction_that_grows_with_the_load_is_recovered() -> None:
    fit = tf.identify(arm(), [loaded(recorded(k)) for k in (1, 2)], friction="load", **EXACT)
    assert fit.names[-3:] == ("Fl_1", "Fl_2", "Fl_3")
    np.testing.assert_allclose(fit.values[-3:], SHARES, rtol=0, atol=1e-9)
    truth = fit.base.values(arm())
    assert np.abs(fit.theta - truth).max() <= 1e-9 * np.abs(truth).max()


def test_friction_that_grows_with_the_load_is_needed_where_it_is_there() -> None:
    record = loaded(recorded(1, noise=0.3, rate=500.0))
    fit = tf.identify(arm(), record, friction="load", couplings=None)
    plain = tf.identify(arm(), record, friction="plain", couplings=None)
    assert fit.held_out.total < 0.7 * plain.held_out.total
    np.testing.assert_allclose(fit.values[-3:], SHARES, rtol=0, atol=5 * fit.deviations[-3:].max())


def test_rows_of_a_smaller_fit_carry_the_load_of_the_links_that_are_asked_for() -> None:
    fit = tf.identify(arm(), loaded(recorded(1)), friction="load", **EXACT)
    smaller = with_columns(fit, range(1, len(fit.names)))
    assert smaller.unreduced is not None
    heavier = arm().with_parameters(arm().parameters * 1.5)
    again = regathered(smaller, heavier)
    columns = again.unreduced.places(again.names)
    for part, whole, before in zip(again.rows, again.unreduced.rows, smaller.rows, strict=True):
        np.testing.assert_array_equal(part.A, whole.A[:, :, columns])
        assert np.abs(part.A - before.A)[:, :, -3:].max() > 0.1


def test_friction_that_changes_with_temperature_is_recovered() -> None:
    records = [recorded(k) for k in (1, 2)]
    fit = tf.identify(arm(), [warmed(record, record.qd) for record in records], friction="thermal", **EXACT)
    np.testing.assert_allclose(fit.values[-3:], PER_KELVIN, rtol=0, atol=1e-9)
    truth = fit.base.values(arm())
    assert np.abs(fit.theta - truth).max() <= 1e-9 * np.abs(truth).max()


def test_temperature_is_read_from_logs_and_asked_for_in_predictions(tmp_path: Path) -> None:
    record = recorded(1, noise=0.3, rate=200.0)
    warm = warmed(record, motion(arm(), 1, rate=200.0).qd)
    log = tmp_path / "log.csv"
    columns = np.column_stack([warm.t, warm.q, warm.tau, warm.temperature])
    names = ["t", *(f"{kind}{j}" for kind in ("q", "tau", "temperature_") for j in (1, 2, 3))]
    np.savetxt(log, columns, delimiter=",", header=",".join(names), comments="")
    fit = tf.identify(arm(), tf.read_recording(log, arm()), friction="thermal", couplings=None)
    assert (np.abs(fit.values[-3:] - PER_KELVIN) < 4 * fit.deviations[-3:]).all()
    still, moving = np.zeros(3), np.ones(3)
    warm_by = fit.predict(still, moving, still, temperature=50.0 + still) - fit.predict(
        still, moving, still, 20.0 + still
    )
    np.testing.assert_allclose(warm_by, 30 * fit.values[-3:], rtol=0, atol=1e-9)
    with pytest.raises(IdentificationError, match="temperature="):
        fit.predict(still, moving, still)
    with pytest.raises(RecordingError, match="needs the joints' temperatures"):
        tf.identify(arm(), record, friction="thermal")


def test_a_law_that_does_not_exist_is_refused() -> None:
    with pytest.raises((IdentificationError, tf.errors.TauformError), match="asymmetric"):
        tf.identify(arm(), recorded(1), friction="sticky")  # type: ignore[arg-type]
