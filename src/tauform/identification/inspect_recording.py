"""inspect_recording: how a recording suits a robot, before anything is identified."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from tauform.arguments import checked_methods
from tauform.arrays import Array
from tauform.deferred import deferred
from tauform.description.robot import Robot
from tauform.identification.recording.recording import Recording
from tauform.identification.recording.rest import sampled
from tauform.identification.recording.segments import uniform_segments
from tauform.identification.selection.delays import JointDelays, joint_delays
from tauform.identification.signals.spectrum import MotionSpectrum, motion_spectrum
from tauform.identification.verdict.plausibility import check_recordings
from tauform.notebook import Displayed

# A joint slower than this share of its own peak speed rests.
MAX_SPEED_SHARE_AT_REST = 0.02
RecordingPlot = Literal["delays", "spectra"]


@checked_methods
@dataclass(frozen=True, eq=False, repr=False)
class RecordingSummary(Displayed):
    """A recording seen as one of a robot.

    Attributes:
        name: of the recording.
        joint_names: of the robot.
        sample: time between two samples [s].
        rest: (n,) share of the time in which each joint rests.
        delays: by how much the torques of each joint lag behind its positions.
        spectrum: of the velocities, in the longest part without gaps.
        findings: sentences on what was repaired, and on what is doubtful.
    """

    name: str
    joint_names: tuple[str, ...]
    sample: float
    rest: Array
    delays: JointDelays
    spectrum: MotionSpectrum
    findings: tuple[str, ...]

    def plot(self, what: RecordingPlot = "delays") -> Any:
        """A figure of Plotly: "delays" by joint with two standard deviations, or "spectra" of the velocities."""
        return deferred("RecordingSummary.plot")(self, what)

    def __repr__(self) -> str:
        late, sure = 1e3 * self.delays.seconds, 1e3 * self.delays.deviations
        told = [
            f"  {name}: at rest {100 * rest:.0f} %, torque {delay:.2g} ± {deviation:.1g} ms late"
            for name, rest, delay, deviation in zip(self.joint_names, self.rest, late, sure, strict=True)
        ]
        head = f"{self.name}: motion up to {self.spectrum.bandwidth:.3g} Hz, one sample is {1e3 * self.sample:.3g} ms"
        return "\n".join([head, *told, *self.findings])


def inspect_recording(robot: Robot, recording: Recording) -> RecordingSummary:
    """Look at a recording of a robot: what rests, how late torques are, up to which frequency it moves.

    Each joint's delay is that which explains its torque best, by values of its own; its deviation comes from blocks of
    the recording that are left out in turn. A few milliseconds matter: give the delay to `identify(delay=)`, or mend
    the logger.

    Raises:
        RecordingError: the recording cannot be of this robot, or is too short.
        IdentificationError: no joint moves.
    """
    findings = check_recordings(robot, [recording], may_rest=True)
    segments = uniform_segments(recording).segments
    spectrum = motion_spectrum(max(segments, key=lambda segment: len(segment.q)))
    delays = joint_delays(robot, recording)
    rest = _rest(recording)
    return RecordingSummary(recording.name, robot.joint_names, 1 / recording.rate, rest, delays, spectrum, findings)


def _rest(recording: Recording) -> Array:
    """Share of the time in which each joint rests."""
    # Stretches of a long recording: a share needs no more.
    q, t = sampled(recording.q), sampled(recording.t)
    speed = np.abs(np.diff(q, axis=0)) / np.maximum(np.diff(t), 1e-9)[:, None]
    # Steps of the encoder and gaps between stretches are rare: a quantile is a peak without them.
    peak = np.maximum(np.quantile(speed, 0.98, axis=0), 1e-12)
    found: Array = (speed < MAX_SPEED_SHARE_AT_REST * peak).mean(axis=0)
    return found
