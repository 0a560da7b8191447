"""UnitSummary: what comparisons need to know of a unit; a few hundred kilobytes however long its logs are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from tauform.arrays import Array
from tauform.closedform.threads import on_one_thread
from tauform.fleet.condense import condense
from tauform.fleet.condensed import Plan, UnitLogs, merged
from tauform.fleet.dataset import LogFile
from tauform.fleet.trends import Trend, trends
from tauform.identification.regression.estimate import least_squares
from tauform.identification.regression.evidence import Evidence

# Links of a unit are the fleet's within this share, where its own logs do not say otherwise.
LIKELY_SPREAD = 0.1


@dataclass(frozen=True, eq=False)
class UnitSummary:
    """A unit's own values and what hypotheses about it are tested on.

    Attributes:
        values, covariance: (p,), (p, p) from its own logs.
        triangle: (p + 1, p + 1) of all rows, unweighted: squares of residuals for any values.
        torque_square: sum of all squared torques.
        table: (r, p + n^2 + 1) weighted rows: the model's columns, the torque predicted for joint k as it acts at joint
            j (n j + k), and the torque.
        trends: values over time.
        excluded: (mark, reason) of logs that were not used.
        n_windows: recordings.
        seconds: of motion.
        excerpt: of its last recording, see `Window`.
    """

    unit: str
    values: Array
    covariance: Array
    triangle: Array
    torque_square: float
    table: Array
    trends: tuple[Trend, ...]
    excluded: tuple[tuple[str, str], ...]
    n_windows: int
    seconds: float
    excerpt: Array

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
    everything = _one_block(merged([window.evidence for window in logs.windows]))
    evidence = everything.chosen(range(p))
    # A hundred times the value or its deviation: it decides nothing that logs say anything about.
    wide = np.maximum(100 * np.abs(plan.values), 100 * plan.deviations)
    found = least_squares(evidence, prior=(plan.values, wide))
    # Over time the links are held: at the unit's own values, near the fleet's where logs leave them open.
    near = np.maximum(LIKELY_SPREAD * np.abs(plan.values), plan.deviations)
    held = least_squares(evidence, prior=(plan.values, near)).values
    return UnitSummary(
        unit=logs.unit,
        values=found.values,
        covariance=found.covariance(evidence, plan.inflation),
        triangle=evidence.stacked(np.ones(evidence.n_joints)),
        torque_square=float(evidence.torque_squares.sum()),
        table=_table(everything, plan),
        trends=tuple(trends(logs.unit, logs.windows, held, plan, found.sigma)),
        excluded=logs.excluded,
        n_windows=len(logs.windows),
        seconds=sum(window.end - window.start for window in logs.windows),
        # The last: what the unit does now.
        excerpt=logs.windows[-1].excerpt,
    )


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


def _one_block(evidence: Evidence) -> Evidence:
    """All windows in one triangle per joint."""
    n, k = evidence.n_joints, evidence.n_columns + 1
    stacked = evidence.triangles.transpose(1, 0, 2, 3).reshape(n, -1, k)
    triangles: Array = np.asarray(np.linalg.qr(stacked, mode="r"))[None]
    count = np.array([evidence.n_rows])
    return Evidence(triangles, count, (0,), evidence.peaks, evidence.torque_peaks)


def _table(evidence: Evidence, plan: Plan) -> Array:
    n, p = len(plan.weights), len(plan.values)
    # Rows whose noise is one: each joint by the size of its residuals, and by how much these are correlated.
    scale = plan.weights / np.sqrt(plan.inflation)
    rows = np.zeros((n, p + n + 1, p + n * n + 1))
    for j in range(n):
        R = scale[j] * evidence.triangles[0, j]
        rows[j][:, :p], rows[j][:, -1] = R[:, :p], R[:, -1]
        rows[j][:, p + n * j : p + n * j + n] = R[:, p : p + n]
    stacked: Array = scipy.linalg.qr(rows.reshape(-1, rows.shape[-1]), mode="r", check_finite=False)[0]
    # The last row is what no column explains: it says nothing about any of them.
    return stacked[: p + n * n]
