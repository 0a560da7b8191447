"""Courses: faults that come with time, as columns of a unit's table: friction that drifts, a gain that is lost one day.

A fault that is there from the first recording on is one of the fleet's columns. One that comes later is the same column
times its course: 0 before, 1 after (a step), or from 0 at the first recording to 1 at the last (a drift).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from tauform.arrays import AnyArray, Array
from tauform.fleet.evidence.condensed import Plan, Window

CONSTANT, DRIFT, STEP = "constant", "drift", "step"
# Quantiles of a fleet by which its scatter is known; faults of fewer than a quarter of the units do not move them.
USUAL_SHARES = (0.5, 0.75)
# What is expected of healthy units counts like so many units that show it.
UNITS_OF_EXPECTATION = 10
# Degrees of freedom of what models do wrong in single recordings.
MODEL_FREEDOM = 5.0
# Name, joints and course of a fault.
Key = tuple[str, tuple[int, ...], str]


@dataclass(frozen=True)
class Course:
    """A fault with its course in time.

    Attributes:
        name, joints: as those of the fault.
        course: "drift" or "step", or "constant" for one that was always there.
        at: start of the first recording after a step, of the first one for a drift [s].
        columns: of the unit's table behind those of the fleet; of `Constant` for those that were always there.
        n_tried: places of a step that were tried.
        colour: factor on the variance of its noise, see `Colour`.
        tails: degrees of freedom of what single recordings show of it, see `heavy_tailed`.
    """

    name: str
    joints: tuple[int, ...]
    course: str
    at: float
    columns: range
    n_tried: int
    colour: float
    tails: float

    @property
    def key(self) -> Key:
        """The same fault in other units."""
        return self.name, self.joints, self.course


def ramp(start: Array) -> Array:
    """(..., w) from 0 at the first recording to 1 at the last."""
    since: Array = start - start[..., :1]
    return since / np.maximum(since[..., -1:], 1e-300)


def best_step(x: Array, precision: Array) -> tuple[Array, AnyArray]:
    """The place that parts each series (..., w) best: difference of the means over its deviation, first index after."""
    before, after = np.cumsum(precision, axis=-1)[..., :-1], np.cumsum(precision[..., ::-1], axis=-1)[..., -2::-1]
    sums = np.cumsum(precision * x, axis=-1)
    means = sums[..., :-1] / np.maximum(before, 1e-300), (sums[..., -1:] - sums[..., :-1]) / np.maximum(after, 1e-300)
    z = np.abs(means[1] - means[0]) * np.sqrt(before * after / np.maximum(before + after, 1e-300))
    return z.max(axis=-1), np.argmax(z, axis=-1) + 1


def best_line(x: Array, precision: Array, course: Array) -> tuple[Array, Array, Array]:
    """Slopes of series (..., w) over their deviations, and the values at 0 and at 1 of the course."""
    total = precision.sum(axis=-1)
    mean, centre = (precision * x).sum(axis=-1) / total, (precision * course).sum(axis=-1) / total
    off = course - centre[..., None]
    square = np.maximum((precision * off**2).sum(axis=-1), 1e-300)
    slope = (precision * off * x).sum(axis=-1) / square
    first = mean - slope * centre
    return np.abs(slope) * np.sqrt(square), first, first + slope


def widened(ratio: Array, n_units: int) -> Array:
    """Ratios of variances that were seen in so many units; never below 1: less may be seen by chance."""
    return np.maximum(1.0, 1.0 + (ratio - 1.0) * n_units / (n_units + UNITS_OF_EXPECTATION))


def heavy_tailed(of_noise: Array | float) -> Array:
    """Degrees of freedom of a variance that is so many times that of noise, the rest by the model (Satterthwaite 1946).

    Noise is the sum of many samples. What a model does wrong in one recording comes from few moves: some recordings are
    off by many times the usual, as Student's distribution has it.
    """
    by_model = 1.0 - 1.0 / np.maximum(of_noise, 1.0)
    return np.asarray(MODEL_FREEDOM / np.maximum(by_model**2, 1e-9))


def two_sided(z: Array, freedom: Array) -> Array:
    """Probability of deviations as large, by Student's distribution."""
    return np.asarray(2 * special.stdtr(freedom, -z))


def courses(windows: Sequence[Window], held: Array, plan: Plan, scale: Array) -> tuple[list[Course], list[Array]]:
    """Courses of all faults, and their columns: for each joint (w, rows, columns) of the windows' triangles.

    Args:
        held: (p + n) of the unit as a whole, see `left_of`; for the place of a step.
        scale: (n,) of rows whose noise is one.
    """
    n, p = len(plan.weights), len(plan.values)
    R = np.array([window.evidence.triangles[0] for window in windows])
    if len(windows) < 2:
        return [], [np.zeros((len(windows), R.shape[2], 0)) for _ in range(n)]
    start = np.array([window.start for window in windows])
    left = left_of(R, held, p) * scale[:, None]
    found, parts, first = [], [], 0
    for fault, colour in zip(plan.faults, plan.colour.of_faults, strict=True):
        felt = np.zeros((*R.shape[:3], fault.directions.shape[1]))
        for j in fault.joints or range(n):
            felt[:, j] = R[:, j, :, : p + n] @ fault.directions
        tails = float(heavy_tailed(colour * plan.colour.slow[list(fault.joints) or slice(None)].max()))
        k = _place(felt[..., 0] * scale[:, None], left)
        shapes = [(STEP, float(start[k]), np.where(np.arange(len(start)) >= k, 1.0, 0.0), len(start) - 1)]
        # A load is there or it is not; all else may also come slowly.
        if fault.name != "payload":
            shapes.append((DRIFT, float(start[0]), ramp(start), 1))
        for course, at, shape, tried in shapes:
            columns = range(first, first := first + felt.shape[-1])
            found.append(Course(fault.name, fault.joints, course, at, columns, tried, float(colour), tails))
            parts.append(felt * shape[:, None, None, None])
    table = np.concatenate(parts, axis=-1)
    return found, [table[:, j] for j in range(n)]


def left_of(triangles: Array, held: Array, p: int) -> Array:
    """(..., n, rows) what is left of the torques of triangles [A, predicted, tau] of windows.

    Args:
        triangles: (..., n, rows, p + n + 1).
        held: (p + n) values, and gains of the joints beyond 1.
    """
    # The torque predicted for joint j itself stands at p + j.
    own = np.stack([triangles[..., j, :, p + j] for j in range(len(held) - p)], axis=-2)
    left: Array = triangles[..., -1] - triangles[..., :p] @ held[:p] - own * held[p:, None]
    return left


def _place(felt: Array, left: Array) -> int:
    """The window from which on a fault explains most of what is left."""
    squares = (felt**2).sum(axis=(1, 2))
    size = (felt * left).sum(axis=(1, 2)) / np.maximum(squares, 1e-300)
    return int(best_step(size, squares)[1])
