"""Whether positions of joints that slide are in metres: against limits, usual speeds, and the described masses."""

from __future__ import annotations

import numpy as np

from tauform.arrays import AnyArray, Array
from tauform.description.joint import Limits
from tauform.description.robot import Robot
from tauform.errors import RecordingError
from tauform.identification.diagnosis.masses import has_plausible_masses
from tauform.identification.fitted.model import FittedModel
from tauform.identification.logs.unit_table import unit_of
from tauform.identification.recording.recording import SAMPLES_PER_PIECE, Recording
from tauform.identification.recording.rest import sampled
from tauform.identification.verdict.mass_matrices import mass_matrix_columns, postures
from tauform.wording import argument

# Units of lengths that logs are written in, the likeliest first.
WORDS = {"mm": "millimetres", "um": "micrometres", "cm": "centimetres", "in": "inches"}
# A slide may pass its limits by this share of their distance: those of a description are often rounded.
MAX_PASSED_SHARE = 0.25
# No slide is faster [m/s], and none without limits is longer [m]; speeds are taken over a window [s].
MAX_SPEED, MAX_TRAVEL, SPEED_WINDOW = 20.0, 50.0, 0.05
# Moving masses below this share of the described ones, and above its inverse, are those of another unit: rotors add to
# a slide's mass, so that more is allowed upwards.
MIN_MASS_SHARE, MAX_MASS_RATIO = 0.2, 100.0
# Ratios of masses that a unit makes are met within this factor.
UNIT_FACTOR = 3.0


def check_slides(robot: Robot, recording: Recording) -> None:
    """Refuse positions of slides that are no metres.

    Raises:
        RecordingError: a slide would leave its limits, or be faster than any, while another unit fits.
    """
    joints = {joint.name: joint for joint in robot.joints}
    slides = [j for j, name in enumerate(robot.joint_names) if not joints[name].type.is_angle]
    if not slides:
        return
    q, speeds = sampled(recording.q), _speeds(recording)
    units = {j: _unit(joints[robot.joint_names[j]].limits, q[:, j], float(speeds[j])) for j in slides}
    wrong = {j: unit for j, unit in units.items() if unit is not None}
    if not wrong:
        return
    j, unit = next(iter(wrong.items()))
    low, high = float(q[:, j].min()), float(q[:, j].max())
    # The unit of a field is that of all slides, and of no joint that turns.
    of_all = len(wrong) == len(slides)
    told = argument("units", {"q" if of_all else "COLUMN": unit}) + ("" if of_all else ", the name of its column")
    raise RecordingError(
        f"{recording.name}: joint {robot.joint_names[j]!r} slides from {low:.4g} to {high:.4g} at {speeds[j]:.3g} per "
        f"second, which reads as {WORDS[unit]}",
        argument="units",
        remedy=f"read its positions with {told}, and measured velocities in {unit}/s",
    )


def _speeds(recording: Recording) -> Array:
    """(n,) speed that a joint seldom exceeds, over a while that noise does not reach."""
    stretch = slice(0, SAMPLES_PER_PIECE)
    # Repeated stamps would divide by zero.
    t, fresh = np.unique(np.asarray(recording.t[stretch]), return_index=True)
    q = np.asarray(recording.q[stretch])[fresh]
    apart = max(1, min(len(t) // 4, int(np.ceil(SPEED_WINDOW * recording.rate))))
    speeds = np.abs(q[apart:] - q[:-apart]) / (t[apart:] - t[:-apart])[:, None]
    return np.asarray(np.percentile(speeds, 95, axis=0))


def _unit(limits: Limits, q: Array, speed: float) -> str | None:
    """The unit that positions seem to be in; None where metres are as good."""
    lower, upper = limits.lower, limits.upper
    ends = np.array([q.min(), q.max()])
    if not np.isfinite([lower, upper]).all():
        too_far = np.ptp(ends) > MAX_TRAVEL or speed > MAX_SPEED
        return next(iter(WORDS)) if too_far else None
    margin = MAX_PASSED_SHARE * (upper - lower)

    def fits(size: float) -> bool:
        return bool(lower - margin <= size * ends[0] and size * ends[1] <= upper + margin)

    if fits(1.0):
        return None
    sizes = {word: unit.si for word in WORDS if (unit := unit_of(word)) is not None}
    return next((word for word, size in sizes.items() if fits(size)), None)


def mass_ratios(fit: FittedModel) -> Array:
    """(n,) identified over described inertia of each slide, where it is off beyond doubt; NaN elsewhere.

    M_jj of a slide is the mass that moves with it, and its rotor: postures hardly change it, and gravity is not asked.
    """
    kinds = {joint.name: joint.type.is_angle for joint in fit.robot.joints}
    slides = ~np.array([kinds[name] for name in fit.robot.joint_names])
    found = np.full(len(slides), np.nan)
    if not slides.any() or not has_plausible_masses(fit.robot):
        return found
    # (n, p) over postures: means, for a rod's inertia changes, and its mass does not.
    rows = np.einsum("kjjp->jp", mass_matrix_columns(fit, postures(fit))) / len(postures(fit))
    p = rows.shape[1]
    base = fit.design.base
    described = rows @ (base.grouping @ fit.robot.parameters)
    identified = rows @ fit.values[:p]
    spread = 3 * np.sqrt(np.maximum(np.einsum("jp,pq,jq->j", rows, fit.covariance[:p, :p], rows), 0.0))
    off = _off(identified, spread, described) & slides
    found[off] = identified[off] / described[off]
    return found


def _off(identified: Array, spread: Array, described: Array) -> AnyArray:
    little = identified + spread < MIN_MASS_SHARE * described
    much = identified - spread > MAX_MASS_RATIO * described
    return np.asarray((little | much) & (described > 0))


def unit_of_ratio(ratio: float) -> str | None:
    """The unit of positions that makes masses that many times as large, where there is one."""
    sizes = {word: unit.si for word in WORDS if (unit := unit_of(word)) is not None}
    return next((w for w, size in sizes.items() if size / UNIT_FACTOR < ratio < UNIT_FACTOR * size), None)
