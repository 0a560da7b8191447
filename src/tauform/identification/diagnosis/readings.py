"""Readings that no robot makes: samples that jump, positions that slip, stretches where a log stands still.

They are named with joint, size and time, and never dropped in silence.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tauform.arrays import AnyArray, Array
from tauform.identification.diagnosis.suspicion import FORBIDS, SPOILS, Suspicion
from tauform.identification.recording.segments import Segment
from tauform.messages import counted
from tauform.wording import argument

MOST_SAMPLES = 200_000
# A change of position from one sample to the next is a jump where it is so many times what the joint seldom exceeds
# (that of one sample of a hundred), and what it does there and then, and where it can be seen at all [rad or m].
MIN_JUMP, MIN_JUMP_HERE, LEAST_JUMP = 3.0, 8.0, 5e-3
# Samples around a jump that tell what the joint does there; jumps that return within so many are outliers.
N_AROUND, MOST_OUTLIERS = 10, 20
# Sizes of two jumps that belong together agree within this share.
MAX_SIZE_DIFFERENCE = 0.3
# A torque is an outlier beyond the range of most by so many times that range, in no more samples in a row.
MIN_RANGES_BEYOND, MOST_IN_A_ROW = 2.0, 5
# All columns hold for this long [s] and so many samples where a log stands still, and the joint was faster than this
# share of its usual speed before.
LEAST_FROZEN, FEWEST_FROZEN, MIN_SPEED_SHARE = 0.05, 10, 0.05
# What a step of a position is, in words.
SLIP = "a slip, or lost counts"
# Places that are named one by one.
MOST_NAMED = 3


def find_bad_readings(segments: Sequence[Segment], names: tuple[str, ...]) -> list[Suspicion]:
    """Suspicions of outliers, slips and frozen stretches."""
    frozen: list[str] = []
    jumps: list[str] = []
    spikes: list[str] = []
    for segment in segments:
        t, q, tau = (np.asarray(x[:MOST_SAMPLES], dtype=np.float64) for x in (segment.t, segment.q, segment.tau))
        if len(t) < 4 * N_AROUND:
            continue
        held = _held(q, tau)
        still, inside = _frozen(t, q, held, segment.rate)
        frozen += still
        for j, name in enumerate(names):
            jumps += _jumps(t, q[:, j], inside, name)
            spikes += _spikes(t, tau[:, j], name)
    said = [*frozen, *jumps, *spikes]
    if not said:
        return []
    more = [f"and {len(said) - 2 * MOST_NAMED} more"] if len(said) > 2 * MOST_NAMED else []
    what = f"readings that no robot makes: {', '.join([*said[: 2 * MOST_NAMED], *more])}"
    remedy = f"repair these samples in the log, or cut them out ({argument('between')}), then identify again"
    # A position that jumps has accelerations without bounds: no value, sign or law is worth a word beside them. From a
    # slip on every position is wrong.
    forbids = frozen or any(SLIP in sentence for sentence in jumps)
    return [Suspicion(what, remedy, FORBIDS if forbids else SPOILS, is_cause=bool(frozen or jumps))]


def _held(q: Array, tau: Array) -> AnyArray:
    """(N - 1,) whether all positions and torques are those of the sample before."""
    return np.asarray((np.diff(q, axis=0) == 0).all(axis=1) & (np.diff(tau, axis=0) == 0).all(axis=1))


def stands_still(q: Array, other: Array) -> AnyArray:
    """(N - 1,) steps within a stretch of copied samples, and the one that ends it and makes up for them."""
    held, found = _held(q, other), np.zeros(max(0, len(q) - 1), dtype=bool)
    edges = np.diff(np.concatenate([[0], held.astype(int), [0]]))
    for first, last in zip(np.flatnonzero(edges > 0).tolist(), np.flatnonzero(edges < 0).tolist(), strict=True):
        # Loggers that are faster than their sensors copy a few samples all the time.
        found[first : last + 1] = last - first >= FEWEST_FROZEN
    return found


def _frozen(t: Array, q: Array, held: AnyArray, rate: float) -> tuple[list[str], AnyArray]:
    """Stretches in which the log stands still while a joint moves, and the steps that end one or lie inside."""
    said, inside = [], np.zeros(len(held), dtype=bool)
    edges = np.diff(np.concatenate([[0], held.astype(int), [0]]))
    usual = np.percentile(np.abs(np.diff(q, axis=0)), 99, axis=0)
    for first, last in zip(np.flatnonzero(edges > 0).tolist(), np.flatnonzero(edges < 0).tolist(), strict=True):
        # Motion goes on behind a log that stands: joints move as it begins, or stand elsewhere when it ends.
        before = np.abs(q[first] - q[max(0, first - N_AROUND)]) / N_AROUND
        after = np.abs(q[min(last + 1, len(q) - 1)] - q[last])
        moves = (before > MIN_SPEED_SHARE * usual) | (after > MIN_JUMP * usual)
        if last - first >= max(FEWEST_FROZEN, LEAST_FROZEN * rate) and moves.any():
            said.append(f"all columns stand still for {t[last] - t[first]:.2g} s from t = {t[first]:.4g} s on")
        # What follows copies makes up for them: that is no slip.
        inside[first : last + 1] = True
    return said[:MOST_NAMED], inside


def _jumps(t: Array, q: Array, copied: AnyArray, name: str) -> list[str]:
    """Outliers and slips of a position."""
    step = np.diff(q)
    size = np.abs(step)
    usual = float(np.percentile(size[size > 0], 99)) if (size > 0).any() else 0.0
    far = np.flatnonzero((size > max(MIN_JUMP * usual, LEAST_JUMP)) & ~copied)
    jumps = [k for k in far.tolist() if size[k] > MIN_JUMP_HERE * _around(size, k)]
    # A motion that jumps all the time is another fault, such as a wrong unit.
    if not 0 < len(jumps) <= len(size) // 50:
        return []
    found, k = [], 0
    while k < len(jumps):
        here = jumps[k]
        back = jumps[k + 1] if k + 1 < len(jumps) else -1
        returns = 0 < back - here <= MOST_OUTLIERS and abs(step[back] + step[here]) < MAX_SIZE_DIFFERENCE * size[here]
        if returns:
            samples = counted(int(back - here), "position sample")
            found.append(f"{samples} of {name} off by {step[here]:.2g} at t = {t[here + 1]:.4g} s")
        else:
            found.append(f"the position of {name} steps by {step[here]:.2g} at t = {t[here + 1]:.4g} s ({SLIP})")
        k += 2 if returns else 1
    return found[:MOST_NAMED]


def _around(size: Array, k: int) -> float:
    """Usual change of the samples around one."""
    return float(np.median(size[max(0, k - N_AROUND) : k + N_AROUND + 1]))


def _spikes(t: Array, tau: Array, name: str) -> list[str]:
    """Torques far beyond all others."""
    low, high = np.percentile(tau, [1, 99])
    width = MIN_RANGES_BEYOND * (high - low)
    beyond = (tau < low - width) | (tau > high + width)
    if not width > 0 or not 0 < beyond.sum() <= len(tau) // 200:
        return []
    edges = np.diff(np.concatenate([[0], beyond.astype(int), [0]]))
    runs = list(zip(np.flatnonzero(edges > 0), np.flatnonzero(edges < 0), strict=True))
    return [
        f"{counted(int(last - first), 'torque sample')} of {name} at {tau[first]:.3g} at t = {t[first]:.4g} s"
        for first, last in runs[:MOST_NAMED]
        if last - first <= MOST_IN_A_ROW
    ]
