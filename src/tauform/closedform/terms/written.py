"""Written: a scalar that is a text, so that the line which defines a drive term also writes its equation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tauform.arrays import AnyArray
from tauform.closedform.notation import LATEX, Notation, digits_of

# How tightly a text holds together: within a product, sums and quotients need brackets.
SUM, QUOTIENT, PRODUCT, ATOM = range(4)


@dataclass(frozen=True)
class WrittenNumber:
    """A text of some notation that behaves like a number.

    Attributes:
        sine, cosine: what the notation calls those of an angle.
    """

    text: str
    notation: Notation
    digits: int | None = None
    holds: int = ATOM
    sine: str = ""
    cosine: str = ""

    def _of(self, value: Any) -> WrittenNumber:
        if isinstance(value, WrittenNumber):
            return value
        text = self.notation.number(digits_of(float(value), self.digits))
        # A sign or a LaTeX power of ten needs brackets in a power or quotient, not in a product.
        return WrittenNumber(text, self.notation, self.digits, PRODUCT if text.startswith("-") or " " in text else ATOM)

    def _new(self, text: str, holds: int) -> WrittenNumber:
        return WrittenNumber(text, self.notation, self.digits, holds)

    def _within(self, holds: int) -> str:
        return self.text if self.holds >= holds else f"({self.text})"

    def __add__(self, other: Any) -> Any:
        # NumPy then works entry by entry, and comes back here.
        if isinstance(other, np.ndarray):
            return NotImplemented
        if not isinstance(other, WrittenNumber) and other == 0:
            return self
        # a + -b reads as a - b.
        return self._new(f"{self.text} + {self._of(other).text}".replace("+ -", "- "), SUM)

    def __radd__(self, other: Any) -> Any:
        return self if other == 0 else self._of(other) + self

    def __neg__(self) -> WrittenNumber:
        inner = self._within(PRODUCT)
        return self._new(inner[1:] if inner.startswith("-") else f"-{inner}", PRODUCT)

    def __sub__(self, other: Any) -> Any:
        return NotImplemented if isinstance(other, np.ndarray) else self + -other

    def __rsub__(self, other: Any) -> Any:
        return -self + other if other == 0 else self._of(other) + -self

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        if not isinstance(other, WrittenNumber):
            if other == 0:
                # A plain zero: the term vanishes from the equation.
                return 0.0
            if abs(other) == 1:
                return self if other == 1 else -self
        a, b = self._of(other), self
        # Signs of both factors are drawn to the front: -a*b, not -a*-b.
        sign = (a.text.startswith("-") and a.holds == PRODUCT) != (b.text.startswith("-") and b.holds == PRODUCT)
        bare = [x.text[1:] if x.text.startswith("-") and x.holds == PRODUCT else x._within(PRODUCT) for x in (a, b)]
        return self._new("-" * sign + self.notation.times.join(bare), PRODUCT)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented
        if not isinstance(other, WrittenNumber) and abs(other) == 1:
            return self * other
        # Behind a slash even a product needs brackets.
        return self._new(f"{self._within(PRODUCT)} / {self._of(other)._within(ATOM)}", QUOTIENT)

    def __rtruediv__(self, other: Any) -> Any:
        return self._of(other) / self

    def _function(self, name: str) -> WrittenNumber:
        letters = rf"\operatorname{{{name}}}" if self.notation is LATEX else name
        return self._new(f"{letters}({self.text})", ATOM)

    def sin(self) -> WrittenNumber:
        """`s1`, or `sin(q1 + 0.3)`."""
        return self._new(self.sine, ATOM) if self.sine else self._function("sin")

    def cos(self) -> WrittenNumber:
        """`c1`, or `cos(q1 + 0.3)`."""
        return self._new(self.cosine, ATOM) if self.cosine else self._function("cos")

    def sign(self) -> WrittenNumber:
        """`sign(qd1)`."""
        return self._new(self.notation.sign.format(self.text), ATOM)

    def abs(self) -> WrittenNumber:
        """`abs(qd1)`."""
        return self._function("abs")

    def tanh(self) -> WrittenNumber:
        """`tanh(qd1 / 0.05)`."""
        return self._function("tanh")

    def exp(self) -> WrittenNumber:
        """`exp(-abs(qd1) / 0.05)`."""
        return self._function("exp")

    def sqrt(self) -> WrittenNumber:
        """`sqrt(...)`."""
        return self._function("sqrt")


def written_factor(value: Any) -> str:
    """A number as a factor of a product, empty where it is plain."""
    return value._within(ATOM) if isinstance(value, WrittenNumber) else ""


def generators(notation: Notation, n: int, digits: int | None) -> tuple[AnyArray, AnyArray, AnyArray]:
    """(n, 1) arrays q, qd and temperatures."""
    q, s, c, qd, _ = notation.generators
    plain = WrittenNumber("", notation, digits)
    rows = [
        (
            replace(plain, text=q.format(i), sine=s.format(i), cosine=c.format(i)),
            replace(plain, text=qd.format(i)),
            replace(plain, text=f"T_{{{i}}}" if notation is LATEX else f"T{i}"),
        )
        for i in range(1, n + 1)
    ]
    arrays = np.array(rows, dtype=object)
    return arrays[:, :1], arrays[:, 1:2], arrays[:, 2:]
