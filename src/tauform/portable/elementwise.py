"""Elementary functions of arrays, made of sums and products in a fixed order: the same bits on every processor.

The schemes are those of the generated code (`tauform.portable.sincos`, `tauform.portable.exponential`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tauform.arrays import AnyArray, Array
from tauform.portable import correct
from tauform.portable.exponential import DOUBLE as EXPONENTIAL
from tauform.portable.sincos import DOUBLE

# Fewer angles than this are quicker one by one.
_FEW = 8


def sin_cos(angles: AnyArray) -> tuple[AnyArray, AnyArray]:
    """sin and cos of angles [rad], within 1.5 units of the last place; other scalars than double use NumPy's own.

    Angles beyond the limit of the scheme are reduced in integers, one by one.
    """
    angles = np.asarray(angles)
    # Complex steps, counting and symbolic scalars bring sines of their own.
    if angles.dtype != np.float64:
        return np.sin(angles), np.cos(angles)
    if angles.size < _FEW:
        pairs = np.array([_of_one(angle) for angle in angles.ravel().tolist()]).reshape(*angles.shape, 2)
        return pairs[..., 0], pairs[..., 1]
    # Far angles are rare and slow: one by one, in integers.
    near = np.abs(angles) <= DOUBLE.limit
    if near.all():
        return _of_many(angles)
    sine, cosine = _of_many(np.where(near, angles, 0.0))
    sine[~near], cosine[~near] = np.array([correct.sin_cos(angle) for angle in angles[~near].tolist()]).T
    return sine, cosine


def sin(angles: AnyArray) -> AnyArray:
    """sin of angles [rad]."""
    return sin_cos(angles)[0]


def cos(angles: AnyArray) -> AnyArray:
    """cos of angles [rad]."""
    return sin_cos(angles)[1]


def arctan2(y: AnyArray, x: AnyArray) -> AnyArray:
    """Angles of points (x, y) [rad], correctly rounded; one by one, for the few that there are."""
    points = zip(*(side.ravel().tolist() for side in np.broadcast_arrays(y, x)), strict=True)
    return np.array([correct.arctan2(b, a) for b, a in points]).reshape(np.broadcast_shapes(np.shape(y), np.shape(x)))


def exp(x: AnyArray) -> AnyArray:
    """e^x, within 1.5 units of the last place; 0 below -708 and infinite above 709."""
    x = np.asarray(x)
    if x.dtype != np.float64:
        return np.exp(x)
    # Clipped first: 2^k of what lies beyond would overflow before it is replaced.
    k, p = _power_of_two(np.clip(x, EXPONENTIAL.lowest, EXPONENTIAL.highest))
    scale = np.ldexp(1.0, k)
    inside = np.where(x < EXPONENTIAL.lowest, 0.0, scale + scale * p)
    return np.where(x > EXPONENTIAL.highest, np.inf, inside)


def tanh(x: AnyArray) -> AnyArray:
    """tanh x, within a few units of the last place."""
    x = np.asarray(x)
    if x.dtype != np.float64:
        return np.tanh(x)
    k, p = _power_of_two(-2.0 * np.minimum(np.abs(x), -0.5 * EXPONENTIAL.saturated))
    scale = np.ldexp(1.0, k)
    m = scale * p + (scale - 1.0)  # e^(-2|x|) - 1
    # -m / (2 + m) with m = e^(-2|x|) - 1 has no cancellation near zero, unlike (1 - e) / (1 + e).
    return np.copysign(-m / (2.0 + m), x)


def _power_of_two(x: Array) -> tuple[AnyArray, Array]:
    """k and p with e^x = 2^k (1 + p), |p| < 0.42."""
    # Half to even, as the generated code rounds.
    k = np.rint(x * EXPONENTIAL.inverse)
    r = (x - k * EXPONENTIAL.log_2[0]) - k * EXPONENTIAL.log_2[1]
    value: Any = EXPONENTIAL.coefficients[-1]
    for coefficient in EXPONENTIAL.coefficients[-2::-1]:
        value = value * r + coefficient
    # k = 0 for what is not a number: the cast of NaN is undefined, and p carries it on.
    return np.nan_to_num(k).astype(np.int64), value * (r * r) + r


def _of_one(x: float) -> tuple[float, float]:
    if not abs(x) <= DOUBLE.limit:
        return correct.sin_cos(x)
    k = round(x * DOUBLE.inverse)
    s, c = _reduced(x, k)
    return ((s, c), (c, -s), (-s, -c), (-c, s))[k % 4]


def _of_many(x: Array) -> tuple[Array, Array]:
    k = np.rint(x * DOUBLE.inverse)
    s, c = _reduced(x, k)
    quadrant = k.astype(np.int64)
    odd = (quadrant & 1).astype(bool)
    sine, cosine = np.where(odd, c, s), np.where(odd, s, c)
    # Quadrants 2 and 3 turn the sign of the sine, 1 and 2 that of the cosine.
    sine *= 1 - (quadrant & 2)
    cosine *= 1 - ((quadrant + 1) & 2)
    return sine, cosine


def _reduced(x: Any, k: Any) -> tuple[Any, Any]:
    """sin and cos of r = x - k pi / 2: sin r = r + r u S(u), cos r = 1 + u C(u), u = r^2."""
    # Cody and Waite: pi/2 in three parts, of which k times the first two is exact, so that r keeps its digits.
    r = ((x - k * DOUBLE.half_pi[0]) - k * DOUBLE.half_pi[1]) - k * DOUBLE.half_pi[2]
    u = r * r
    # Horner, in the order of the generated code: the same sums give the same bits.
    sine: Any = DOUBLE.sine[-1]
    for coefficient in DOUBLE.sine[-2::-1]:
        sine = sine * u + coefficient
    cosine: Any = DOUBLE.cosine[-1]
    for coefficient in DOUBLE.cosine[-2::-1]:
        cosine = cosine * u + coefficient
    return sine * u * r + r, cosine * u + 1.0
