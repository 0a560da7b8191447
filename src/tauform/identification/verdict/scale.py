"""Whether torques are of the size that the description's masses make: a wrong gain or unit scales them."""

from __future__ import annotations

import numpy as np

from tauform.arrays import Array
from tauform.identification.diagnosis.masses import has_plausible_masses
from tauform.identification.fitted.model import FittedModel
from tauform.identification.verdict.mass_matrices import postures
from tauform.rigidbody.gravity import gravity_torque

# Masses that differ by less may be those of a gripper, or of a careless description.
MIN_SCALE_ERROR = 5.0
# Correlation of two torques that are the same but for a scale, and share of a joint's torque that must be so.
MIN_CORRELATION, MIN_CORRELATED_SHARE = 0.9, 0.2
# A joint tells of gravity where it holds this share of the most loaded joint's, and its ratio is known this well.
MIN_GRAVITY_SHARE, MAX_RATIO_DEVIATION = 0.1, 0.1
# Ratio of identified and described gravity up to which a careless description explains it; real arms: 0.85 to 1.1.
MAX_GRAVITY_RATIO = 1.3


def scales_off(fit: FittedModel) -> dict[int, float]:
    """Joint -> how many times as large as described its links' torque is, if that is > 5, or < 1/5, at all that tell.

    A joint tells where its torque, apart from what friction and rotors may do, has the shape of the described one.
    Empty where nothing is off, or the description has no plausible masses.
    """
    if not has_plausible_masses(fit.robot):
        return {}
    scales = {j: scale for j in range(fit.robot.n_joints) if (scale := _scale_at(fit, j)) is not None}
    # A unit or a gain is off the same way everywhere; mixed scales are wrong masses.
    one_way = all(x > MIN_SCALE_ERROR for x in scales.values()) or all(x < 1 / MIN_SCALE_ERROR for x in scales.values())
    return scales if one_way else {}


def gravity_ratios(fit: FittedModel) -> Array:
    """(n,) identified over described gravity torque of each joint; NaN where a joint does not tell.

    Over postures within the limits, the ratio r that makes r g_described nearest to g_identified = Y_g theta, with

        r = c theta,   c = g_described^T Y_g / |g_described|^2,   var r = c cov(theta) c^T.

    A joint tells where it holds weight, both torques have the same shape, and r is known.
    """
    ratios = np.full(fit.robot.n_joints, np.nan)
    if not has_plausible_masses(fit.robot):
        return ratios
    q = postures(fit)
    still = np.zeros_like(q)
    links = [k for k, pivot in enumerate(fit.design.base.pivots) if fit.robot.layout.is_link(pivot)]
    Y_g = fit.design.with_terms(()).columns(q, still, still)[:, :, links]
    theta, covariance = fit.values[links], fit.covariance[np.ix_(links, links)]
    described = gravity_torque(fit.robot, q)
    identified = Y_g @ theta
    squares, products = (described**2).sum(axis=0), (described * identified).sum(axis=0)
    # A share of torque, so its square among squares.
    for j in np.flatnonzero(squares > MIN_GRAVITY_SHARE**2 * squares.max()):
        c = described[:, j] @ Y_g[:, j] / squares[j]
        alike = products[j] > MIN_CORRELATION * np.sqrt(squares[j] * (identified[:, j] ** 2).sum())
        # Noise in a ratio that is hardly known would read as a wrong gain.
        if alike and c @ covariance @ c < MAX_RATIO_DEVIATION**2 * (c @ theta) ** 2:
            ratios[j] = c @ theta
    return ratios


def joints_off(ratios: Array) -> list[int]:
    """Joints whose gravity is of another size than a careless description explains."""
    return [
        j for j in np.flatnonzero(np.isfinite(ratios)).tolist() if abs(np.log(ratios[j])) > np.log(MAX_GRAVITY_RATIO)
    ]


def _scale_at(fit: FittedModel, joint: int) -> float | None:
    """Factor between a joint's torque and the described one of its links, if both have the same shape."""
    base = fit.design.base
    links, drives = base.layout.links, base.layout.drives
    described = np.append(base.grouping[:, links] @ fit.robot.parameters[links], np.zeros(len(fit.terms)))
    of_drives = np.append(base.grouping[:, drives].any(axis=1), np.ones(len(fit.terms), dtype=bool))
    # The condensed rows of all blocks: sums over them are sums over the rows.
    rows = fit.evidence.triangles[:, joint].reshape(-1, fit.evidence.n_columns + 1)
    columns, measured = rows[:, :-1], rows[:, -1]
    # Without what drives can explain: friction must not pass for masses.
    expected, left = (_outside(columns[:, of_drives], x) for x in (columns @ described, measured))
    own, other, together = expected @ expected, left @ left, expected @ left
    tells = together > MIN_CORRELATION * np.sqrt(own * other) and other > MIN_CORRELATED_SHARE**2 * (
        measured @ measured
    )
    return float(together / own) if tells else None


def _outside(columns: Array, values: Array) -> Array:
    """Part of the values that these columns cannot make."""
    size = np.linalg.norm(columns, axis=0)
    unit = columns[:, size > 0] / size[size > 0]
    # Unit columns, so that the cut-off is relative.
    return values - unit @ np.linalg.lstsq(unit, values, rcond=1e-10)[0]
