"""pooled_fit: the model that is chosen once for a fleet, on recordings of some units that agree with each other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from tauform.arrays import Array
from tauform.closedform.threads import on_one_thread
from tauform.description.robot import Robot
from tauform.errors import RecordingError, TauformError
from tauform.fleet.evidence.condensed import one_block
from tauform.fleet.evidence.noise import wide_prior
from tauform.fleet.evidence.plausible import implausible
from tauform.fleet.sources.dataset import Dataset
from tauform.identification.fit import Fit
from tauform.identification.identify import identify
from tauform.identification.recording.recording import Recording
from tauform.identification.recording.segments import uniform_segments
from tauform.identification.regression.colour import root_of
from tauform.identification.regression.estimate import least_squares
from tauform.identification.regression.evidence import gather


def sampled(logs: Dataset, count: int) -> list[str]:
    """Some units."""
    names = list(logs.units)
    # Evenly over the names: neighbours may come from one hall or one batch.
    return [names[k] for k in np.unique(np.linspace(0, len(names) - 1, max(1, count)).astype(int))]


def pooled_fit(robot: Robot, logs: Dataset, sample: int, physical: bool) -> Fit:
    """The fit of one log each of some units, spread over the fleet: what is common is seen in any of them.

    Raises:
        RecordingError: none of these logs can be read.
        IdentificationError: they leave parameters open.
    """
    recordings: list[Recording] = []
    refused = ""
    for name in sampled(logs, sample):
        for file in logs.units[name]:
            try:
                recordings.append(logs.reading.read(robot, name, file))
                # One readable log per unit is enough to choose terms.
                break
            except (TauformError, OSError) as error:
                refused = str(error)
    if not recordings:
        raise RecordingError(f"{logs.root}: none of the logs that were tried can be read; the last one: {refused}")
    return _of_one_robot(lambda some: identify(robot, some, physical=physical), recordings)


def _of_one_robot(fitted: Callable[[list[Recording]], Fit], recordings: list[Recording]) -> Fit:
    """The fit of those recordings that most agree on: another robot, or other units, must not choose the model."""
    fit = fitted(recordings)
    held = [_Own.of(fit, recording) for recording in recordings]
    own = [found for found in held if found is not None]
    if not any(found.is_strange_to(fit.values, fit.covariance, fit.robot) for found in own):
        return fit
    # One that is wrong by a factor of a thousand makes all of them strange: each one's own values judge the others.
    agreeing = [
        [judge is other or not other.is_strange_to(judge.values, judge.covariance, fit.robot) for other in own]
        for judge in own
    ]
    # Of equals the first, in the order of the data set.
    chosen = max(agreeing, key=sum)
    return fitted([found.recording for found, agrees in zip(own, chosen, strict=True) if agrees])


@dataclass(frozen=True, eq=False)
class _Own:
    """A recording, (n, p + 1, p + 1) its triangles, and the values that it has by itself."""

    recording: Recording
    triangles: Array
    values: Array
    covariance: Array

    @classmethod
    @on_one_thread
    def of(cls, fit: Fit, recording: Recording) -> _Own | None:
        """None where it is too short, or at rest."""
        assert fit.source is not None
        try:
            source = replace(fit.source, segments=tuple(uniform_segments(recording, 0).segments), silent=())
            evidence = one_block(gather(source, source))
        except TauformError:
            return None
        found = least_squares(evidence, prior=wide_prior(fit.values, fit.deviations))
        return cls(recording, evidence.triangles[0], found.values, found.covariance(evidence))

    @on_one_thread
    def is_strange_to(self, values: Array, covariance: Array, robot: Robot) -> bool:
        """Whether it cannot be one of the robot that has these values."""
        A, measured = self.triangles[..., :-1], self.triangles[..., -1]
        own = A @ values
        predicted = np.repeat(own[:, None], len(own), axis=1)
        unknown = np.linalg.norm(A @ root_of(covariance), axis=(1, 2))
        return bool(implausible(measured, predicted, unknown, robot.joint_names))
