"""Own: a recording beside its own values. What they leave of its torques is noise; what they are tells other robots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from tauform.arrays import Array
from tauform.closedform.threads import on_one_thread
from tauform.description.robot import Robot
from tauform.errors import TauformError
from tauform.fleet.evidence.faults import Fault, faults_of, moving_of
from tauform.fleet.evidence.plausible import implausible
from tauform.fleet.sources.joining import first_recording
from tauform.fleet.sources.reading import LogFile, Reading
from tauform.identification.fit import Fit
from tauform.identification.recording.segments import uniform_segments
from tauform.identification.regression.colour import coloured, root_of
from tauform.identification.regression.estimate import least_squares
from tauform.identification.regression.evidence import Evidence, gather
from tauform.identification.regression.rows import RowSource
from tauform.identification.signals.filters import correlation_of_filters
from tauform.identification.verdict.validate import inflation_of, inflation_of_filters, residuals_of
from tauform.scheduler import completed

# In multiples of a value or its deviation: a prior that wide decides nothing that logs say anything about.
WIDE = 100.0
# Of a unit's first recording, for the model: more takes longer and says little more of terms.
SAMPLE_SECONDS = 600.0
# A unit, and the logs that its recording is joined from.
Sampled = tuple[str, Sequence[LogFile]]
# Colour only adds: what is felt less than the usual inflation says is known from few recordings.
SMALLEST_FACTOR = 1.0


def wide_prior(values: Array, deviations: Array) -> tuple[Array, Array]:
    """Mean and deviation of a prior that only closes what a motion leaves open."""
    return values, np.maximum(WIDE * np.abs(values), WIDE * deviations)


@dataclass(frozen=True, eq=False)
class Own:
    """A recording beside the values that it has by itself.

    Attributes:
        triangles: (n, p + 1, p + 1) of its rows.
        values, covariance: (p,), (p, p) as if its rows were independent.
        sigma, inflation: (n,) of its residuals, and of their variance by correlation in time.
        of_values, of_moving, of_faults: factors, see `Colour`.
    """

    triangles: Array
    values: Array
    covariance: Array
    sigma: Array
    inflation: Array
    of_values: Array
    of_moving: Array
    of_faults: Array

    @on_one_thread
    def is_strange_to(self, values: Array, covariance: Array, robot: Robot) -> bool:
        """Whether it cannot be one of the robot that has these values."""
        A, measured = self.triangles[..., :-1], self.triangles[..., -1]
        own = A @ values
        predicted = np.repeat(own[:, None], len(own), axis=1)
        unknown = np.linalg.norm(A @ root_of(covariance), axis=(1, 2))
        return bool(implausible(measured, predicted, unknown, robot.joint_names))


def own_of(fit: Fit, robot: Robot, reading: Reading, sample: Sequence[Sampled], client: Any | None) -> dict[int, Own]:
    """By its place in the sample: what each recording is by itself; without those too short, or at rest."""
    assert fit.source is not None
    # Without segments: logs are read where they are looked at, samples do not travel.
    source = replace(fit.source, segments=(), silent=())
    found: dict[int, Own | None] = {}
    tasks: Mapping[int, Sampled] = dict(enumerate(sample))
    completed(_own, _Pooled(robot, reading, source, fit.values, fit.deviations), tasks, client, found.__setitem__)
    # In the order of the sample, whichever worker was first.
    return {k: own for k in tasks if (own := found[k]) is not None}


@dataclass(frozen=True, eq=False)
class _Pooled:
    """What workers need of the pooled fit."""

    robot: Robot
    reading: Reading
    source: RowSource
    values: Array
    deviations: Array

    @cached_property
    def faults(self) -> list[Fault]:
        return faults_of(self.source.design, self.values)


@on_one_thread
def _own(pooled: _Pooled, unit: str, files: Sequence[LogFile]) -> Own | None:
    """A task of a worker: None where the recording is too short, or at rest."""
    try:
        recording, *_ = first_recording(pooled.reading, pooled.robot, unit, files, SAMPLE_SECONDS)
        if recording is None:  # gone since
            return None
        segments = tuple(uniform_segments(recording, 0).segments)
        source = replace(pooled.source, segments=segments)
        rows = source.kept()
        evidence = gather(rows, source)
    except (TauformError, OSError):
        return None
    own, rate = least_squares(evidence, prior=wide_prior(pooled.values, pooled.deviations)), segments[0].rate
    residuals = residuals_of(own.values, rows, rate)
    inflation = inflation_of(residuals, inflation_of_filters(source.filters, rate))
    colour = coloured(evidence, own, rows, correlation_of_filters(source.filters, rate))
    white = own.covariance(evidence, inflation)
    of_values = np.maximum(np.diag(own.covariance(colour)) / np.maximum(np.diag(white), 1e-300), SMALLEST_FACTOR)
    variances = _Variances(colour, own.sigma, inflation)
    n, p = evidence.n_joints, evidence.n_columns
    of_moving = variances.factors([np.eye(p)[:, list(moving_of(source.design))]] * n)
    of_faults = [variances.factors(_at_joints(fault, pooled.values, n))[0] for fault in pooled.faults]
    triangles: Array = np.asarray(np.linalg.qr(_stacked(evidence), mode="r"))
    return Own(
        triangles, own.values, own.covariance(evidence), own.sigma, inflation, of_values, of_moving, np.array(of_faults)
    )


def _at_joints(fault: Fault, values: Array, n: int) -> list[Array]:
    """(p, k) directions of the values that a fault looks like, at each joint."""
    p = len(values)
    # A gain takes all that is predicted for its joint, and nothing elsewhere.
    own = fault.directions[:p] + np.outer(values, fault.directions[p:].sum(axis=0))
    return [own if j in fault.joints or not fault.joints else np.zeros_like(own) for j in range(n)]


class _Variances:
    """Variances of least squares along some directions: as the colour says over as the inflation says."""

    def __init__(self, evidence: Evidence, sigma: Array, inflation: Array) -> None:
        assert evidence.coloured is not None
        self.rows, self.coloured = _stacked(evidence)[..., :-1], evidence.coloured
        self.sigma, self.weights = sigma, 1.0 / (sigma**2 * inflation)

    def factors(self, directions: Sequence[Array]) -> Array:
        """(k,) for (p, k) directions at each joint."""
        joints = list(zip(self.rows, self.coloured, directions, self.weights, self.sigma, strict=True))
        normal = sum(w * (R @ E).T @ (R @ E) for R, _, E, w, _ in joints)
        size = np.sqrt(np.maximum(np.diag(normal), 1e-300))
        C = np.linalg.pinv(normal / np.outer(size, size), rcond=1e-9, hermitian=True) / np.outer(size, size)
        # C M C, M of rows whose noise is that of the colour.
        M = sum((w * s) ** 2 * (L @ E).T @ (L @ E) for _, L, E, w, s in joints)
        return np.maximum(np.diag(C @ M @ C) / np.maximum(np.diag(C), 1e-300), SMALLEST_FACTOR)


def _stacked(evidence: Evidence) -> Array:
    """(n, rows, p + 1) all blocks of a joint."""
    found: Array = evidence.triangles.transpose(1, 0, 2, 3).reshape(evidence.n_joints, -1, evidence.n_columns + 1)
    return found
