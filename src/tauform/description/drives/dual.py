"""Dual: arrays that carry their slopes along, so that a torque's derivative comes from the line that defines it.

The sign of a number has no slope, also where it jumps.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tauform.description.drives import scalars


class Dual:
    """A value, and its slope in each direction in which it has one; arrays of any scalar."""

    __array_ufunc__ = None  # arrays leave the arithmetic to this class

    def __init__(self, value: Any, slopes: Mapping[Any, Any]) -> None:
        self.value, self.slopes = value, dict(slopes)

    def _scaled(self, factor: Any, value: Any) -> Dual:
        return Dual(value, {key: factor * slope for key, slope in self.slopes.items()})

    def __add__(self, other: Any) -> Dual:
        if not isinstance(other, Dual):
            return Dual(self.value + other, self.slopes)
        # By direction: what has no slope in a direction costs nothing there.
        slopes = dict(self.slopes)
        for key, slope in other.slopes.items():
            slopes[key] = slopes[key] + slope if key in slopes else slope
        return Dual(self.value + other.value, slopes)

    def __mul__(self, other: Any) -> Dual:
        if not isinstance(other, Dual):
            return self._scaled(other, self.value * other)
        # (f g)' = f' g + f g'; the value stands in the first summand alone.
        # Zero as the second value: sums of duals add values too.
        return self._scaled(other.value, self.value * other.value) + other._scaled(self.value, 0)

    def __neg__(self) -> Dual:
        return self._scaled(-1, -self.value)

    def __sub__(self, other: Any) -> Dual:
        return self + -other

    def __rsub__(self, other: Any) -> Dual:
        return -self + other

    def __truediv__(self, other: Any) -> Dual:
        return self * (other.reciprocal() if isinstance(other, Dual) else 1 / other)

    def __rtruediv__(self, other: Any) -> Dual:
        return self.reciprocal() * other

    __radd__, __rmul__ = __add__, __mul__

    def reciprocal(self) -> Dual:
        """1 / x."""
        value = 1 / self.value
        return self._scaled(-value * value, value)

    def sign(self) -> Any:
        """Sign, which has no slope: a plain array."""
        return scalars.sign(self.value)

    def abs(self) -> Dual:
        """|x|."""
        # sign(0) = 0: the slope at the corner is zero, the mean of both sides.
        return self._scaled(scalars.sign(self.value), scalars.absolute(self.value))

    def sin(self) -> Dual:
        """Sine."""
        return self._scaled(scalars.cos(self.value), scalars.sin(self.value))

    def cos(self) -> Dual:
        """Cosine."""
        return self._scaled(-scalars.sin(self.value), scalars.cos(self.value))

    def tanh(self) -> Dual:
        """tanh' = 1 - tanh^2."""
        value = scalars.tanh(self.value)
        return self._scaled(1 - value * value, value)

    def exp(self) -> Dual:
        """exp' = exp."""
        value = scalars.exp(self.value)
        return self._scaled(value, value)

    def sqrt(self) -> Dual:
        """sqrt' = 1 / (2 sqrt)."""
        value = scalars.sqrt(self.value)
        return self._scaled(0.5 / value, value)

    def arctan2(self, x: Any) -> Dual:
        """d atan2(y, x) = (x dy - y dx) / (x^2 + y^2)."""
        # A plain x has no slopes of its own.
        beside = x if isinstance(x, Dual) else Dual(x, {})
        square = beside.value * beside.value + self.value * self.value
        # Only slopes are taken from the sum; its value means nothing.
        turning = self._scaled(beside.value / square, 0) + beside._scaled(-self.value / square, 0)
        return Dual(scalars.arctan2(self.value, beside.value), turning.slopes)
