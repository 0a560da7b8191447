"""Polynomials in named lengths: what the coefficients of a base-parameter relation are made of.

Exponents may be negative, so that dividing by a monomial stays exact. No symbolic engine is needed: relations are
sums of products of lengths and of the constant entries of rotations.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from tauform.closedform.notation import PLAIN, Notation
from tauform.portable.correct import power as raised

# ((name, exponent), ...) sorted by name; () is the constant.
Monomial = tuple[tuple[str, int], ...]
# A sum this much smaller than its terms is rounding of the rotations' entries.
MAX_CANCELLED_SHARE = 1e-12
# Of a number in a text: 2, -0.5, 0.0872664626.
DIGITS = 10
# `R3^2 D4`: as LaTeX does, products are written without a sign.
PLAIN_POWERS = replace(PLAIN, times=" ", power="^")


@dataclass(frozen=True)
class Polynomial:
    """A sum of coefficient * product of powers of named lengths.

    Attributes:
        terms: coefficient of each monomial, never zero.
    """

    terms: Mapping[Monomial, float]

    @classmethod
    def constant(cls, value: float) -> Polynomial:
        """A number."""
        return cls({(): float(value)} if value else {})

    @classmethod
    def symbol(cls, name: str) -> Polynomial:
        """A named length."""
        return cls({((name, 1),): 1.0})

    @property
    def is_zero(self) -> bool:
        return not self.terms

    @property
    def is_monomial(self) -> bool:
        return len(self.terms) == 1

    @property
    def names(self) -> tuple[str, ...]:
        """The lengths it depends on."""
        return tuple(sorted({name for monomial in self.terms for name, _ in monomial}))

    def __add__(self, other: Polynomial | float) -> Polynomial:
        terms = dict(self.terms)
        for monomial, b in _of(other).terms.items():
            # Taken out and put back where it is left: a term that cancels must not stay as 1e-17.
            a = terms.pop(monomial, 0.0)
            if abs(a + b) > MAX_CANCELLED_SHARE * max(abs(a), abs(b)):
                terms[monomial] = a + b
        return Polynomial(terms)

    __radd__ = __add__

    def __neg__(self) -> Polynomial:
        return Polynomial({monomial: -value for monomial, value in self.terms.items()})

    def __sub__(self, other: Polynomial | float) -> Polynomial:
        return self + -_of(other)

    def __rsub__(self, other: Polynomial | float) -> Polynomial:
        return _of(other) - self

    def __mul__(self, other: Polynomial | float) -> Polynomial:
        total = Polynomial({})
        for left, a in self.terms.items():
            product = {_times(left, right): a * b for right, b in _of(other).terms.items()}
            total = total + Polynomial(product)
        return total

    __rmul__ = __mul__

    def __truediv__(self, divisor: Polynomial | float) -> Polynomial:
        """Exact division by a monomial."""
        # Unpacking fails for a sum: that division would leave the polynomials.
        ((monomial, value),) = _of(divisor).terms.items()
        return self * Polynomial({tuple((name, -power) for name, power in monomial): 1.0 / value})

    def evaluate(self, lengths: Mapping[str, float]) -> float:
        """Value for these lengths."""
        total = 0.0
        for monomial, value in self.terms.items():
            for name, power in monomial:
                value *= raised(lengths[name], power)
            total += value
        return total

    def above(self, size: float, lengths: Mapping[str, float]) -> Polynomial:
        """The terms that are larger than this for these lengths; none where their sum is not."""
        # Terms may be large each and cancel for this robot.
        if abs(self.evaluate(lengths)) <= size:
            return Polynomial({})
        terms = self.terms.items()
        return Polynomial({m: value for m, value in terms if abs(Polynomial({m: value}).evaluate(lengths)) > size})

    def text(self, notation: Notation = PLAIN_POWERS) -> str:
        """A sum of products, `2 R3 D4 - D3^2`."""
        monomials = sorted(self.terms, key=_place)
        parts = [_signed(self.terms[monomial], monomial, notation) for monomial in monomials]
        return join_signed(parts) if parts else "0"

    def __str__(self) -> str:
        return self.text()


def join_signed(parts: list[tuple[str, str]]) -> str:
    """`a - b + c` from signs and texts."""
    (sign, text), *rest = parts
    return ("-" if sign == "-" else "") + text + "".join(f" {sign} {text}" for sign, text in rest)


def _signed(value: float, monomial: Monomial, notation: Notation) -> tuple[str, str]:
    size = notation.number(f"{abs(value):.{DIGITS}g}")
    lengths = notation.times.join(notation.raised(notation.name(name), power) for name, power in monomial)
    return "-" if value < 0 else "+", notation.product(size, lengths)


def _place(monomial: Monomial) -> tuple[object, ...]:
    # As Gautier1991 writes them: R3^2 + D3^2 + D4^2.
    first = re.fullmatch(r"(.*?)(\d*)", monomial[0][0]) if monomial else None
    if first is None:
        return (1, (), 0, monomial)
    letters, digits = first.groups()
    return (0, tuple(-ord(letter) for letter in letters), int(digits or 0), monomial)


def _of(value: Polynomial | float) -> Polynomial:
    return value if isinstance(value, Polynomial) else Polynomial.constant(value)


def _times(left: Monomial, right: Monomial) -> Monomial:
    powers = dict(left)
    for name, power in right:
        powers[name] = powers.get(name, 0) + power
    return tuple(sorted((name, power) for name, power in powers.items() if power))
