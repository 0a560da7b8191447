"""Whether a recording can be of this robot: joints, units, dead columns, velocities that belong to the positions."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from tauform.description.joint import Limits
from tauform.description.robot import Robot
from tauform.errors import IdentificationError, RecordingError
from tauform.identification.logs.column_names import OF_MOTORS, plain_name
from tauform.identification.recording.lone import refuse_lone_samples
from tauform.identification.recording.recording import SAMPLES_PER_PIECE, Recording
from tauform.identification.recording.rest import is_constant, resting, sampled
from tauform.identification.verdict.measured_velocities import check_velocities, columns_of
from tauform.identification.verdict.slides import check_slides
from tauform.wording import argument, call

# Positions may pass a joint's limits by this much [rad or m].
LIMIT_MARGIN = 0.3
# Joints turn at usual speeds, some as fast as the fastest [rad/s]; speeds are taken over a window [s].
USUAL_SPEED, MAX_SPEED, SPEED_WINDOW = 10.0, 40.0, 0.05


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
    j = wrong[0]
    which = f"joint {robot.joint_names[j]!r} runs from {low[j]:.4g} to {high[j]:.4g}"
    if (motors := columns_of(recording, "q", wrong)) and OF_MOTORS.search(plain_name(motors[0])):
        raise RecordingError(
            f"{recording.name}: {which}, and its column {motors[0]!r} is of a motor by its name",
            argument="columns",
            remedy="divide it by the gear ratio",
        )
    right = [j for j in range(robot.n_joints) if turning[j] and j not in wrong]
    said = f"{recording.name}: {which}, which reads as degrees"
    # Most others travel less than a turn: in degrees they would hardly move, so that these columns alone are wrong.
    apart = len(right) > len(wrong) and float((high - low)[right].max()) < 2 * np.pi
    columns = columns_of(recording, "q", wrong) if apart else None
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


CHECKS = (_check_joints, _check_positions, check_slides, _check_speeds, _check_torques, check_velocities)
