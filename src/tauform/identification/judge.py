"""A verdict in words: good, usable or not trustworthy, why, and what to record next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from tauform.arrays import Array
from tauform.identification.excitation import missing_motion
from tauform.identification.fit import Fit
from tauform.identification.validate import autocorrelation

Grade = Literal["good", "usable", "not trustworthy"]
# Held-out error of all joints, and condition number, up to which a fit is good, and usable.
GOOD_ERROR, USABLE_ERROR = 0.10, 0.25
GOOD_CONDITION, USABLE_CONDITION = 1e3, 1e5
# Share of the torque that a joint must carry before its own relative error counts.
CARRIES = 0.02
# Relative deviation beyond which a value is not known.
UNKNOWN = 0.5
# Share of the torque's peak at its joint that makes an unknown value matter.
MATTERS = 0.02


@dataclass(frozen=True, eq=False)
class Verdict:
    """The grade and its reasons.

    Attributes:
        reasons: sentences, worst first.
        next: what to record next.
        whiteness: (n,) share of residual correlations within the band that white residuals would keep.
    """

    grade: Grade
    reasons: tuple[str, ...]
    next: tuple[str, ...]
    whiteness: Array

    def __str__(self) -> str:
        return f"{self.grade}: " + "; ".join(self.reasons or ("errors are small and every parameter is well known",))


def judge(fit: Fit) -> Verdict:
    """Grade a fit by its held-out errors, the spread of its values, and what it leaves in the residuals."""
    errors = fit.validation or fit.held_out
    level = 0
    reasons: list[str] = []
    if errors.total > GOOD_ERROR:
        level = max(level, 1 if errors.total <= USABLE_ERROR else 2)
        reasons.append(f"the held-out error of all joints is {100 * errors.total:.1f} %")
    level = max(level, _judge_joints(fit, errors.joints, reasons))
    following: list[str] = []
    level = max(level, _judge_values(fit, reasons, following))
    if fit.condition > GOOD_CONDITION:
        level = max(level, 1 if fit.condition <= USABLE_CONDITION else 2)
        reasons.append(f"the condition number is {fit.condition:.1e}, so that parameters trade off against each other")
    worse = errors.total / max(float(_total(fit)), 1e-300)
    if worse > 2 and errors.total > 0.02:
        level = max(level, 1)
        reasons.append(f"held-out errors are {worse:.1f} times those of the fit: the motion is too short or too plain")
        following.append("record for longer, with motion that differs from what is there")
    whiteness = white_share(fit)
    coloured = [name for name, share in zip(fit.robot.joint_names, whiteness, strict=True) if share < 0.5]
    if coloured:
        reasons.append(f"residuals of {', '.join(coloured)} are not white: something systematic is left unexplained")
    grades: tuple[Grade, ...] = ("good", "usable", "not trustworthy")
    return Verdict(grades[level], tuple(reasons), tuple(dict.fromkeys(following)), whiteness)


def white_share(fit: Fit, n_lags: int = 20) -> Array:
    """(n,) share of the residuals' correlations over n_lags that lie within two standard errors of zero."""
    error = fit.residuals.error - fit.residuals.error.mean(axis=0)
    n_lags = min(n_lags, max(1, len(error) // 4))
    rho = autocorrelation(error, n_lags)[1:]
    return (np.abs(rho) <= 2 / np.sqrt(len(error))).mean(axis=0)


def _judge_joints(fit: Fit, relative: Array, reasons: list[str]) -> int:
    level = 0
    squares = (fit.residuals.measured**2).sum(axis=0)
    carries = squares / squares.sum() > CARRIES**2
    for j, name in enumerate(fit.robot.joint_names):
        if carries[j] and relative[j] > 0.5:
            level = max(level, 2 if relative[j] > 0.9 else 1)
            reasons.append(f"joint {name} is off by {100 * relative[j]:.0f} % of its torque on held-out data")
    return level


def _judge_values(fit: Fit, reasons: list[str], following: list[str]) -> int:
    # A value matters where its uncertainty alone makes a visible part of a joint's torque.
    reach = (fit.evidence.peaks * fit.deviations) / np.maximum(fit.evidence.torque_peaks, 1e-300)[:, None]
    vague = [k for k in range(len(fit.values)) if fit.relative_deviations[k] > UNKNOWN and reach[:, k].max() > MATTERS]
    if vague:
        names = [fit.names[k] for k in vague]
        shown = ", ".join(names[:6]) + (f" and {len(names) - 6} more" if len(names) > 6 else "")
        reasons.append(f"{shown} are known to no better than {100 * UNKNOWN:.0f} % and matter")
        following.append(missing_motion(names))
    negative = [
        name
        for name, value, deviation in zip(fit.names, fit.values, fit.deviations, strict=True)
        if name.startswith(("Fv_", "Fc_", "Ia_")) and value < -3 * deviation
    ]
    if negative and fit.physical is None:
        reasons.append(f"{', '.join(negative[:6])} came out negative; physical=True forbids that")
    return 1 if vague or negative else 0


def _total(fit: Fit) -> float:
    error, measured = fit.residuals.error, fit.residuals.measured
    return float(np.sqrt((error**2).sum() / np.maximum((measured**2).sum(), 1e-300)))
