"""Noise of a fleet's recordings: what is left of each one's torques by its own values, not by those of all together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tauform.arrays import Array
from tauform.closedform.threads import on_one_thread
from tauform.errors import IdentificationError
from tauform.fleet.evidence.faults import Fault, faults_of
from tauform.identification.fit import Fit
from tauform.identification.regression.colour import coloured
from tauform.identification.regression.estimate import least_squares
from tauform.identification.regression.evidence import Evidence, gather
from tauform.identification.regression.rows import RowSource
from tauform.identification.signals.filters import correlation_of_filters
from tauform.identification.verdict.validate import inflation_of, inflation_of_filters, residuals_of

# In multiples of a value or its deviation: a prior that wide decides nothing that logs say anything about.
WIDE = 100.0
# Colour only adds: what is felt less than the usual inflation says is known from few recordings.
SMALLEST_FACTOR = 1.0


def wide_prior(values: Array, deviations: Array) -> tuple[Array, Array]:
    """Mean and deviation of a prior that only closes what a motion leaves open."""
    return values, np.maximum(WIDE * np.abs(values), WIDE * deviations)


@dataclass(frozen=True, eq=False)
class Colour:
    """What the colour of the residuals does to variances, beside their usual inflation: factors.

    Noise that is correlated over a second is felt by an offset, which is as slow, and not by friction, which changes
    its sign with the motion.

    Attributes:
        of_values: (p,) of values that are fitted all together.
        moving: columns of friction and offsets.
        of_moving: of these, fitted alone.
        of_faults: of the sizes of all faults, in the order of `faults_of`.
        of_gains, of_load: of those among them that are series over time.
    """

    of_values: Array
    moving: tuple[int, ...]
    of_moving: Array
    of_faults: Array
    of_gains: Array
    of_load: Array


@on_one_thread
def noise_of(fit: Fit) -> tuple[Array, Array, Colour]:
    """(n,) standard deviation of the residuals, what their correlation in time adds to a variance, and their colour.

    Medians over recordings, each beside its own values. Units differ, some are faulty. Beside pooled values all of that
    would pass for noise, and for slow noise at that.
    """
    assert fit.source is not None
    design, found = fit.source.design, []
    faults = faults_of(design, fit.values)
    moving = tuple(k for k, (kind, _) in enumerate(design.kinds) if kind in ("Fv", "Fc", "Fo"))
    for recording in sorted({segment.recording for segment in fit.source.segments}):
        own = tuple(segment for segment in fit.source.segments if segment.recording == recording)
        try:
            found.append(_of_recording(fit, replace(fit.source, segments=own, silent=()), faults, moving))
        # Too short alone for the filters to settle.
        except IdentificationError:
            continue
    if found:
        sigma, inflation, *factors = (np.median(part, axis=0) for part in zip(*found, strict=True))
    else:
        sigma, inflation = fit.sigma, np.ones_like(fit.sigma) if fit.inflation is None else fit.inflation
        factors = [np.ones(len(fit.values)), np.ones(len(moving)), np.ones(len(faults))]
    of_values, of_moving, of_faults = factors
    kinds = np.array([fault.name for fault in faults])
    # A tool on the base carries nothing: a series of zeros stands for it.
    load = of_faults[kinds == "payload"] if "payload" in kinds else np.ones(1)
    return sigma, inflation, Colour(of_values, moving, of_moving, of_faults, of_faults[kinds == "gain"], load)


def _of_recording(
    fit: Fit, source: RowSource, faults: Sequence[Fault], moving: Sequence[int]
) -> tuple[Array, Array, Array, Array, Array]:
    rows, rate = source.kept(), source.segments[0].rate
    evidence = gather(rows, source)
    own = least_squares(evidence, prior=wide_prior(fit.values, fit.deviations))
    residuals = residuals_of(own.values, rows, rate)
    inflation = inflation_of(residuals, inflation_of_filters(source.filters, rate))
    evidence = coloured(evidence, own, rows, correlation_of_filters(source.filters, rate))
    white = own.covariance(replace(evidence, coloured=None), inflation)
    of_values = np.maximum(np.diag(own.covariance(evidence)) / np.maximum(np.diag(white), 1e-300), SMALLEST_FACTOR)
    variances = _Variances(evidence, own.sigma, inflation)
    n, p = evidence.n_joints, evidence.n_columns
    alone = variances.factors([np.eye(p)[:, list(moving)]] * n)
    of_faults = [variances.factors(_at_joints(fault, fit.values, n))[0] for fault in faults]
    return own.sigma, inflation, of_values, alone, np.array(of_faults)


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
        self.rows, self.coloured = one_triangle(evidence), evidence.coloured
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


def one_triangle(evidence: Evidence) -> Array:
    """(n, rows, p) columns of all blocks of a joint."""
    found: Array = evidence.triangles[..., :-1].transpose(1, 0, 2, 3).reshape(evidence.n_joints, -1, evidence.n_columns)
    return found
