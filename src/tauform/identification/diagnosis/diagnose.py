"""Diagnosis before blame: faults of the log and of the description, each tried as a hypothesis on the data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from tauform.arrays import Array
from tauform.closedform.threads import on_one_thread
from tauform.identification.diagnosis.described import compare_with_description
from tauform.identification.diagnosis.direction import Measure
from tauform.identification.diagnosis.explained import MIN_LOG_GAIN, Explained, Order
from tauform.identification.diagnosis.masses import has_masses
from tauform.identification.diagnosis.samples import sampled
from tauform.identification.diagnosis.suspicion import SPOILS, Suspicion
from tauform.identification.diagnosis.swaps import Swap, find_swap
from tauform.identification.recording.segments import Segment
from tauform.identification.regression.design import Design
from tauform.identification.regression.rows import Rows, RowSource
from tauform.wording import argument

# Whether a kind of column is of the motion, and the words for it.
KINDS = {"positions": "signs", "torques": "torque_signs"}
# Two explanations are as good as each other where the logarithms of their squares differ by less than this.
MAX_LOG_RATIO_OF_EQUALS = np.log(2.0)

# Samples at the largest value that cannot be by chance, and how many times those at each of the levels below it. The
# top of a sine that coarse steps hold has up to three times as many.
FEWEST_CLIPPED, MORE_THAN_BELOW, N_LEVELS_BELOW = 6, 5.0, 3
MOST_SAMPLES = 200_000
# Differences that are rounding, relative to the largest value.
MAX_ROUNDING_SHARE = 1e-9

# Change of a joint's friction worth a word, share of the residuals' squares that it must explain, and of the torque's.
MIN_FRICTION_CHANGE, MIN_EXPLAINED_SHARE, MIN_TORQUE_SHARE = 0.1, 0.3, 2.5e-5
# Part of the mean friction that a recording begins with at least, so that growth has a size.
SMALLEST_START = 0.05


def diagnose(source: RowSource, measure: Measure) -> tuple[Swap | None, tuple[Suspicion, ...]]:
    """Exchanged columns, and suspicions about signs, mount and load, where they explain the torques far better.

    Args:
        measure: the direction of gravity by all rows, from one near it.
    """
    robot = source.design.robot
    samples = sampled(source)
    if len(samples.tau) < robot.n_joints:
        return None, ()
    suspicions = compare_with_description(robot, samples, measure) if has_masses(robot) else []
    if any(s.is_cause for s in suspicions):
        return None, tuple(suspicions)
    explained = Explained(source.design, samples)
    swap = find_swap(explained)
    of_signs, signs = find_signs(explained, robot.joint_names)
    of_swap = np.inf if swap is None else 2 * float(np.log(swap.after).sum())
    if of_signs > of_swap + MAX_LOG_RATIO_OF_EQUALS:
        signs = []
    if of_swap > of_signs + MAX_LOG_RATIO_OF_EQUALS:
        swap = None
    return swap, (*signs, *suspicions)


# Columns of single joints with the opposite sign: the shared parameters of the links contradict them.


@on_one_thread
def find_signs(explained: Explained, names: tuple[str, ...]) -> tuple[float, list[Suspicion]]:
    """Errors of other signs, as a sum of logarithms, and the suspicions; none where they do not help far more."""
    if explained.needs_no_reason:
        return np.inf, []
    start = float(np.log(explained.before).sum())
    found = {kind: _turned(explained, word) for kind, word in KINDS.items()}
    losses = {kind: float(np.log(left).sum()) for kind, (_, left) in found.items()}
    best = min(losses.values())
    if start - best < MIN_LOG_GAIN:
        return np.inf, []
    close = [kind for kind, loss in losses.items() if loss < best + MAX_LOG_RATIO_OF_EQUALS and min(found[kind][0]) < 0]
    sentences = [_described(kind, *found[kind], explained.before, names) for kind in close]
    which = " or ".join(kind for kind in close)
    remedy = f"turn the {which} of these joints in the log ({argument('gains')} turns torques), then identify again"
    return best, [Suspicion("; or ".join(sentences), remedy)]


def _turned(explained: Explained, word: str) -> tuple[Order, Array]:
    """The signs that explain most, found joint by joint, and the squares that they leave."""
    signs: Order = (1,) * len(explained.as_is)
    left = explained.before
    for _ in explained.as_is[:-1]:
        trials = [(explained.left(**{word: other}), other) for other in _with_one_more(signs)]
        after, other = min(trials, key=lambda trial: float(np.log(trial[0]).sum()), default=(left, signs))
        if np.log(left).sum() - np.log(after).sum() < MIN_LOG_GAIN / 2:
            break
        signs, left = other, after
    return signs, left


def _with_one_more(signs: Order) -> list[Order]:
    return [(*signs[:j], -1, *signs[j + 1 :]) for j, sign in enumerate(signs) if sign > 0]


def _described(kind: str, signs: Order, left: Array, before: Array, names: tuple[str, ...]) -> str:
    which = ", ".join(names[j] for j, sign in enumerate(signs) if sign < 0)
    figures = [100 * float(np.sqrt(x.mean())) for x in (left, before)]
    gain = f"turned, they leave {figures[0]:.2g} % of the torques unexplained instead of {figures[1]:.2g} %"
    return f"the {kind} of {which} seem to have the opposite sign: {gain}"


# Torques that end at a limit: of the sensor, of the drive, or of the type that a logger writes.


def find_clipping(segments: Sequence[Segment], names: tuple[str, ...], unseen: bool = False) -> list[Suspicion]:
    """Joints whose torque is often exactly its largest value, more often than just below it.

    Args:
        unseen: the segments judge the fit; clipped torques bias its figure, not its values.
    """
    tau = np.concatenate([np.asarray(segment.tau[:MOST_SAMPLES]) for segment in segments])
    said = [_clipped(name, ends) for name, column in zip(names, tau.T, strict=True) if (ends := _ends(column))]
    if not said:
        return []
    which, biased = ("torques of the validation recording", "error") if unseen else ("torques", "values")
    what = f"{which} are clipped: {', '.join(said)}; that biases the {biased}"
    remedy = "record slower or with less load, or widen the range of the sensor or of the log"
    return [Suspicion(what, remedy, SPOILS, is_cause=False)]


def _clipped(name: str, ends: Sequence[tuple[float, int]]) -> str:
    return f"{name} at {' and '.join(f'{at:.4g} ({count} samples)' for at, count in ends)}"


def _ends(column: Array) -> list[tuple[float, int]]:
    """(value, samples) of each end of a column's range that it is cut off at."""
    found = []
    # A signal that is cut off sits at its end; else values do not repeat, or a coarse sensor repeats all of them.
    for end in (float(column.max()), float(column.min())):
        away = np.sort(np.abs(column - end))
        clipped = int(np.searchsorted(away, MAX_ROUNDING_SHARE * max(abs(end), 1e-300), side="right"))
        _, below = np.unique(away[clipped:], return_counts=True)
        if clipped >= FEWEST_CLIPPED and len(below) and clipped > MORE_THAN_BELOW * below[:N_LEVELS_BELOW].mean():
            found.append((end, clipped))
    return found


