"""Errors: of the fit itself, of blocks that were held out, of other recordings."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tauform.arrays import Array
from tauform.identification.estimators import held_out_squares
from tauform.identification.evidence import Evidence
from tauform.identification.filters import lowpass
from tauform.identification.fit import Errors, Fit, Residuals, relative_error
from tauform.identification.rows import Rows, RowSource

# Lags of the residuals' correlation that are summed, in rows.
N_LAGS = 10
MOST_RAW_SAMPLES = 20_000


def residuals_of(values: Array, rows: Iterable[Rows], rate: float) -> Residuals:
    """Measured and predicted torque at all rows; `rate` is a fallback for a single row."""
    parts = [(part.t, part.tau, part.A @ values, np.full(len(part.t), part.recording)) for part in rows]
    t, measured, predicted, recording = (np.concatenate(column) for column in zip(*parts, strict=True))
    steps = np.diff(t)
    rate = 1.0 / float(np.median(steps[steps > 0])) if len(t) > 1 else rate
    return Residuals(t, measured, predicted, recording, rate)


def inflation_of(residuals: Residuals) -> Array:
    """(n,) factor on the variance for residuals that are correlated in time: 1 + 2 sum of rho_k, tapered."""
    error = residuals.error - residuals.error.mean(axis=0)
    rho = autocorrelation(error, min(N_LAGS, max(1, len(error) // 4)))
    taper = 1 - np.arange(1, len(rho)) / len(rho)
    return np.maximum(1.0, 1.0 + 2.0 * (taper[:, None] * rho[1:]).sum(axis=0))


def autocorrelation(error: Array, n_lags: int) -> Array:
    """(n_lags + 1, n) correlation of each column with itself, k rows later."""
    power = (error**2).sum(axis=0)
    power = np.where(power > 0, power, 1.0)
    lags = range(n_lags + 1)
    return np.array([(error[k:] * error[: len(error) - k]).sum(axis=0) / power for k in lags])


def held_out_errors(evidence: Evidence, values: Array, weights: Array) -> Errors:
    """Each fold of neighbouring blocks predicted with values from all the others."""
    squares = held_out_squares(evidence, 1.0 / weights, values)
    torque = np.maximum(evidence.torque_squares, 1e-300)
    return Errors(
        joints=np.sqrt(squares / torque),
        total=float(np.sqrt(squares.sum() / torque.sum())),
        rms=np.sqrt(squares / evidence.n_rows),
        source="blocks held out in turn",
    )


def errors_of(fit: Fit, source: RowSource, name: str) -> Errors:
    """A fit's errors on the rows of other recordings, filtered and raw."""
    residuals = residuals_of(fit.values, source, source.segments[0].rate)
    raw, raw_total = raw_errors(fit, source)
    return Errors(
        joints=residuals.relative,
        total=float(relative_error(residuals.measured, residuals.predicted, None)),
        rms=np.sqrt((residuals.error**2).mean(axis=0)),
        source=name,
        raw=raw,
        raw_total=raw_total,
    )


def raw_errors(fit: Fit, source: RowSource) -> tuple[Array, float]:
    """Relative errors against the unfiltered torque, per joint and of all joints."""
    measured, predicted = [], []
    for segment in source.segments:
        part = slice(0, min(segment.n_samples, 200_000))
        q, qd, qdd = source.smoother.states(segment, part, source.filters)
        step = max(1, len(q) // MOST_RAW_SAMPLES)
        measured.append(np.asarray(segment.tau[part])[::step])
        predicted.append(fit.predict(q[::step], qd[::step], qdd[::step]))
    a, b = np.concatenate(measured), np.concatenate(predicted)
    return relative_error(a, b), float(relative_error(a, b, None))


def spectrum(residuals: Residuals) -> tuple[Array, Array]:
    """Frequencies and amplitude of each joint's residual, smoothed, for plots."""
    error = residuals.error - residuals.error.mean(axis=0)
    window = np.hanning(len(error))[:, None]
    amplitude = np.abs(np.fft.rfft(error * window, axis=0)) / max(1.0, window.sum() / 2)
    frequencies = np.asarray(np.fft.rfftfreq(len(error), 1.0 / residuals.rate), dtype=np.float64)
    return frequencies, lowpass(amplitude, 1.0, 0.2) if len(amplitude) > 60 else amplitude
