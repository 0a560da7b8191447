"""Values of a program as polynomials in their symbols, with coefficients at a grid of angles.

A polynomial maps monomials, sorted tuples of symbols, to coefficients: numbers, or arrays over the grid. Symbols are
scaled to [-1, 1], so that the sum of the coefficients' magnitudes bounds the value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tauform.arrays import Array
from tauform.codegen.program.program import Op, Program
from tauform.codegen.rounding.magnitudes import POLYNOMIAL, angle_of
from tauform.portable.elementwise import sin_cos

Polynomial = dict[tuple[int, ...], Any]
ONE: Polynomial = {(): 1.0}
MINUS_ONE: Polynomial = {(): -1.0}


@dataclass(frozen=True)
class Values:
    """Each value of a program over the grid, and the derivatives of its sines and cosines by their angles."""

    of: list[Polynomial]
    slope: dict[int, Polynomial]


def forward(program: Program, sizes: Sequence[float], angles: Mapping[tuple[int, int], Array]) -> Values:
    """Each value of the program at each point of the grid.

    Args:
        sizes: bounds of the values that are symbols.
        angles: inputs that sines and cosines are taken of, over the grid.
    """
    values: list[Polynomial] = []
    slope: dict[int, Polynomial] = {}
    for k, instruction in enumerate(program.instructions):
        op, args = instruction.op, instruction.args
        if op is Op.CONSTANT:
            # Zero is the empty sum: products with it vanish by themselves.
            values.append({(): instruction.number} if instruction.number else {})
        elif op in (Op.SIN, Op.COS):
            angle = angle_of(program, args[0])
            total: Any = angle.offset + sum(n * angles[place] for place, n in angle.turns.items())
            sine, cosine = sin_cos(np.asarray(total))
            values.append({(): sine if op is Op.SIN else cosine})
            slope[k] = {(): cosine if op is Op.SIN else -sine}
        elif op not in POLYNOMIAL:
            # A symbol of its own in units of its largest size, so that coefficients bound what it contributes.
            values.append({(k,): sizes[k]} if sizes[k] else {})
        elif op is Op.MULTIPLY:
            values.append(product(values[args[0]], values[args[1]]))
        elif op is Op.NEGATE:
            values.append({m: -c for m, c in values[args[0]].items()})
        else:
            values.append(total_of(values[args[0]], values[args[1]], 1.0 if op is Op.ADD else -1.0))
    return Values(values, slope)


def adjoints(program: Program, values: Values, result: int) -> dict[int, Polynomial]:
    """Derivatives of a result with respect to each value that it depends on, by reverse accumulation."""
    found: dict[int, Polynomial] = {result: {(): 1.0}}
    for k in range(result, -1, -1):
        if k not in found:
            continue
        for arg, slope in _slopes(program, values, k):
            # Most slopes are one; a product with it would copy large arrays.
            more = found[k] if slope is ONE else product(found[k], slope)
            found[arg] = total_of(found[arg], more, 1.0) if arg in found else more
    return found


def _slopes(program: Program, values: Values, k: int) -> list[tuple[int, Polynomial]]:
    """Derivatives of a value with respect to its operands."""
    instruction = program.instructions[k]
    op, args = instruction.op, instruction.args
    if op is Op.ADD:
        return [(args[0], ONE), (args[1], ONE)]
    if op is Op.SUBTRACT:
        return [(args[0], ONE), (args[1], MINUS_ONE)]
    if op is Op.MULTIPLY:
        return [(args[0], values.of[args[1]]), (args[1], values.of[args[0]])]
    if op is Op.NEGATE:
        return [(args[0], MINUS_ONE)]
    # other values are symbols, which carry their whole error themselves
    return [(args[0], values.slope[k])] if k in values.slope else []


def product(a: Polynomial, b: Polynomial) -> Polynomial:
    """a b."""
    found: Polynomial = {}
    for m, c in a.items():
        for n, d in b.items():
            # Sorted, so that a b and b a meet and may cancel.
            key = tuple(sorted((*m, *n))) if m and n else m or n
            found[key] = found[key] + c * d if key in found else c * d
    return found


def total_of(a: Polynomial, b: Polynomial, sign: float) -> Polynomial:
    """a + sign b."""
    found = dict(a)
    for n, d in b.items():
        found[n] = found[n] + sign * d if n in found else sign * d
    return found


def bound(a: Polynomial) -> Any:
    """Largest magnitude at each point of the grid."""
    # small arrays first, so that few sums are of large ones
    return sum(sorted((np.abs(c) for c in a.values()), key=np.size), start=0.0)