# Friction that changes while a recording lasts, as drives warm up.
#
# What a fit leaves at a joint is compared with friction whose size runs from -1/2 at the beginning to +1/2 at the end:
#
#     e = u(t) (a qd + b sign(qd)),   u(t) = t / T - 1/2.


def find_drift(design: Design, values: Array, rows: Iterable[Rows]) -> list[Suspicion]:
    """Joints whose friction rises or falls by more than a tenth of itself in the course of a recording."""
    parts = list(rows)
    friction = _friction_columns(design)
    said = []
    for j, name in enumerate(design.robot.joint_names):
        own = friction.get(j, [])
        if not own:
            continue
        u = np.concatenate([_course(part, parts) for part in parts])
        shape = np.concatenate([part.A[:, j, own] for part in parts])
        left = np.concatenate([part.tau[:, j] - part.A[:, j] @ values for part in parts])
        whole = sum(float((part.tau[:, j] ** 2).sum()) for part in parts)
        known = shape @ values[own]
        moving = u * known
        size = float(moving @ moving)
        if not size > 0:
            continue
        change = float(moving @ left) / size
        explained = change**2 * size
        if abs(change) > MIN_FRICTION_CHANGE and explained > max(
            MIN_EXPLAINED_SHARE * float(left @ left), MIN_TORQUE_SHARE * whole
        ):
            # Of what it was at the beginning: the columns hold the mean.
            of_start = change / max(1 - change / 2, SMALLEST_START)
            said.append(f"that of {name} {'grows' if change > 0 else 'falls'} by {100 * abs(of_start):.0f} %")
    if not said:
        return []
    remedy = (
        f"warm the robot up before recording, or record temperatures and take {argument('friction', 'thermal')}; "
        "the fit holds the mean"
    )
    return [Suspicion(f"friction drifts during the recording: {', '.join(said)}", remedy, SPOILS, is_cause=False)]


def _friction_columns(design: Design) -> dict[int, list[int]]:
    """Joint -> columns of its viscous and Coulomb friction."""
    found: dict[int, list[int]] = {}
    for k, own in enumerate(design.base.parameters):
        if own.group in ("viscous", "coulomb") and len(own.joints) == 1:
            found.setdefault(own.joints[0], []).append(k)
    return found


def _course(part: Rows, parts: list[Rows]) -> Array:
    """(N,) from -1/2 at the beginning of a recording to 1/2 at its end."""
    same = [other.t for other in parts if other.recording == part.recording]
    first, last = min(float(t[0]) for t in same), max(float(t[-1]) for t in same)
    return (part.t - first) / max(last - first, 1e-300) - 0.5
