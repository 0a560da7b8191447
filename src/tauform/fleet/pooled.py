"""pooled_fit: the model that is chosen once for a fleet, on recordings of some units that agree with each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tauform.description.robot import Robot
from tauform.errors import RecordingError
from tauform.fleet.evidence.moving import at_work
from tauform.fleet.evidence.own import SAMPLE_SECONDS, Own, Sampled, own_of
from tauform.fleet.sample import keep_sample, sampled, tried
from tauform.fleet.sources.dataset import Dataset
from tauform.fleet.sources.joining import first_recording
from tauform.identification.fit import Fit
from tauform.identification.identify import identify
from tauform.identification.recording.recording import Recording


@dataclass(frozen=True, eq=False)
class Pooled:
    """The pooled fit, and each of its recordings by itself."""

    fit: Fit
    own: tuple[Own, ...]


def pooled_fit(
    robot: Robot,
    logs: Dataset,
    sample: int,
    physical: bool,
    client: Any | None = None,
    kept: Path | None = None,
) -> Pooled:
    """The fit of one recording each of some units, spread over the fleet: what is common is seen in any of them.

    Args:
        kept: file that keeps which logs were taken.

    Raises:
        RecordingError: none of these logs can be read.
        IdentificationError: they leave parameters open, or workers die of it again and again.
    """
    found: list[Sampled] = []
    recordings: list[Recording] = []
    refused = ""
    for name, files in tried(logs, sample, kept):
        # One recording per unit is enough to choose terms; however it was cut into files.
        recording, used, why = first_recording(logs.reading, robot, name, files, SAMPLE_SECONDS)
        refused = why or refused
        if recording is not None:
            recordings.append(recording)
            found.append((name, used))
    if not recordings:
        raise RecordingError(f"{logs.root}: none of the logs that were tried can be read; the last one: {refused}")
    # One at rest says nothing, and its noise something that is wrong.
    working = at_work(recordings)
    found, recordings = [found[k] for k in working], [recordings[k] for k in working]
    keep_sample(found, len(sampled(logs, sample)), kept)
    fit = identify(robot, recordings, physical=physical)
    own = own_of(fit, robot, logs.reading, found, client)
    agreeing = _agreeing(fit, own)
    if len(agreeing) < len(own):
        fit = identify(robot, [recordings[k] for k in agreeing], physical=physical)
        own = own_of(fit, robot, logs.reading, [found[k] for k in agreeing], client)
    return Pooled(fit, tuple(own.values()))


def _agreeing(fit: Fit, own: Mapping[int, Own]) -> list[int]:
    """Recordings that most agree on: another robot, or other units, must not choose the model."""
    if not any(found.is_strange_to(fit.values, fit.covariance, fit.robot) for found in own.values()):
        return list(own)
    # One that is wrong by a factor of a thousand makes all of them strange: each one's own values judge the others.
    judged = [
        [
            k
            for k, other in own.items()
            if other is judge or not other.is_strange_to(judge.values, judge.covariance, fit.robot)
        ]
        for judge in own.values()
    ]
    # Of equals the first, in the order of the data set.
    return max(judged, key=len)
