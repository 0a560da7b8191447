"""Elementary functions of single numbers, correctly rounded: for the constants that programs and files hold.

Computed in integers, as multiples of 2^-bits, with far more bits than a double holds. The argument's exponent adds
bits, so that large angles are reduced exactly and small results keep all their digits.
"""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from functools import lru_cache

# A double next to a multiple of pi / 2 leaves at most 62 leading zeros; 53 bits and a wide margin remain.
_GUARD = 192
# Halvings of an arc's tangent before its series, each of which makes the series shorter.
_HALVINGS = 8
# Digits of exponentials, which the decimal module rounds correctly.
_DIGITS = 60
# Beyond, e^x is infinite or zero in doubles; up to the other, tanh x is x.
LARGEST_EXPONENT, SMALLEST_TANH = 750.0, 1e-8


def sin_cos(angle: float) -> tuple[float, float]:
    """sin and cos of an angle [rad], each the nearest double; NaN of what is not finite."""
    if not math.isfinite(angle):
        return math.nan, math.nan
    if angle == 0.0:
        return angle, 1.0
    # An angle of 2^e needs e more bits of pi to be reduced to the same precision.
    bits = _GUARD + abs(math.frexp(angle)[1])
    x, half_pi = _fixed(angle, bits), _pi(bits) >> 1
    quarter_turns = (2 * x + half_pi) // (2 * half_pi)  # the nearest whole number
    s, c = _series(x - quarter_turns * half_pi, bits)
    s, c = ((s, c), (c, -s), (-s, -c), (-c, s))[quarter_turns % 4]
    return s / (1 << bits), c / (1 << bits)  # a quotient of integers is rounded once


def arctan2(y: float, x: float) -> float:
    """Angle of the point (x, y) [rad], the nearest double."""
    # On the axes and at infinity the C library is exact everywhere.
    if not (x and y and math.isfinite(x) and math.isfinite(y)):
        return math.atan2(y, x)  # a multiple of pi / 4, signed zero or NaN: no series is behind it
    bits = _GUARD + abs(math.frexp(y)[1] - math.frexp(x)[1])
    (a, b), (c, d) = abs(y).as_integer_ratio(), abs(x).as_integer_ratio()
    rise, run = a * d, c * b
    # The smaller over the larger: the series converges only up to one.
    arc = _arc((min(rise, run) << bits) // max(rise, run), bits)
    if rise > run:
        arc = (_pi(bits) >> 1) - arc
    if x < 0:
        arc = _pi(bits) - arc
    return math.copysign(arc / (1 << bits), y)


def hypot(x: float, y: float) -> float:
    """sqrt(x^2 + y^2), the nearest double."""
    (a, b), (c, d) = x.as_integer_ratio(), y.as_integer_ratio()
    square, unit = (a * d) ** 2 + (c * b) ** 2, b * d
    if not square:
        return 0.0
    # Room for all bits of the root, whatever the exponents of x and y.
    shift = max(_GUARD + unit.bit_length() - square.bit_length() // 2, 0)
    return math.isqrt(square << (2 * shift)) / (unit << shift)


def exp(x: float) -> float:
    """e^x, the nearest double."""
    if not -LARGEST_EXPONENT < x < LARGEST_EXPONENT:
        return math.nan if math.isnan(x) else math.inf if x > 0 else 0.0
    with localcontext(prec=_DIGITS):
        return float(Decimal(x).exp())


def tanh(x: float) -> float:
    """tanh x, the nearest double."""
    if not SMALLEST_TANH < abs(x) < LARGEST_EXPONENT:
        return x if abs(x) <= SMALLEST_TANH or math.isnan(x) else math.copysign(1.0, x)
    with localcontext(prec=_DIGITS):
        # e^-2x never overflows; 1 - e^-2x has sixty digits to lose, and seventeen to keep.
        fraction = (Decimal(-2) * Decimal(abs(x))).exp()
        return math.copysign(float((1 - fraction) / (1 + fraction)), x)


def power(x: float, exponent: int) -> float:
    """x to a whole power: the quotient or product of its factors, one after the other."""
    result = 1.0
    for _ in range(abs(exponent)):
        result *= x
    return result if exponent >= 0 else 1.0 / result


def _fixed(x: float, bits: int) -> int:
    numerator, denominator = x.as_integer_ratio()
    return (numerator << bits) // denominator


def _series(r: int, bits: int) -> tuple[int, int]:
    """Taylor series of sin and cos on |r| <= pi / 4."""
    square = (r * r) >> bits
    sums = []
    for first, k in ((abs(r), 1), (1 << bits, 0)):
        # sin: r - r^3 / 3! + ...;  cos: 1 - r^2 / 2! + ...
        total, term, sign = 0, first, 1
        while term:
            total += sign * term
            term = ((term * square) >> bits) // ((k + 1) * (k + 2))
            sign, k = -sign, k + 2
        sums.append(total)
    s, c = sums
    return (s if r >= 0 else -s), c


def _arc(t: int, bits: int) -> int:
    """arctan of 0 <= t <= 1."""
    one = 1 << bits
    for _ in range(_HALVINGS):
        # arctan t = 2 arctan(t / (1 + sqrt(1 + t^2)))
        t = (t << bits) // (one + math.isqrt((one << bits) + t * t))
    square, term, k, total = (t * t) >> bits, t, 1, 0
    while term:
        total += term // k if k % 4 == 1 else -(term // k)
        term, k = (term * square) >> bits, k + 2
    return total << _HALVINGS


@lru_cache(maxsize=8)
def _pi_to(bits: int) -> int:
    """pi = 16 arctan(1/5) - 4 arctan(1/239) (Machin)."""

    def inverse_arc(n: int) -> int:
        term, k, total = (1 << bits) // n, 1, 0
        while term:
            total += term // k if k % 4 == 1 else -(term // k)
            term, k = term // (n * n), k + 2
        return total

    return 16 * inverse_arc(5) - 4 * inverse_arc(239)


def _pi(bits: int) -> int:
    whole = -(-(bits + 64) // 256) * 256  # few different precisions, each with bits to spare
    return _pi_to(whole) >> (whole - bits)


def two_over_pi(bits: int) -> int:
    """The first bits of 2 / pi, as an integer."""
    wide = bits + 64
    return ((2 << 2 * wide) // _pi(wide)) >> (wide - bits)
