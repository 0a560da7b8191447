"""Tools: what units are known to carry, and when; their torques are taken off, so that recordings are of bare arms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from tauform.arrays import Array
from tauform.description.inertia import Inertia
from tauform.description.robot import Robot
from tauform.errors import RecordingError
from tauform.fast.torques import inverse_dynamics
from tauform.fleet.sources.keys import FIRST_DATE
from tauform.identification.recording.recording import FIELDS, Recording, pieces
from tauform.identification.recording.segments import Segment, uniform_segments
from tauform.identification.recording.stored import collected, is_lazy
from tauform.identification.signals.filters import central_difference


@dataclass(frozen=True)
class Tool:
    """A body at the tool frame, for some time.

    Attributes:
        units: pattern of the units that carry it, `A*`.
        start, end: [s] on the clock of the logs; infinite where it is not said.
        parameters: ten of the body, see `Inertia`.
        is_dated: whether start or end is a date, so that the logs' clocks must be dates too.
    """

    units: str
    start: float
    end: float
    parameters: tuple[float, ...]
    is_dated: bool

    def is_for(self, unit: str) -> bool:
        """Whether a unit carries it."""
        return fnmatchcase(unit, self.units)


def without_tools(recording: Recording, robot: Robot, tools: Sequence[Tool]) -> Recording:
    """The recording as if nothing had been carried: tau less what the tools take.

    Raises:
        RecordingError: tools are given by date, and the recording has no dates.
    """
    first, last = recording.clock + float(recording.t[0]), recording.clock + float(recording.t[-1])
    if any(tool.is_dated for tool in tools) and first < FIRST_DATE:
        raise RecordingError(
            f"its clock starts at {first:g} s, and fleet.toml gives tools by date; name the time in [keys], or give "
            "from and to in seconds of that clock"
        )
    own = [tool for tool in tools if tool.start <= last and tool.end > first]
    if not own:
        return recording
    parts = [_without(segment, robot, own, recording.clock) for segment in uniform_segments(recording).segments]
    held: dict[str, Any] = {
        name: None if getattr(parts[0], name) is None else _joined([getattr(part, name) for part in parts])
        for name in FIELDS
    }
    return replace(recording, **held)


def _joined(parts: Sequence[Array]) -> Array:
    # One part may stay in its file.
    return parts[0] if len(parts) == 1 else np.concatenate([np.asarray(part) for part in parts])


def _without(segment: Segment, robot: Robot, tools: Sequence[Tool], clock: float) -> Segment:
    """A segment with the torques of its tools taken off."""
    # No links and no friction: what is left of the torque is the tool's.
    empty = robot.without_drives().with_parameters(np.zeros(robot.without_drives().layout.n))
    carried = [(tool, empty.with_payload(Inertia(np.array(tool.parameters)))) for tool in tools]

    def bare() -> Iterator[Array]:
        # Two samples more at either end: differences are taken twice.
        for part, own in pieces(segment.n_samples, overlap=2):
            q = np.asarray(segment.q[part])
            qd = central_difference(q, segment.rate) if segment.qd is None else np.asarray(segment.qd[part])
            qdd = central_difference(qd, segment.rate) if segment.qdd is None else np.asarray(segment.qdd[part])
            t, tau = clock + np.asarray(segment.t[part]), np.array(segment.tau[part])
            for tool, body in carried:
                during = (t >= tool.start) & (t < tool.end)
                tau -= during[:, None] * inverse_dynamics(body, q, qd, qdd)
            yield tau[own]

    return replace(segment, tau=collected(bare(), is_lazy(segment.tau)))
