"""States of recordings, for profiles and bandwidths."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tauform.closedform.profile import Profile, States
from tauform.errors import ModelError
from tauform.identification.recording.recording import Recording
from tauform.identification.recording.segments import Segment, uniform_segments
from tauform.identification.signals.differentiate import Smoother
from tauform.identification.signals.filters import Filters, choose_filters, grid_of


def recorded_profile(recordings: Recording | Sequence[Recording]) -> Profile:
    """Profile of the states that recordings went through; velocities and accelerations are filtered derivatives.

    It has temperatures where all recordings have them.

    Args:
        recordings: one, or several of the same robot.

    Raises:
        ModelError: no recording was given.
        RecordingError: a recording does not move or is too short.
    """
    listed = [recordings] if isinstance(recordings, Recording) else list(recordings)
    if not listed:
        raise ModelError("profile: no recording was given")
    parts = [states for recording in listed for _, states in recorded_states(recording)]
    # Temperatures only where every part has them: a profile has one width.
    q, qd, qdd, *warm = (np.concatenate([part[k] for part in parts]) for k in range(min(map(len, parts))))
    return Profile.trajectory(q, qd, qdd, name=listed[0].name, temperature=warm[0] if warm else None)


def recorded_states(recording: Recording) -> list[tuple[float, States]]:
    """Rate [Hz] and q, qd, qdd of each uniform part of a recording, without the filters' settling time.

    Temperatures come last where the recording has them.
    """
    segments = uniform_segments(recording).segments
    # One choice for all parts of a recording: its noise and its motion are the same.
    filters = choose_filters(segments)
    return [(s.rate, _settled(s, filters, Smoother().states(s, slice(None), filters))) for s in segments]


def _settled(segment: Segment, filters: Filters, states: States) -> States:
    # Short parts keep at least their half, settled or not.
    cut = min(grid_of(segment.rate, filters).settle, segment.n_samples // 4)
    temperature = segment.temperatures(slice(None))
    return tuple(x[cut : len(x) - cut] for x in (*states, *([] if temperature is None else [temperature])))
