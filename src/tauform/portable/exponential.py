"""Inline exponential and hyperbolic tangent shared by all backends: a power of two times one polynomial.

    k = round(x / ln 2),   r = (x - k L1) - k L2,   L1 + L2 = ln 2,   p = e^r - 1 = r + r^2 Q(r)
    e^x = 2^k + 2^k p,     e^x - 1 = 2^k p + (2^k - 1),     tanh x = sign(x) (-m) / (2 + m),  m = e^(-2|x|) - 1

L1 has so few bits that k L1 is exact, so the reduction is the same whether or not the compiler fuses the product with
the subtraction (Cody and Waite 1980). k comes from adding 1.5 times 2^52 and the exponent's bias, which leaves the
biased exponent of 2^k in the low bits of the sum. Near zero k = 0 and m = p, so tanh keeps its relative accuracy there.
Q interpolates (e^r - 1 - r) / r^2 at Chebyshev's nodes on |r| <= ln(2) / 2. Below `lowest` e^x is zero (a subnormal
number otherwise), above `highest` infinite.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

# ln 2 to 60 digits, far more than two doubles hold
_LOG_2 = Fraction("0.693147180559945309417232121458176568075500134360254996119")


@dataclass(frozen=True)
class Exponential:
    """Constants of the scheme for one floating-point type.

    Attributes:
        log_2: L1, L2.
        inverse: 1 / ln 2.
        mantissa: bits of the mantissa that are stored; 2^k has its exponent above them.
        magic: 1.5 times 2 to the power of `mantissa`, plus the exponent's bias.
        lowest, highest: range of the arguments of an exponential.
        saturated: -2|x| below this gives tanh x = +-1.
        coefficients: of Q, lowest power first.
    """

    log_2: tuple[float, float]
    inverse: float
    mantissa: int
    magic: float
    lowest: float
    highest: float
    saturated: float
    coefficients: tuple[float, ...]


def _log_2(bits: int) -> tuple[float, float]:
    """ln 2 in two parts, the first of this many bits."""
    unit = Fraction(1, 2**bits)
    first = _LOG_2 // unit * unit
    return float(first), float(_LOG_2 - first)


# 53 - 42 bits are left for k: |k| < 2^11
DOUBLE = Exponential(
    log_2=_log_2(42),
    inverse=float(1 / _LOG_2),
    mantissa=52,
    magic=1.5 * 2**52 + 1023,
    lowest=-708.0,
    highest=709.0,
    saturated=-40.0,
    coefficients=(
        0.5,
        0.1666666666666667,
        0.04166666666666667,
        0.008333333333326112,
        0.001388888888888373,
        0.0001984126987490126,
        2.4801587325605324e-05,
        2.7557255297969643e-06,
        2.755727357010214e-07,
        2.5105259538448494e-08,
        2.0914717341716378e-09,
    ),
)

# 24 - 16 bits are left for k: |k| < 2^8
FLOAT = Exponential(
    log_2=_log_2(16),
    inverse=float(1 / _LOG_2),
    mantissa=23,
    magic=1.5 * 2**23 + 127,
    lowest=-87.0,
    highest=88.0,
    saturated=-20.0,
    coefficients=(0.5, 0.16666667, 0.041666463, 0.0083333105, 0.0013933686, 0.0001989103),
)
