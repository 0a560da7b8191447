"""Whether measured velocities are those of the positions, and if not, which unit, rate or column mends it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

import numpy as np

from tauform.arrays import AnyArray, Array
from tauform.description.robot import Robot
from tauform.errors import RecordingError
from tauform.identification.diagnosis.readings import stands_still
from tauform.identification.logs.sample_rate import usual_rate
from tauform.identification.recording.recording import SAMPLES_PER_PIECE, Recording
from tauform.wording import argument

# A measured velocity may differ from the derivative of the position by this factor before its unit is doubted.
VELOCITY_FACTOR = 1.3
# Correlation with a position that makes a velocity its own.
MIN_CORRELATION = 0.9
# Positions that move less say nothing of their rate.
LEAST_MOVED = 1e-3
# Factor of a velocity of the right joint -> what it is in, and the units or the argument that mend it.
DEGREES = 180 / np.pi
UNITS: dict[float, tuple[str, Mapping[str, str]]] = {
    DEGREES: ("degrees per second", {"qd": "deg/s"}),
    30 / np.pi: ("revolutions per minute", {"qd": "rpm"}),
    1 / DEGREES: ("radians per second while positions are degrees", {"q": "deg", "qd": "rad/s"}),
}
OTHERS = {1000.0: "per second while time is in milliseconds", -1.0: "of the opposite sign"}


def check_velocities(robot: Robot, recording: Recording) -> None:
    """Compare velocities with the rates of the positions.

    Raises:
        RecordingError: they differ by more than noise and a filter explain.
    """
    if recording.qd is None:
        return
    moved, regained = _both(recording, recording.qd)
    # Without means: the constant of integration does not count.
    a, b = moved - moved.mean(axis=0), regained - regained.mean(axis=0)
    sizes = (a**2).sum(axis=0)
    moving = (sizes > 0) & (np.ptp(a, axis=0) > LEAST_MOVED)
    for name in (name for j, name in enumerate(robot.joint_names) if moving[j] and not b[:, j].any()):
        raise RecordingError(
            f"{recording.name}: the velocity of joint {name!r} is zero while its position changes",
            argument="columns",
            remedy=f"leave the velocities out, {argument('columns', {'qd': None})}, or map the right column",
        )
    # Least squares through both: one number for the scale, whatever the noise.
    factors = (a * b).sum(axis=0) / np.maximum(sizes, 1e-300)
    wrong = moving & ~((factors > 1 / VELOCITY_FACTOR) & (factors < VELOCITY_FACTOR))
    if wrong.any():
        _refuse(robot, recording, factors, moving, wrong, _owner(moved, regained[:, int(np.argmax(wrong))]))


def _both(recording: Recording, measured: AnyArray) -> tuple[Array, Array]:
    """(N, n) ways of the positions, and the same regained from velocities, free of the noise that differences have."""
    stretch = slice(0, SAMPLES_PER_PIECE)
    t, fresh = np.unique(np.asarray(recording.t[stretch]), return_index=True)
    q, qd = (np.asarray(x[stretch])[fresh] for x in (recording.q, measured))
    # Where a logger stood still, velocities say nothing of positions; `find_bad_readings` names it.
    counts = ~stands_still(q, qd)[:, None]
    regained = np.cumsum(0.5 * (qd[1:] + qd[:-1]) * np.diff(t)[:, None] * counts, axis=0)
    return np.cumsum(np.diff(q, axis=0) * counts, axis=0), regained


def _refuse(
    robot: Robot, recording: Recording, factors: Array, moving: Array, wrong: Array, owner: int | None
) -> NoReturn:
    """Raise RecordingError with what the factors say: a unit or a rate that joints share, another joint, or nothing."""
    j = int(np.argmax(wrong))
    factor = float(factors[j])
    shared = bool(_alike(factors[moving], factor).all())
    ways = []
    unit = next((found for value, found in UNITS.items() if _alike(factor, value)), None)
    told = None if unit is None else _units(recording, unit[1], np.flatnonzero(wrong & _alike(factors, factor)), shared)
    if told is not None:
        ways.append(f"read it with {argument('units', told)}")
    other = next((text for value, text in OTHERS.items() if _alike(factor, value)), None)
    reason = (
        f"it seems to be {unit[0] if unit is not None else other}" if unit is not None or other is not None
        else "it does not belong to that position" if owner is None
        else f"it is that of {robot.joint_names[owner]!r}: columns look swapped"
    )  # fmt: skip
    # A rate that was given stands for stamps: all velocities are off by one factor where it is wrong.
    if recording.columns and "t" not in recording.columns and shared and factor > 0:
        rate = usual_rate(recording.rate * factor)
        reason = f"{reason}, or " * (unit is not None) + f"samples seem to be taken at {rate:g} Hz"
        ways.append(f"give the rate, {argument('rate', rate)}")
    leave = f"leave the velocities out: {argument('columns', {'qd': None})}"
    raise RecordingError(
        f"{recording.name}: the velocity of joint {robot.joint_names[j]!r} is {factor:.3g} times the rate of its "
        f"position; {reason}",
        argument="columns",
        remedy=", or ".join([*(ways or ["convert it"]), leave]),
    )


def _alike(factors: Any, value: float) -> Any:
    """Whether factors are one number, whatever noise and filters made of them."""
    return (0.8 * abs(value) < factors * np.sign(value)) & (factors * np.sign(value) < 1.25 * abs(value))


def _units(recording: Recording, meant: Mapping[str, str], joints: AnyArray, shared: bool) -> dict[str, str] | None:
    """Units of fields, or of the columns of some joints; None where arrays were given."""
    if shared:
        return dict(meant) if recording.columns else None
    named = {field: columns_of(recording, field, joints) for field in meant}
    return {column: unit for field, unit in meant.items() for column in named[field] or ()} or None


def columns_of(recording: Recording, field: str, joints: Iterable[int]) -> list[str] | None:
    """Columns of a log that hold a field of these joints; None where arrays were given."""
    held = recording.columns.get(field)
    if held is None:
        return None
    return [f"{held}:{j + 1}" if isinstance(held, str) else held[j] for j in joints]


def _owner(moved: Array, regained: Array) -> int | None:
    """The joint whose position a velocity regains, if there is one."""
    a, b = moved - moved.mean(axis=0), regained - regained.mean()
    size = np.maximum((a**2).sum(axis=0), 1e-300)
    factor, follows = a.T @ b / size, a.T @ b / np.sqrt(size * (b @ b))
    j = int(np.argmax(follows))
    return j if follows[j] > MIN_CORRELATION and 1 / VELOCITY_FACTOR < factor[j] < VELOCITY_FACTOR else None
