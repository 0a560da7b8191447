"""Recorded: what recordings already say about the parameters, so that the next motion adds what they lack.

With the information H of what is recorded and rows W of a new motion, the covariance of values from both is

    C = (H + W^T V^-1 W)^-1

and the motion is planned to lower the largest sqrt(C_kk) / |theta_k|: sequential optimal design.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from tauform.arrays import Array
from tauform.description.parameter_groups import PARAMETER_GROUPS, ParameterGroup
from tauform.errors import IdentificationError
from tauform.identification.fitted.model import FittedModel
from tauform.identification.motion.criterion import ROUNDING, Criterion
from tauform.identification.regression.design import Design
from tauform.identification.regression.evidence import Evidence

# A value is looked at as if it made at least this part of a joint's torque: smaller ones need no digits.
MIN_TORQUE_SHARE = 0.01


@dataclass(frozen=True, eq=False)
class Recorded:
    """Information of recordings, in units of the values.

    Attributes:
        design: which values; its base parameters are those of the motion's columns.
        information: (p, p) H of the base parameters, each in units of `size`.
        size: (p,) of the values: what deviations are relative to.
        row_information: (n,) 1 / variance of a row of each joint, correlation in time accounted for.
        rows_per_second: that identification takes from a motion.
    """

    design: Design
    information: Array
    size: Array
    row_information: Array
    rows_per_second: float

    @classmethod
    def of(cls, fit: FittedModel) -> Recorded:
        """What the recordings of a fit say; columns that it left out count as well.

        Raises:
            IdentificationError: its base parameters are not the usual ones.
        """
        held = fit.unreduced or fit
        design, evidence = held.design, held.evidence
        if design.order or design.base.n == 0:
            raise IdentificationError(
                "given: a fit whose base parameters were ordered by hand", remedy="identify without an order"
            )
        inflation = np.ones(len(fit.sigma)) if fit.inflation is None else fit.inflation
        noise = fit.sigma * np.sqrt(inflation)
        size = _sizes(fit, design, evidence)
        steps = np.diff(fit.residuals.t)
        if evidence.coloured is None:
            R = evidence.stacked(1 / noise)[:-1, :-1]
            H = _of_the_first(R.T @ R, design.base.n) * np.outer(size, size)
        else:
            H = _coloured_information(evidence, evidence.coloured, fit.sigma, size)
        return cls(design, H, size, 1 / noise**2, float(1 / np.median(steps[steps > 0])))

    @property
    def include(self) -> tuple[ParameterGroup, ...]:
        """Groups of parameters that were identified."""
        held = {self.design.robot.layout.parameters[k].group for k in self.design.base.columns}
        return tuple(group for group in PARAMETER_GROUPS if group in held)

    def quality(self, W: Array, criterion: Criterion, duration: float) -> float:
        """log of the worst relative deviation, or minus the log determinant of the information."""
        squares, C = self._covariance(W, duration)
        return float(np.log(np.diag(C).max()) / 2 if criterion == "deviation" else -np.log(squares).sum())

    def smooth_quality(self, W: Array, criterion: Criterion, softness: float, duration: float) -> tuple[float, Array]:
        """A smooth stand-in for `quality` and its derivative by each entry of (N, n, p) columns."""
        squares, C = self._covariance(W, duration)
        weighted = self._rows(W, duration)
        if criterion == "deviation":
            variances = np.diag(C)
            # Relative to the largest: powers of the softness would overflow else.
            high = (variances / variances.max()) ** softness
            value = np.log(high.sum()) / (2 * softness) + np.log(variances.max()) / 2
            # dC = -C dH C, so d log C_kk / 2 = -(C W^T V^-1 dW C)_kk / C_kk.
            inner = (C * (high / high.sum() / variances)) @ C
        else:
            value, inner = -np.log(squares).sum(), 2 * C
        scale = np.sqrt(self._row_weights(W, duration))
        return float(value), -(weighted @ inner) * scale[:, None] * self.size

    def worst(self, W: Array | None = None, duration: float = 1.0) -> tuple[float, str]:
        """The largest relative deviation, now or with a motion's columns, and of which value."""
        C = self._covariance(np.zeros((1, *self._shape)) if W is None else W, duration)[1]
        k = int(np.argmax(np.diag(C)))
        return float(np.sqrt(C[k, k])), self.design.base.names[k]

    @property
    def _shape(self) -> tuple[int, int]:
        return len(self.row_information), len(self.size)

    def _row_weights(self, W: Array, duration: float) -> Array:
        """(n,) information of one state's row: the states stand for all rows of the motion."""
        return self.row_information * (self.rows_per_second * duration / len(W))

    def _rows(self, W: Array, duration: float) -> Array:
        """(N, n, p) rows of unit noise, for values in units of their size."""
        rows: Array = W * np.sqrt(self._row_weights(W, duration))[:, None] * self.size
        return rows

    def _covariance(self, W: Array, duration: float) -> tuple[Array, Array]:
        """Eigenvalues of the information in all, and its inverse, both in units of the sizes."""
        flat = self._rows(W, duration).reshape(-1, len(self.size))
        squares, V = scipy.linalg.eigh(self.information + flat.T @ flat, check_finite=False)
        # Never zero: what nothing shows has a large variance, not an infinite one.
        squares = np.maximum(squares, max(ROUNDING * squares[-1], np.finfo(float).tiny))
        return squares, (V / squares) @ V.T


def _coloured_information(evidence: Evidence, coloured: Array, sigma: Array, size: Array) -> Array:
    """The inverse of the covariance of weighted least squares, V = C M C, in units of the sizes; see `colour.py`."""
    A = evidence.stacked(1 / sigma)[:-1, :-1]
    half = (coloured / sigma[:, None, None]).reshape(-1, A.shape[1]) @ np.linalg.inv(A.T @ A)
    half = half[:, : len(size)] / size
    squares, V = scipy.linalg.eigh(half.T @ half, check_finite=False)
    # What is known to the last digit is not known better than that.
    information: Array = (V / np.maximum(squares, ROUNDING * squares[-1])) @ V.T
    return information


def _of_the_first(H: Array, n: int) -> Array:
    """Information about the first n values where the others are unknown: H_aa - H_ab H_bb^-1 H_ba."""
    if n == len(H):
        return H
    scale = np.sqrt(np.maximum(np.diag(H), np.finfo(float).tiny))
    unit = H / np.outer(scale, scale)
    rest = unit[:n, :n] - unit[:n, n:] @ np.linalg.pinv(unit[n:, n:], hermitian=True) @ unit[n:, :n]
    return rest * np.outer(scale[:n], scale[:n])


def _sizes(fit: FittedModel, design: Design, evidence: Evidence) -> Array:
    """(p,) of the base parameters, or what would make a small share of a joint's largest torque."""
    # A value that is hardly known may be large by chance: it counts by what stands out of its deviation.
    sure = fit.values**2 / np.maximum(fit.values**2 + fit.deviations**2, np.finfo(float).tiny)
    found = dict(zip(fit.names, fit.values * sure, strict=True))
    described = design.base_values(fit.robot)
    values = np.array([found.get(name, value) for name, value in zip(design.base.names, described, strict=True)])
    peaks = evidence.peaks[:, : design.base.n]
    with np.errstate(divide="ignore"):
        smallest = MIN_TORQUE_SHARE * (evidence.torque_peaks[:, None] / peaks).min(axis=0)
    # A column that was never excited says nothing of what size would matter.
    return np.maximum(np.abs(values), np.where(np.isfinite(smallest), smallest, 1.0))
