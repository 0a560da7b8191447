"""Joints that rest throughout a recording: their friction may have any value up to its limit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tauform.arrays import AnyArray, Array
from tauform.description.robot import Robot
from tauform.identification.recording.recording import SAMPLES_PER_PIECE, Recording
from tauform.identification.recording.segments import Segment

# Stretches that stand for a long recording.
N_STRETCHES = 200
# A column that varies by less than this, relative to its size, is constant.
MAX_VARIATION_OF_CONSTANT = 1e-9
# A joint that travels less than this share of what the widest one does rests: what shows is its encoder.
MAX_TRAVEL_SHARE_AT_REST = 1e-3


def sampled(values: Array) -> Array:
    """All samples, or stretches evenly spread over a long recording."""
    if len(values) <= SAMPLES_PER_PIECE:
        return np.asarray(values)
    length = SAMPLES_PER_PIECE // N_STRETCHES
    # Stretches, not every n-th sample: files are read in pieces, and neighbours tell rates.
    starts = np.linspace(0, len(values) - length, N_STRETCHES).astype(int).tolist()
    return np.concatenate([np.asarray(values[start : start + length]) for start in starts])


def is_constant(column: Array) -> bool:
    """Whether a column varies by rounding alone."""
    return float(np.ptp(column)) <= MAX_VARIATION_OF_CONSTANT * max(1.0, float(np.abs(column).max()))


def resting(robot: Robot, q: Array) -> AnyArray:
    """(n,) which joints rest throughout these positions (N, n)."""
    travel = np.ptp(q, axis=0)
    kinds = {joint.name: joint.type.is_angle for joint in robot.joints}
    angles = np.array([kinds[name] for name in robot.joint_names])
    # Angles are compared with angles, lengths with lengths.
    widest = np.where(angles, travel[angles].max(initial=0.0), travel[~angles].max(initial=0.0))
    still = np.array([is_constant(column) for column in q.T])
    return np.asarray(still | (travel < MAX_TRAVEL_SHARE_AT_REST * widest))


def resting_joints(
    robot: Robot, segments: Sequence[Segment], recordings: Sequence[Recording]
) -> tuple[tuple[AnyArray, ...], list[str]]:
    """(n,) of each segment: which joints rest there; empty where all move. And what is not judged, in words."""
    rests = tuple(resting(robot, sampled(segment.q)) for segment in segments)
    if not any(rest.any() for rest in rests):
        return (), []
    findings = []
    for k, recording in enumerate(recordings):
        of_recording = [rest for rest, segment in zip(rests, segments, strict=True) if segment.recording == k]
        still = np.all(of_recording, axis=0)
        names = [name for name, rested in zip(robot.joint_names, still, strict=True) if rested]
        if names:
            findings.append(f"{recording.name}: {', '.join(names)} at rest there, and not judged by it")
    return rests, findings


def stilled(segment: Segment, rests: AnyArray) -> Segment:
    """The segment with joints at rest exactly there: noise of an encoder is no sign of a velocity."""
    if not rests.any():
        return segment
    q = np.asarray(segment.q, dtype=np.float64)
    qd, qdd = (None if x is None else np.where(rests, 0.0, np.asarray(x)) for x in (segment.qd, segment.qdd))
    return replace(segment, q=np.where(rests, q.mean(axis=0), q), qd=qd, qdd=qdd)
