"""Evidence holds every row once, however closely its stretches follow each other in time."""

from __future__ import annotations

import numpy as np
import pytest

import tauform as tf
from identification.arms import arm, motion
from tauform.identification.motion.simulate import simulated_recording
from tauform.identification.regression.evidence import Evidence, gather
from tauform.identification.regression.rows import RowSource

PLAIN = {"friction": "plain", "couplings": None}


def recorded(gaps: tuple[float, ...] = (), seconds: float = 0.4) -> tf.Recording:
    """Twelve seconds, with gaps of some tenths of a second."""
    path = motion(arm(), 1, duration=12.0)
    whole = simulated_recording(arm(), path, np.random.default_rng(1), torque_noise=0.1, exact_states=True)
    keep = np.ones(whole.n_samples, dtype=bool)
    for gap in gaps:
        keep &= (whole.t <= gap) | (whole.t >= gap + seconds)
    return tf.Recording(*(getattr(whole, name)[keep] for name in ("t", "q", "tau", "qd", "qdd")))


def assert_every_row_counts_once(evidence: Evidence, source: RowSource) -> None:
    rows = list(source)
    assert evidence.n_rows == sum(len(part.t) for part in rows)
    A, tau = np.concatenate([part.A for part in rows]), np.concatenate([part.tau for part in rows])
    np.testing.assert_allclose(evidence.torque_squares, (tau**2).sum(axis=0), rtol=1e-12)
    columns = np.einsum("kjp,kjq->jpq", A, A)
    products = evidence.products.sum(axis=0)[:, :-1, :-1]
    np.testing.assert_allclose(products, columns, rtol=0, atol=1e-12 * np.abs(columns).max())


@pytest.mark.parametrize("filters", ["auto", None])
def test_a_row_after_a_short_gap_counts_once(filters: None) -> None:
    fit = tf.identify(arm(), recorded(gaps=(3.0, 6.0, 9.0)), filters=filters, **PLAIN)  # type: ignore[arg-type]
    assert sum(len(part.t) for part in fit.rows) == fit.evidence.n_rows
    measured = np.concatenate([part.tau for part in fit.rows])
    np.testing.assert_allclose(fit.evidence.torque_squares, (measured**2).sum(axis=0), rtol=1e-12)


def test_stretches_of_a_long_recording_share_no_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tauform.identification.selection.chosen.SELECTION_ROWS", 700)
    fit = tf.identify(arm(), recorded(), filters=None, **PLAIN)  # type: ignore[arg-type]
    assert fit.source is not None
    assert len(fit.source.segments) == 8
    assert_every_row_counts_once(gather(fit.source, fit.source), fit.source)


def test_two_recordings_of_the_same_time_stay_apart() -> None:
    fit = tf.identify(arm(), [recorded(), recorded(gaps=(5.0,))], filters=None, **PLAIN)  # type: ignore[arg-type]
    assert fit.source is not None
    assert_every_row_counts_once(fit.evidence, fit.source)
    assert sorted(set(fit.evidence.recordings)) == [0, 1]
    assert fit.evidence.counts[np.array(fit.evidence.recordings) == 0].sum() == recorded().n_samples
