"""Whether a recording can be of this robot: joints, units, dead columns, velocities that belong to the positions."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from tauform.arrays import Array
from tauform.description.joint import Limits
from tauform.description.robot import Robot
from tauform.errors import IdentificationError, RecordingError
from tauform.identification.diagnosis.readings import stands_still
from tauform.identification.recording.lone import refuse_lone_samples
from tauform.identification.recording.recording import SAMPLES_PER_PIECE, Recording
from tauform.identification.recording.rest import is_constant, resting, sampled
from tauform.identification.verdict.slides import check_slides
from tauform.wording import argument, call

# Positions may pass a joint's limits by this much [rad or m].
LIMIT_MARGIN = 0.3
# A measured velocity may differ from the derivative of the position by this factor before its unit is doubted.
VELOCITY_FACTOR = 1.3
# Joints turn at usual speeds, some as fast as the fastest [rad/s]; speeds are taken over a window [s].
USUAL_SPEED, MAX_SPEED, SPEED_WINDOW = 10.0, 40.0, 0.05
# Correlation with a position that makes a velocity its own.
MIN_CORRELATION = 0.9


def check_recordings(robot: Robot, recordings: Sequence[Recording], may_rest: bool = False) -> tuple[str, ...]:
    """Sentences worth knowing about the recordings.

    Args:
        may_rest: joints may rest throughout, as long as one moves: they are predicted or carried, not identified.

    Raises:
        RecordingError: a recording cannot be of this robot, or a column is dead.
        IdentificationError: a joint never moves in any of them, or none does.
    """
    findings: list[str] = []
    for recording in recordings:
        # A file was looked through when it was read.
        if not recording.columns and recording.n_joints == robot.n_joints:
            refuse_lone_samples(recording, robot.joint_names, lambda one: "cut it out")
        for check in CHECKS:
            check(robot, recording)
        read_from = [] if recording.read_from is None else [recording.read_from]
        findings += [*read_from, *recording.findings]
    still = [all(is_constant(sampled(recording.q)[:, j]) for recording in recordings) for j in range(robot.n_joints)]
    if may_rest and all(still):
        raise IdentificationError(
            f"{recordings[0].name}: no joint moves, so nothing can be told from it", remedy="record a motion"
        )
    for j, name in enumerate(robot.joint_names):
        if still[j] and not may_rest:
            held = {name: float(f"{recordings[0].q[0][j]:.4g}")}
            raise IdentificationError(
                f"joint {name!r} never moves, so nothing that depends on its motion can be identified",
                remedy=f"record it moving, or lock it: {argument('lock', held)}",
            )
    return tuple(findings)


def doubts(robot: Robot, recording: Recording) -> tuple[str, ...]:
    """What `check_recordings` would refuse in a recording, in the same sentences."""
    for check in CHECKS:
        try:
            check(robot, recording)
        except RecordingError as error:
            # The first alone: positions in degrees are too fast as well.
            return (str(error),)
    return ()


def _check_joints(robot: Robot, recording: Recording) -> None:
    if recording.n_joints != robot.n_joints:
        missing = robot.joint_names[recording.n_joints :]
        hint = f"columns for {', '.join(missing)} are missing" if missing else "drop the others, such as a gripper's"
        raise RecordingError(
            f"{recording.name}: {recording.n_joints} joints recorded, {robot.name} has {robot.n_joints} "
            f"({', '.join(robot.joint_names)}); {hint}"
        )


def _check_positions(robot: Robot, recording: Recording) -> None:
    joints = {joint.name: joint for joint in robot.joints}
    q = sampled(recording.q)
    low, high = q.min(axis=0), q.max(axis=0)
    turning = [joints[name].type.is_angle for name in robot.joint_names]
    # Only angles can be degrees.
    wrong = [
        j
        for j, name in enumerate(robot.joint_names)
        if turning[j] and _reads_as_degrees(float(low[j]), float(high[j]), joints[name].limits)
    ]
    if not wrong:
        return
    right = [j for j in range(robot.n_joints) if turning[j] and j not in wrong]
    j = wrong[0]
    which = f"joint {robot.joint_names[j]!r} runs from {low[j]:.4g} to {high[j]:.4g}"
    said = f"{recording.name}: {which}, which reads as degrees"
    # Most others travel less than a turn: in degrees they would hardly move, so that these columns alone are wrong.
    apart = len(right) > len(wrong) and float((high - low)[right].max()) < 2 * np.pi
    columns = _columns_of(recording, wrong) if apart else None
    if columns is None:
        raise RecordingError(
            said,
            argument="degrees",
            remedy=f"convert to radians, for example with {call('read_recording', degrees=True)}",
        )
    names = ", ".join(robot.joint_names[k] for k in right)
    raise RecordingError(
        f"{said}, while {names} read{'s' * (len(right) == 1)} as radians",
        argument="units",
        remedy=f"read it with {argument('units', dict.fromkeys(columns, 'deg'))}",
    )


def _columns_of(recording: Recording, joints: Sequence[int]) -> list[str] | None:
    """Columns of a log that hold the positions of these joints; None where arrays were given."""
    held = recording.columns.get("q")
    if held is None:
        return None
    return [f"{held}:{j + 1}" if isinstance(held, str) else held[j] for j in joints]


def _reads_as_degrees(low: float, high: float, limits: Limits) -> bool:
    """Over three turns, or outside the limits, while the same numbers read as degrees would fit."""
    bounded = np.isfinite(limits.lower) and np.isfinite(limits.upper)
    outside = bounded and (low < limits.lower - LIMIT_MARGIN or high > limits.upper + LIMIT_MARGIN)
    least, most = np.deg2rad([low, high])
    fits = not bounded or (limits.lower - LIMIT_MARGIN <= least and most <= limits.upper + LIMIT_MARGIN)
    widest = max(abs(low), abs(high))
    return bool(fits and (widest > 6 * np.pi or (outside and widest > 2 * np.pi)))


def _check_speeds(robot: Robot, recording: Recording) -> None:
    """Speeds over a while, which noise does not reach: what no joint can do is a unit."""
    stretch = slice(0, SAMPLES_PER_PIECE)
    # Repeated stamps would divide by zero.
    t, fresh = np.unique(np.asarray(recording.t[stretch]), return_index=True)
    q = np.asarray(recording.q[stretch])[fresh]
    apart = max(1, min(len(t) // 4, int(np.ceil(SPEED_WINDOW * recording.rate))))
    # Over a window: noise of single samples would look like any speed.
    speeds = np.abs(q[apart:] - q[:-apart]) / (t[apart:] - t[:-apart])[:, None]
    turning = {joint.name: joint.type.is_angle for joint in robot.joints}
    for name, speed in zip(robot.joint_names, np.percentile(speeds, 95, axis=0), strict=True):
        if turning[name] and speed > MAX_SPEED:
            unit = "positions seem to be in degrees" if np.deg2rad(speed) < USUAL_SPEED else "a unit is wrong"
            raise RecordingError(
                f"{recording.name}: joint {name!r} would turn at {speed:.3g} rad/s, so that {unit}",
                remedy=f"read it with {argument('degrees', True)}, or with another {argument('time_unit')}",
            )


def _check_torques(robot: Robot, recording: Recording) -> None:
    tau = sampled(recording.tau)
    rests = resting(robot, sampled(recording.q))
    for j, name in enumerate(robot.joint_names):
        # The torque that holds a joint at rest may be constant, and zero.
        if is_constant(tau[:, j]) and not rests[j]:
            raise RecordingError(
                f"{recording.name}: the torque of joint {name!r} is {tau[0, j] + 0.0:.4g} at every sample; its column "
                "is dead or mapped wrongly"
            )
    for j, k in itertools.combinations(range(robot.n_joints), 2):
        # Copies to the last bit: no two joints that move measure the same, though they may be told to move alike.
        if np.array_equal(tau[:, j], tau[:, k]) and not (rests[j] or rests[k]):
            a, b = robot.joint_names[j], robot.joint_names[k]
            raise RecordingError(
                f"{recording.name}: the torques of {a!r} and {b!r} are the same at every sample",
                argument="columns",
                remedy=f"map to each joint its own column with {argument('columns')}",
            )
    # Equal to the last bit: one column was mapped to both.
    if np.array_equal(tau, sampled(recording.q)):
        raise RecordingError(f"{recording.name}: torques and positions are the same columns; map the torques")


def _check_velocities(robot: Robot, recording: Recording) -> None:
    if recording.qd is None:
        return
    stretch = slice(0, SAMPLES_PER_PIECE)
    t, fresh = np.unique(np.asarray(recording.t[stretch]), return_index=True)
    q, qd = (np.asarray(x[stretch])[fresh] for x in (recording.q, recording.qd))
    # Positions regained from the velocities, free of the noise that differences have.
    steps = np.diff(t)[:, None]
    # Where a logger stood still, velocities say nothing of positions; `find_bad_readings` names it.
    counts = ~stands_still(q, qd)[:, None]
    regained = np.cumsum(0.5 * (qd[1:] + qd[:-1]) * steps * counts, axis=0)
    moved = np.cumsum(np.diff(q, axis=0) * counts, axis=0)
    for j, name in enumerate(robot.joint_names):
        # Without means: the constant of integration does not count.
        a, b = moved[:, j] - moved[:, j].mean(), regained[:, j] - regained[:, j].mean()
        if not (a @ a > 0 and np.ptp(a) > 1e-3):
            continue
        if not b @ b > 0:
            raise RecordingError(
                f"{recording.name}: the velocity of joint {name!r} is zero while its position changes",
                argument="columns",
                remedy=f"leave the velocities out, {argument('columns', {'qd': None})}, or map the right column",
            )
        # Least squares through both: one number for the scale, whatever the noise.
        factor = float(a @ b / (a @ a))
        if 1 / VELOCITY_FACTOR < factor < VELOCITY_FACTOR:
            continue
        known = {
            57.29577951308232: "degrees per second",
            0.017453292519943295: "radians per second while positions are degrees",
            1000.0: "per second while time is in milliseconds",
            -1.0: "of the opposite sign",
        }
        likely = [text for value, text in known.items() if 0.8 < factor / value < 1.25]
        owner = _owner(moved, regained[:, j])
        reason = (
            f"it seems to be {likely[0]}" if likely
            else "it does not belong to that position" if owner is None
            else f"it is that of {robot.joint_names[owner]!r}: columns look swapped"
        )  # fmt: skip
        raise RecordingError(
            f"{recording.name}: the velocity of joint {name!r} is {factor:.3g} times the rate of its position; "
            + reason,
            argument="columns",
            remedy=f"convert it, or leave the velocities out: {argument('columns', {'qd': None})}",
        )


def _owner(moved: Array, regained: Array) -> int | None:
    """The joint whose position a velocity regains, if there is one."""
    a, b = moved - moved.mean(axis=0), regained - regained.mean()
    size = np.maximum((a**2).sum(axis=0), 1e-300)
    factor, follows = a.T @ b / size, a.T @ b / np.sqrt(size * (b @ b))
    j = int(np.argmax(follows))
    return j if follows[j] > MIN_CORRELATION and 1 / VELOCITY_FACTOR < factor[j] < VELOCITY_FACTOR else None


CHECKS = (_check_joints, _check_positions, check_slides, _check_speeds, _check_torques, _check_velocities)
