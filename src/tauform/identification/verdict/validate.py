"""Errors: of the fit itself, of held-out blocks, of validation recordings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from tauform.arrays import Array
from tauform.errors import IdentificationError
from tauform.identification.fitted.model import Fitted, FittedModel
from tauform.identification.recording.segments import Segment
from tauform.identification.regression.blocks import N_FOLDS
from tauform.identification.regression.estimate import Refit
from tauform.identification.regression.evidence import Evidence
from tauform.identification.regression.residuals import HELD_OUT, VALIDATION, Errors, Residuals
from tauform.identification.regression.rows import Rows, RowSource
from tauform.identification.signals.filters import Filters, correlation_of_filters, grid_of, lowpass
from tauform.identification.verdict.elsewhere import with_elsewhere
from tauform.identification.verdict.unlike import unlike

# Lags of the residuals' correlation that are summed, in rows.
N_LAGS = 10
# Unfiltered samples that are compared in all, and read from a segment.
MOST_RAW_SAMPLES, MOST_SAMPLES_READ = 5_000, 200_000


def residuals_of(values: Array, rows: Iterable[Rows], rate: float) -> Residuals:
    """Measured and predicted torque at all rows; `rate` is a fallback for a single row."""
    parts = [(part.t, part.tau, part.A @ values, np.full(len(part.t), part.recording)) for part in rows]
    t, measured, predicted, recording = (np.concatenate(column) for column in zip(*parts, strict=True))
    # Steps between stretches are long or negative; the median ignores them.
    steps = np.diff(t)
    rate = 1.0 / float(np.median(steps[steps > 0])) if len(t) > 1 else rate
    return Residuals(t, measured, predicted, recording, rate)


def inflation_of(residuals: Residuals, of_filters: float = 1.0) -> Array:
    """(n,) factor on the variance for residuals that are correlated in time: 1 + 2 sum of rho_k, tapered.

    Args:
        of_filters: the factor that filters alone bring; a fit takes on some of what is correlated, so that its
            residuals show too little of that.
    """
    error = residuals.error - residuals.error.mean(axis=0)
    rho = autocorrelation(error, min(N_LAGS, max(1, len(error) // 4)))
    # A triangular (Bartlett) taper: without it the sum of noisy correlations can be negative.
    taper = 1 - np.arange(1, len(rho)) / len(rho)
    # At least what the filters bring: residuals of a close fit look whiter than the noise was.
    return np.maximum(of_filters, 1.0 + 2.0 * (taper[:, None] * rho[1:]).sum(axis=0))


def inflation_of_filters(filters: Filters | None, rate: float) -> float:
    """1 + 2 sum of rho_k at the rows' spacing, of white noise after the torque's filter."""
    return float(2.0 * correlation_of_filters(filters, rate).sum() - 1.0)


def autocorrelation(error: Array, n_lags: int) -> Array:
    """(n_lags + 1, n) correlation of each column with itself, k rows later."""
    power = (error**2).sum(axis=0)
    # A joint without residual: zero correlation rather than 0 / 0.
    power = np.where(power > 0, power, 1.0)
    lags = range(n_lags + 1)
    return np.array([(error[k:] * error[: len(error) - k]).sum(axis=0) / power for k in lags])


def held_out_errors(
    evidence: Evidence, refit: Refit, values: Array, choice_cost: float = 1.0, source: RowSource | None = None
) -> tuple[Errors, tuple[str, ...]]:
    """Each fold of neighbouring blocks predicted with values that the same estimator finds in all the others.

    Args:
        values: from all blocks, for folds without which the motion leaves values open.
        choice_cost: how many times as large errors are on blocks that the choice of terms has not seen either.
        source: of the rows, where they are at hand: what is expected in other postures follows from them.

    Returns:
        the errors, and a finding where such folds were predicted by values that had seen them.
    """
    seen: list[int] = []
    left_out: list[Array] = []

    def refitted(blocks: Sequence[int]) -> Array:
        try:
            left_out.append(refit(blocks))
        except IdentificationError:
            seen.append(1)
            return values
        return left_out[-1]

    squares = choice_cost**2 * evidence.squares_of_refits(refitted)
    errors = Errors.of_squares(squares, evidence.torque_squares, evidence.rows_heard, HELD_OUT)
    if source is not None:
        errors = with_elsewhere(errors, source, values, left_out)
    if not seen:
        return errors, ()
    return errors, (
        f"some values show in one part of the recording only: {len(seen)} of {len(evidence.folds(N_FOLDS))} held-out "
        "blocks were predicted by values that had seen them, so that their error is too small; validate on another "
        "recording",
    )


def errors_of(fit: FittedModel, source: RowSource, name: str) -> Errors:
    """A fit's errors on the rows of other recordings, filtered and as measured."""
    rows = source.kept()
    residuals = residuals_of(fit.values, rows, source.segments[0].rate)
    filtered = Errors.between(residuals.measured, residuals.predicted, name)
    return replace(filtered, unfiltered=unfiltered_errors(fit, source), unlike=unlike(fit, rows))


def validated(fit: Fitted) -> Fitted:
    """The fit with its errors on its validation recordings, where there are any."""
    if fit.others is None:
        return replace(fit, validation=None)
    # Judged with the friction by load of its own links.
    others = replace(fit.others, design=fit.own_design)
    return replace(fit, others=others, validation=errors_of(fit, others, VALIDATION))


def unfiltered_errors(fit: FittedModel, source: RowSource) -> Errors:
    """Errors against the torques as they were measured, at samples spread over each segment."""
    measured, predicted = [], []
    for index, segment in enumerate(source.segments):
        part = slice(0, min(segment.n_samples, MOST_SAMPLES_READ))
        grid = grid_of(segment.rate, source.filters)
        states = source.smoother.states(segment, part, source.filters, grid.states)
        # Spread over all segments: some thousand samples settle an RMS.
        step = max(1, len(states[0]) * len(source.segments) // MOST_RAW_SAMPLES)
        inner = grid.settled(len(states[0]), step, least=1)
        measured.append(np.asarray(segment.tau[part], dtype=np.float64)[:: grid.states][inner])
        temperatures = segment.temperatures(part, grid.states)
        q, qd, qdd = (x[inner] for x in states)
        predicted.append(fit.predict(q, qd, qdd, None if temperatures is None else temperatures[inner], tier=1))
        for own in (measured, predicted):
            own[-1] = _of_motion(source, segment, grid.states, inner, own[-1])
        if source.silent:
            measured[-1], predicted[-1] = (x[-1] * ~source.silent[index] for x in (measured, predicted))
    return Errors.between(np.concatenate(measured), np.concatenate(predicted), "unfiltered torques")


def _of_motion(source: RowSource, segment: Segment, stride: int, inner: slice, torques: Array) -> Array:
    """Torques at some states from a segment's beginning on, zero where a joint is at rest."""
    samples = stride * np.arange(inner.start, inner.stop, inner.step)[: len(torques)]
    moving = source.moving(segment, samples, stride)
    return torques if moving is None else torques * moving


def spectrum(residuals: Residuals) -> tuple[Array, Array]:
    """Frequencies and amplitude of each joint's residual, smoothed, for plots."""
    error = residuals.error - residuals.error.mean(axis=0)
    window = np.hanning(len(error))[:, None]
    amplitude = np.abs(np.fft.rfft(error * window, axis=0)) / max(1.0, window.sum() / 2)
    frequencies = np.asarray(np.fft.rfftfreq(len(error), 1.0 / residuals.rate), dtype=np.float64)
    return frequencies, lowpass(amplitude, 1.0, 0.2) if len(amplitude) > 60 else amplitude
