"""UnitSummary: what comparisons need to know of a unit; a few hundred kilobytes however long its logs are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from tauform.arrays import Array
from tauform.closedform.threads import on_one_thread
from tauform.fleet.evidence.condense import condense
from tauform.fleet.evidence.condensed import Plan, UnitLogs, Window, merged, one_block
from tauform.fleet.evidence.courses import Course, courses
from tauform.fleet.evidence.estimates import held_in
from tauform.fleet.evidence.in_time import in_time
from tauform.fleet.evidence.own import wide_prior
from tauform.fleet.evidence.thermal import at_reference
from tauform.fleet.evidence.trends import Trend, trends
from tauform.fleet.sources.reading import LogFile, name_of
from tauform.identification.regression.estimate import Estimate, least_squares
from tauform.identification.regression.evidence import updated


@dataclass(frozen=True, eq=False)
class UnitSummary:
    """A unit's own values and what hypotheses about it are tested on.

    Attributes:
        values, covariance: (p,), (p, p) from its own logs.
        scatter: (p,) variance of the values as its recordings differ, over the one of the covariance; empty for one.
        triangle: (p + 1, p + 1) of all rows, unweighted: squares of residuals for any values.
        torque_square: sum of all squared torques.
        table: (r, p + n^2 + c + 1) weighted rows: the model's columns, the torque predicted for joint k as it acts at
            joint j (n j + k), faults that came with time, and the torque.
        courses: those faults.
        trends: values over time.
        excluded: (mark, reason) of logs that were not used.
        used: (file, start of its recording [s], samples per second) of the others.
        n_windows: recordings.
        seconds: of motion.
        excerpt: of its last recording, see `Window`.
        left: (w, n) RMS of what no values explain of the torques, recording by recording.
        torque: (n,) RMS of the torques.
    """

    unit: str
    values: Array
    covariance: Array
    scatter: Array
    triangle: Array
    torque_square: float
    table: Array
    courses: tuple[Course, ...]
    trends: tuple[Trend, ...]
    excluded: tuple[tuple[str, str], ...]
    used: tuple[tuple[str, float, float], ...]
    n_windows: int
    seconds: float
    excerpt: Array
    left: Array
    torque: Array

    def error(self, values: Array) -> float:
        """RMS error over RMS torque with these values."""
        # [A tau] (x, -1) = A x - tau, and R has the same squares.
        left = self.triangle @ np.append(values, -1.0)
        return float(np.sqrt(left @ left / max(self.torque_square, 1e-300)))


@on_one_thread
def summarize(logs: UnitLogs, plan: Plan) -> UnitSummary | None:
    """What the evidence of a unit says; None without any."""
    if not logs.windows:
        return None
    p = len(plan.values)
    # Once, here: all that follows is of one temperature.
    windows = at_reference(in_time(logs.windows), plan)
    everything = one_block(merged([window.evidence for window in windows]))
    evidence = everything.chosen(range(p))
    found = least_squares(evidence, prior=wide_prior(plan.values, plan.deviations))
    held, slow = held_in(everything, plan), plan.colour.of_values
    # A quiet unit is judged like a usual one; what a model does not explain of a noisy one must not pass for a fault.
    noise = np.maximum(held.sigma, 1.0 / plan.weights) * np.sqrt(plan.inflation)
    timed, table = _table(windows, held.values, plan, 1.0 / noise)
    covariance = found.covariance(evidence, plan.inflation) * np.sqrt(np.outer(slow, slow))
    return UnitSummary(
        unit=logs.unit,
        values=found.values,
        covariance=covariance,
        scatter=_scatter(windows, found, np.diag(covariance)),
        triangle=evidence.stacked(np.ones(evidence.n_joints)),
        torque_square=float(evidence.torque_squares.sum()),
        table=table,
        courses=timed,
        trends=tuple(trends(logs.unit, windows, held.values, plan, noise)),
        excluded=logs.excluded,
        used=tuple((name_of(mark), w.start, 1.0 / w.period) for w in windows for mark in w.files),
        n_windows=len(windows),
        seconds=sum(window.end - window.start for window in windows),
        # The last: what the unit does now.
        excerpt=windows[-1].excerpt,
        left=np.array([_left(window) for window in windows]),
        torque=np.sqrt(evidence.torque_squares / evidence.n_rows),
    )


def _left(window: Window) -> Array:
    """(n,) RMS of what no column explains, with values that each joint and recording may choose for itself."""
    # Whatever else is wrong with a unit (values, gains, exchanged torques) has a column: the last entry of a triangle.
    corner = window.evidence.triangles[..., -1, -1]
    squares = (corner**2).sum(axis=0)
    used = window.evidence.n_columns + 1
    return np.asarray(np.sqrt(squares / max(1, window.evidence.n_rows - used)))


def _scatter(windows: Sequence[Window], found: Estimate, variances: Array) -> Array:
    """Variances that recordings, left out one by one, show (the jackknife of Quenouille and Tukey), over given ones.

    They count what a model makes wrong in each motion anew, which no spectrum of residuals shows.
    """
    count, p = len(windows), len(found.values)
    if count < 2:
        return np.zeros(0)
    R = np.array([window.evidence.triangles[0] for window in windows]) * found.weights[:, None, None]
    A, left = R[..., :p], R[..., -1] - R[..., :p] @ found.values
    normal = np.linalg.inv(found.bread)
    # x without a recording - x = -(N - N_i)^-1 A_i^T e_i
    moved = [
        np.linalg.solve(normal - np.einsum("jrp,jrq->pq", own, own, optimize=True), np.einsum("jrp,jr->p", own, e))
        for own, e in zip(A, left, strict=True)
    ]
    off = np.array(moved) - np.mean(moved, axis=0)
    return (count - 1) / count * (off**2).sum(axis=0) / np.maximum(variances, 1e-300)


def imported() -> None:
    """A task of a worker: import what the first of the other ones would import, a second and more."""
    import scipy.signal  # noqa: F401  (with this module; all of it that filters need)


def condensed(plan: Plan, unit: str, files: Sequence[LogFile], known: UnitLogs | None) -> UnitLogs:
    """A task of a worker: read and condense a unit."""
    return condense(unit, files, plan, known)


def summarized(
    plan: Plan, unit: str, files: Sequence[LogFile], known: UnitLogs | None, keep: bool
) -> tuple[UnitSummary | None, UnitLogs]:
    """A task of a worker: read, condense and summarize a unit.

    Args:
        keep: return the evidence too, for a checkpoint; else only what was set aside.
    """
    logs = condense(unit, files, plan, known)
    summary = summarize(logs, plan)
    return summary, logs if keep else UnitLogs(unit, (), logs.excluded)


def _table(windows: Sequence[Window], held: Array, plan: Plan, scale: Array) -> tuple[tuple[Course, ...], Array]:
    """Rows whose noise is one, `scale` times those of each joint."""
    n, p = len(plan.weights), len(plan.values)
    found, timed = courses(windows, held, plan, scale)
    c = sum(len(own.columns) for own in found)
    stack = []
    for j, later in enumerate(timed):
        R = np.array([window.evidence.triangles[0, j] for window in windows])
        local = scale[j] * np.concatenate([R[..., :-1], later, R[..., -1:]], axis=-1)
        # Joint by joint first: it feels few of the columns, and QR costs the square of their number.
        local = updated(np.zeros((p + n + c + 1,) * 2), local.reshape(-1, p + n + c + 1))
        rows = np.zeros((len(local), p + n * n + c + 1))
        rows[:, :p], rows[:, p + n * n :] = local[:, :p], local[:, p + n :]
        rows[:, p + n * j : p + n * j + n] = local[:, p : p + n]
        stack.append(rows)
    stacked: Array = scipy.linalg.qr(np.concatenate(stack), mode="r", check_finite=False)[0]
    # The last row is what no column explains: it says nothing about any of them.
    return tuple(found), stacked[: p + n * n + c]
