"""Inline sine and cosine shared by all backends: reduction by multiples of pi/2, then one polynomial each.

    k = round(2 x / pi),   r = ((x - k H1) - k H2) - k H3,   H1 + H2 + H3 = pi / 2

H1 and H2 have so few bits that k H1 and k H2 are exact for |x| <= limit, so the reduction is the same whether or not
the compiler fuses the products with the subtractions (Cody and Waite 1980).
k comes from adding 1.5 times 2^52 (and 2^17, so that it is counted from there), which leaves it in the low bits of the
sum: bit 0 exchanges sine and cosine, bit 1 gives their signs, and bits above the first 18 change only where |k| > 2^17.
On |r| <= pi/4, with u = r^2:  sin r = r + r u S(u),  cos r = 1 + u C(u), minimax fits by Remez exchange.
Beyond the limit the C library takes over.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

# pi / 2 to 60 digits, far more than three doubles hold
_HALF_PI = Fraction("1.57079632679489661923132169163975144209858469968755291048747")


@dataclass(frozen=True)
class SinCos:
    """Constants of the scheme for one floating-point type.

    Attributes:
        half_pi: H1, H2, H3.
        inverse: 2 / pi.
        reach: |k| stays below 2 to this power.
        magic: 1.5 times 2 to the power of the mantissa's bits, plus 2 to the power of the reach.
        limit: largest magnitude of an angle that the reduction handles.
        sine, cosine: coefficients of S and C, lowest power first.
    """

    half_pi: tuple[float, float, float]
    inverse: float
    reach: int
    magic: float
    limit: float
    sine: tuple[float, ...]
    cosine: tuple[float, ...]


def _half_pi(bits: int) -> tuple[float, float, float]:
    """pi / 2 in three parts, the first two of this many bits."""
    parts = []
    rest = _HALF_PI
    for _ in range(2):
        exponent = -bits
        # The unit in which the rest has exactly so many bits.
        while rest >= Fraction(2) ** (exponent + bits):
            exponent += 1
        while rest < Fraction(2) ** (exponent + bits - 1):
            exponent -= 1
        unit = Fraction(2) ** exponent
        parts.append(rest // unit * unit)
        rest -= parts[-1]
    return float(parts[0]), float(parts[1]), float(rest)


# 53 - 36 bits are left for k: |k| < 2^17, so |x| < 2e5
DOUBLE = SinCos(
    half_pi=_half_pi(36),
    inverse=float(1 / _HALF_PI),
    reach=17,
    magic=1.5 * 2**52 + 2**17,
    limit=1e5,
    sine=(
        -0.1666666666666663,
        0.008333333333321764,
        -0.0001984126982922775,
        2.7557313464816214e-06,
        -2.505071771107727e-08,
        1.5894158422302393e-10,
    ),
    cosine=(
        -0.5,
        0.041666666666666595,
        -0.0013888888888873418,
        2.480158728907706e-05,
        -2.755731423385223e-07,
        2.087570569259304e-09,
        -1.1358621290718328e-11,
    ),
)

# 24 - 11 bits are left for k: |k| < 2^13, so |x| < 12000
FLOAT = SinCos(
    half_pi=_half_pi(11),
    inverse=float(1 / _HALF_PI),
    reach=13,
    magic=1.5 * 2**23 + 2**13,
    limit=1e4,
    sine=(-0.16666655242443085, 0.00833219662308693, -0.00019517973123583943),
    cosine=(-0.5, 0.04166664555668831, -0.0013887308305129409, 2.4431630663457327e-05),
)
