"""Values of a program as polynomials in their symbols, with coefficients at a grid of angles.

A polynomial maps monomials, sorted tuples of symbols, to coefficients: numbers, or arrays over the grid. Symbols are
scaled to [-1, 1], so that the sum of the coefficients' magnitudes bounds the value.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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


def adjoints(program: Program, values: Values, result: int) -> Iterator[tuple[int, Polynomial]]:
    """Derivatives of a result with respect to each value that it depends on, by reverse accumulation, last first."""
    waiting: dict[int, Polynomial] = {result: {(): 1.0}}
    for k in range(result, -1, -1):
        if k not in waiting:
            continue
        # Complete, for only later values depend on it; none is kept, they would fill the memory.
        own = waiting.pop(k)
        for arg, slope in _slopes(program, values, k):
            # Most slopes are one; a product with it would copy large arrays.
            more = own if slope is ONE else product(own, slope)
            waiting[arg] = total_of(waiting[arg], more, 1.0) if arg in waiting else more
        yield k, own


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
            found[key] = _sum(found.get(key), c * d)
    return found


def total_of(a: Polynomial, b: Polynomial, sign: float) -> Polynomial:
    """a + sign b."""
    found = dict(a)
    for n, d in b.items():
        found[n] = found[n] + sign * d if n in found else sign * d
    return found


def bounds(a: Polynomial, n_split: int) -> dict[int, Any]:
    """Largest magnitudes at each point of the grid, of parts that add up to the polynomial.

    Args:
        n_split: axes of the grid, the first ones, whose means are parts of their own.

    Returns:
        By depth: that of 0 is the mean over all split axes, that of `n_split` what is left of the mean over the first.
    """
    found: dict[int, Any] = {}
    # Small arrays first, so that few sums are of large ones.
    for coefficient in sorted(a.values(), key=np.size):
        left = np.asarray(coefficient)
        for axis in range(min(n_split, left.ndim)):
            # What does not depend on an angle is its own mean.
            if left.shape[axis] > 1:
                mean = np.add.reduce(left, axis=axis, keepdims=True) / left.shape[axis]
                rest = left - mean
                found[n_split - axis] = _sum(found.get(n_split - axis), np.abs(rest, out=rest))
                left = mean
        found[0] = _sum(found.get(0), np.abs(left))
    return found


def _sum(total: Any, more: Any) -> Any:
    """Their sum, in the memory of the first where it fits: fresh memory costs more than the addition."""
    if total is None:
        return more
    fits = np.ndim(total) == np.ndim(more) > 0 and all(map(int.__ge__, np.shape(total), np.shape(more)))
    return np.add(total, more, out=total) if fits else total + more
