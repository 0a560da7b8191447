"""joint_delays: how late the torques of each joint are, told before anything is identified."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tauform.arrays import Array
from tauform.closedform.threads import on_one_thread
from tauform.description.robot import Robot
from tauform.identification.recording.recording import Recording
from tauform.identification.recording.segments import Segment, resampled, uniform_segments
from tauform.identification.regression.design import DEFAULT_INCLUDE, Design
from tauform.identification.regression.evidence import Evidence, gather
from tauform.identification.regression.excitation import straightened
from tauform.identification.regression.rows import RowSource
from tauform.identification.selection.chosen import few_stretches
from tauform.identification.signals.differentiate import Smoother
from tauform.identification.signals.filters import choose_filters

MAX_STEPS = 6
# A step of less than this many samples ends the search.
MAX_LAST_STEP = 0.05


@dataclass(frozen=True, eq=False)
class JointDelays:
    """Seconds by which the torques of each joint lag behind its positions; negative where they run ahead.

    Attributes:
        seconds: (n,), nan for a joint whose torque never changes.
        deviations: (n,) standard deviations, from blocks of the recording that are left out in turn.
    """

    seconds: Array
    deviations: Array


def joint_delays(robot: Robot, recording: Recording) -> JointDelays:
    """Delays that explain each joint's torque best, each joint by values of its own.

    Raises:
        RecordingError: no part is long enough, or no joint moves.
        IdentificationError: the recording is too short for its filters.
    """
    robot, _ = straightened(robot)
    segments = uniform_segments(recording).segments
    design = Design.of(robot, DEFAULT_INCLUDE).carried_by(None)
    # Stretches of a long recording: a delay is no longer with more of it.
    source = few_stretches(RowSource(design, segments, choose_filters(segments), Smoother("lowpass")))
    delays = np.zeros(robot.n_joints)
    for _ in range(MAX_STEPS):
        moved = replace(source, segments=tuple(_moved(segment, delays) for segment in source.segments))
        # One derivative reaches only so far: larger delays are followed in steps.
        found = _first_order(gather(moved, moved, delay_column=True))
        delays = delays + np.nan_to_num(found.seconds)
        if np.nanmax(np.abs(found.seconds), initial=0.0) * segments[0].rate < MAX_LAST_STEP:
            break
    return JointDelays(np.where(np.isnan(found.seconds), np.nan, delays), found.deviations)


def _moved(segment: Segment, delays: Array) -> Segment:
    """The segment with the torques of each joint moved back by a delay of its own."""
    tau = np.asarray(segment.tau, dtype=np.float64)
    columns = [resampled(segment.t, segment.t, tau[:, j : j + 1], delay) for j, delay in enumerate(delays.tolist())]
    return replace(segment, tau=np.concatenate(columns, axis=1))


@on_one_thread
def _first_order(evidence: Evidence) -> JointDelays:
    """Coefficients of the last column, minus the torque's time derivative: tau = A x - d tau'."""
    joints = range(evidence.n_joints)
    found = np.array([_last_value(evidence.triangles[:, j]) for j in joints])
    count = len(evidence.triangles)
    # Jackknife over blocks of time: residuals of neighbours are alike, and a usual error would be too small.
    without = np.array(
        [[_last_value(np.delete(evidence.triangles[:, j], k, axis=0)) for k in range(count)] for j in joints]
    )
    spread = without - without.mean(axis=1, keepdims=True)
    return JointDelays(found, np.sqrt((count - 1) / count * (spread**2).sum(axis=1)))


def _last_value(triangles: Array) -> float:
    """Least-squares value of the last column before the torque's; nan where that column is zero."""
    stack = triangles.reshape(-1, triangles.shape[-1])
    sizes = np.linalg.norm(stack[:, :-1], axis=0)
    if not sizes[-1]:
        return np.nan
    # Columns that the joint does not feel are left out; those that the motion does not tell apart share their value.
    felt = np.flatnonzero(sizes)
    values = np.linalg.lstsq(stack[:, felt] / sizes[felt], stack[:, -1], rcond=None)[0]
    return float(values[-1] / sizes[-1])
