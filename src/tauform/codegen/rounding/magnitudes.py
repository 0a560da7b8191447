"""What is known of each value of a program from its operations alone: size, forward error, degree in each angle.

Everything here is rounded outwards by a factor that exceeds what the analysis itself loses in double precision.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from tauform.codegen.program.program import Instruction, Op, Program
from tauform.errors import GenerationError
from tauform.portable.elementwise import exp

# Sums and products of the analysis are computed in double precision; each may be too small by less than this.
OUTWARD = 1.0 + 1e-15
# Absolute errors in units of the type's roundoff, derived in docs/mathematics/rounding.md.
SINE_ERROR = 2.5
EXPONENTIAL_ERROR = 4.0
# Operations that sums and products of other values go through; all others are symbols of their own.
POLYNOMIAL = frozenset({Op.ADD, Op.SUBTRACT, Op.MULTIPLY, Op.NEGATE, Op.CONSTANT})


@dataclass(frozen=True)
class Type:
    """A floating-point type: unit roundoff, and the least normal number, which results below may be flushed to."""

    dtype: type[np.floating]

    @property
    def unit(self) -> float:
        return float(np.finfo(self.dtype).eps) / 2

    @property
    def tiny(self) -> float:
        return float(np.finfo(self.dtype).tiny)


@dataclass
class Magnitudes:
    """Bounds of each value of a program over the box.

    Attributes:
        ranges: for each input port, the largest magnitude of its entries.
        size: of the exact value.
        error: of the computed value, by running error analysis.
        degree: of the value as a trigonometric polynomial, by (input, entry).
        symbols: values that the analysis takes for unknowns of their own, with their size.
    """

    program: Program
    ranges: Sequence[np.ndarray]
    real: Type
    size: list[float] = field(default_factory=list)
    error: list[float] = field(default_factory=list)
    degree: list[dict[tuple[int, int], int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        for k, instruction in enumerate(self.program.instructions):
            size, error = self._bounds(instruction)
            # At the first such value: everything behind it would be infinite too, and name the wrong instruction.
            if not np.isfinite(size) or not np.isfinite(error):
                raise GenerationError(
                    f"rounding_bound: {self.program.name} divides by a value that may be zero in the given ranges "
                    f"(instruction {k}); bounds exist for functions without division, such as inverse_dynamics"
                )
            self.size.append(size * OUTWARD)
            self.error.append(error * OUTWARD)
            self.degree.append(self._degree(instruction))

    def _bounds(self, instruction: Instruction) -> tuple[float, float]:
        """Size, and error with the rounding of the operation itself."""
        op, unit = instruction.op, self.real.unit
        if op is Op.INPUT:
            return float(self.ranges[instruction.place[0]][instruction.place[1]]), 0.0
        if op is Op.CONSTANT:
            number = instruction.number
            # A constant is written in the type: its own rounding is the first error.
            return abs(number), abs(float(self.real.dtype(number)) - number)
        a, b = instruction.args[0], instruction.args[-1]
        (va, vb), (ea, eb) = (self.size[a], self.size[b]), (self.error[a], self.error[b])
        if op in (Op.ADD, Op.SUBTRACT):
            return va + vb, ea + eb + unit * (va + vb + ea + eb) + self.real.tiny
        if op is Op.MULTIPLY:
            # |(a + ea)(b + eb) - a b|, with every sign against us.
            carried = va * eb + vb * ea + ea * eb
            return va * vb, carried + unit * (va * vb + carried) + self.real.tiny
        # Both are exact, and | |x| - |y| | <= |x - y|.
        if op is Op.NEGATE or op is Op.ABS:
            return va, ea
        if op in (Op.SIN, Op.COS):
            # |sin x - sin y| <= |x - y|; the same holds for cos.
            return 1.0, ea + SINE_ERROR * unit
        if op is Op.SIGN:
            # where its argument is computed, the sign itself may differ near zero
            return 1.0, 0.0 if ea == 0 else 2.0
        if op is Op.TANH:
            return 1.0, ea + EXPONENTIAL_ERROR * unit
        if op is Op.EXP:
            top = float(exp(np.array(va))) * OUTWARD if va <= 700.0 else np.inf
            # e^x - 1 <= x (1 + x) below 1
            return top, top * (1 + ea) * (ea + EXPONENTIAL_ERROR * unit * (1 + ea)) if ea < 1 else np.inf
        return np.inf, np.inf

    def _degree(self, instruction: Instruction) -> dict[tuple[int, int], int]:
        op, args = instruction.op, instruction.args
        if op in (Op.SIN, Op.COS):
            # sin(2 q1 - q2) has degree 2 in q1 and 1 in q2.
            return {place: abs(turns) for place, turns in angle_of(self.program, args[0]).turns.items()}
        if op is Op.MULTIPLY:
            both = [self.degree[k] for k in args]
            return {place: sum(d.get(place, 0) for d in both) for place in {*both[0], *both[1]}}
        if op in POLYNOMIAL and args:
            both = [self.degree[k] for k in args]
            return {place: max(d.get(place, 0) for d in both) for d_ in both for place in d_}
        return {}


@dataclass(frozen=True)
class Angle:
    """An angle as whole multiples of inputs, by (input, entry), and a constant."""

    turns: dict[tuple[int, int], int]
    offset: float


def angle_of(program: Program, value: int) -> Angle:
    """The angle that a value is.

    Raises:
        GenerationError: it is no sum of inputs and constants.
    """
    instruction = program.instructions[value]
    if instruction.op is Op.INPUT:
        return Angle({instruction.place: 1}, 0.0)
    if instruction.op is Op.CONSTANT:
        return Angle({}, instruction.number)
    if instruction.op is Op.NEGATE:
        return _sum(Angle({}, 0.0), angle_of(program, instruction.args[0]), -1)
    if instruction.op in (Op.ADD, Op.SUBTRACT):
        left, right = (angle_of(program, k) for k in instruction.args)
        return _sum(left, right, 1 if instruction.op is Op.ADD else -1)
    raise GenerationError(
        f"rounding_bound: {program.name} takes the sine of a product, for which there is no bound; a mechanism with "
        "whole ratios between its joints has one"
    )


def _sum(left: Angle, right: Angle, sign: int) -> Angle:
    places = {*left.turns, *right.turns}
    turns = {place: left.turns.get(place, 0) + sign * right.turns.get(place, 0) for place in places}
    return Angle({place: n for place, n in turns.items() if n}, left.offset + sign * right.offset)
