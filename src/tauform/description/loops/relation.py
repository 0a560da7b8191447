"""Relations: how passive joints follow others. Each takes coordinates of any scalar, also jets that carry slopes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tauform.description.drives.dual import Dual
from tauform.description.loops.expression import Expression
from tauform.description.values import Value
from tauform.errors import LoopError


@dataclass(frozen=True, eq=False)
class Linear(Value):
    """joint = constant + sum of factors times other joints."""

    joint: str
    terms: tuple[tuple[str, float], ...]
    constant: float = 0.0

    @property
    def joints(self) -> tuple[str, ...]:
        """Joints that it determines."""
        return (self.joint,)

    @property
    def reads(self) -> tuple[str, ...]:
        """Joints that it depends on."""
        return tuple(name for name, _ in self.terms)

    def solve(self, values: Mapping[str, Any], order: int, plan: Any = None) -> dict[str, Any]:
        """Coordinates of `joints`."""
        total: Any = self.constant
        for name, factor in self.terms:
            # The coordinate leads the product, so that jets carry their slopes into the sum.
            total = values[name] * factor + total
        return {self.joint: total}

    def text(self) -> str:
        """The relation, to read."""
        parts = [f"{factor:+.4g} {name}" for name, factor in self.terms if factor]
        return " ".join([*parts, *([f"{self.constant:+.4g}"] if self.constant or not parts else [])])


@dataclass(frozen=True, eq=False)
class Expressed(Value):
    """joint = a function given as text."""

    joint: str
    expression: Expression

    @property
    def joints(self) -> tuple[str, ...]:
        """Joints that it determines."""
        return (self.joint,)

    @property
    def reads(self) -> tuple[str, ...]:
        """Joints that it depends on."""
        return self.expression.reads

    def solve(self, values: Mapping[str, Any], order: int, plan: Any = None) -> dict[str, Any]:
        """Coordinates of `joints`."""
        # Roots and quotients outside of the loop's reach are reported below, with the posture.
        with np.errstate(invalid="ignore", divide="ignore"):
            found = self.expression(values)
        number = base_value(found)
        # Symbols are not asked: their values are known later.
        if isinstance(number, np.ndarray | float) and not np.isfinite(number).all():
            bad = int(np.argmin(np.isfinite(np.atleast_1d(number))))
            raise LoopError(
                f"relation of joint {self.joint!r}: {self.expression.text[:60]!r} is no real number at "
                f"{posture(values, self.reads, bad)}; stay where the loop closes, or limit these joints"
            )
        return {self.joint: found}

    def text(self) -> str:
        """The relation, to read."""
        return self.expression.text


def single_leader(relation: Any) -> tuple[str, float, float] | None:
    """Leader, factor and constant of a joint that follows one other linearly; None of others."""
    if not isinstance(relation, Linear) or len(relation.terms) != 1:
        return None
    ((leader, factor),) = relation.terms
    return leader, factor, relation.constant


def base_value(jet: Any) -> Any:
    """The number under all slopes."""
    while isinstance(jet, Dual):
        jet = jet.value
    return jet


def posture(values: Mapping[str, Any], names: tuple[str, ...], state: int) -> str:
    """Coordinates of one state of a batch, to read."""
    shown = []
    for name in names:
        numbers = np.atleast_1d(np.real(np.asarray(base_value(values[name]))))
        # A joint that is the same for all states has one number.
        shown.append(f"{name} = {numbers[min(state, len(numbers) - 1)]:.4g}")
    return ", ".join(shown)
