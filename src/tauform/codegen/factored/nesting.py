"""Nested sums: common factors taken out of sums of products.  [Lloyd2021, section 4.1]

Entries that agree in all but the innermost variable are summed first; those sums then play the part of numbers for the
next variable, and so on. Sums that are equal, or equal up to a factor, are made once, for all outputs together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np

from tauform.arrays import Mask
from tauform.codegen.factored.factoring import Integers, Numbers, Sums

# A child of a sum: digit of the variable, sum that it multiplies, number.
Child = tuple[int, int, float]
# The children of a sum in units of the first one's number.
SumShape = tuple[Child, ...]
CONSTANT = 0


@dataclass(frozen=True, eq=False)
class NestedSums:
    """The different sums over one variable.

    Attributes:
        variable: which.
        shapes: (s,) the sums; shares: the numbers that their children are multiplied with.
        place: (s,) where the value of each is found among all that is made.
        parent: (m,) group of the items that it was made of, entries or groups of the level before.
        edge: (m,) which child of which sum each item is.
    """

    variable: int
    shapes: list[SumShape]
    shares: list[list[float]]
    place: list[int]
    parent: Integers
    edge: Integers

    def is_made(self, k: int) -> bool:
        """Whether a sum adds or multiplies anything."""
        return len(self.shapes[k]) > 1 or self.shapes[k][0][0] != 0


@dataclass(frozen=True, eq=False)
class Nesting:
    """Sums within sums, innermost first.

    Attributes:
        outputs: (g,) output of each group that is left at the end, numbers and which: what it is, number times sum.
        cost: operations, as estimated; products that sums share make them fewer, functions and drives more.
    """

    levels: tuple[NestedSums, ...]
    outputs: Integers
    numbers: list[float]
    which: list[int]
    cost: int

    @classmethod
    def of(cls, sums: Sums) -> Nesting:
        """The entries, nested in the order of few operations."""
        nesting = cls.within(sums, inf)
        assert nesting is not None
        return nesting

    @classmethod
    def within(cls, sums: Sums, most: float) -> Nesting | None:
        """The entries, nested in the order of few operations; None where these are more than asked for."""
        if (found := sums.order(most)) is None:
            return None
        variables, cost = found
        code, digits, outputs = sums.codes, sums.digits, sums.outputs
        numbers, which, n_made = sums.values.tolist(), [CONSTANT] * len(code), 1
        known, levels = Numbers(), list[NestedSums]()
        for variable in variables:
            digit = digits[variable]
            # The digit of this variable leaves the code: entries that differ in it alone fall together.
            code = code - digit * sums.steps[variable]
            # Entries of one code are summed: they differ in this variable's function and number alone.
            code, first, parent = np.unique(code, return_index=True, return_inverse=True)
            if not levels and not digit.any():
                level, numbers = _as_they_are(variable, parent, sums.values[first].tolist(), known)
            else:
                children = list(zip(digit.tolist(), which, numbers, strict=True))
                level, numbers, which = _level(variable, children, parent, len(code), n_made, known)
            n_made += sum(map(level.is_made, range(len(level.shapes))))
            levels.append(level)
            digits, outputs = digits[:, first], outputs[first]
        return cls(tuple(levels), outputs, numbers, which, cost)

    def scalars(self, functions: Sequence[Sequence[Any]], n_outputs: int) -> list[Any]:
        """The outputs.

        Args:
            functions: for each variable its functions as scalars, the first is 1.
        """
        # Sum 0 is the empty product, CONSTANT.
        made: list[Any] = [1.0]
        for level in self.levels:
            product = _products(level, functions[level.variable], made)
            for k, (shape, numbers) in enumerate(zip(level.shapes, level.shares, strict=True)):
                if level.is_made(k):
                    total: Any = 0.0
                    for (digit, child, _), number in zip(shape, numbers, strict=True):
                        total = total + product(digit, child, number)
                    made.append(total)
        result: list[Any] = [0.0] * n_outputs
        for output, number, k in zip(self.outputs.tolist(), self.numbers, self.which, strict=True):
            # One code per output is left after the last variable.
            result[output] = number * made[k]
        return result

    def completed(self, kept: Mask) -> Mask:
        """(m,) the entries that are kept, and those that cost nothing beside them.

        A sum that is shared has its children for all who use it: where one of them needs a child, the others have the
        entries behind it for nothing, and would need a sum of their own to be without.
        """
        # Inward: which products, of a sum with a function, the kept entries pay for.
        used, item = [], kept
        for level in self.levels:
            of_level = np.zeros(int(level.edge.max(initial=-1)) + 1, dtype=bool)
            of_level[level.edge[item]] = True
            used.append(of_level)
            group = np.zeros(int(level.parent.max(initial=-1)) + 1, dtype=bool)
            group[level.parent[item]] = True
            item = group
        # Outward: an entry is free where every product on its way is paid for.
        for level, of_level in zip(reversed(self.levels), reversed(used), strict=True):
            item = item[level.parent] & of_level[level.edge]
        return item


def _as_they_are(
    variable: int, parent: Integers, values: list[float], known: Numbers
) -> tuple[NestedSums, list[float]]:
    """The level of a variable with the function 1 alone: nothing is summed, as `_level` would find entry by entry."""
    level = NestedSums(variable, [((0, CONSTANT, 1.0),)], [[1.0]], [CONSTANT], parent, np.zeros_like(parent))
    return level, [known.same(value) for value in values]


def _level(
    variable: int, children: list[Child], parent: Integers, n_groups: int, n_made: int, known: Numbers
) -> tuple[NestedSums, list[float], list[int]]:
    """The different sums of one variable, and for each group its number and its sum."""
    groups: list[list[Child]] = [[] for _ in range(n_groups)]
    for at, child in zip(parent.tolist(), children, strict=True):
        groups[at].append(child)
    same, places = known.same, dict[SumShape, int]()
    uses: list[Counter[float]] = []
    shape_of: list[int] = []
    scales: list[float] = []
    for group in groups:
        # One order of children: equal sums have equal shapes, whatever order their terms came in.
        group.sort()
        # In units of the first child, so that sums which are multiples of each other have one shape.
        scale = group[0][2]
        shape = tuple([(digit, k, same(number / scale)) for digit, k, number in group])
        at = places.setdefault(shape, len(places))
        if at == len(uses):
            uses.append(Counter())
        uses[at][same(abs(scale))] += 1
        shape_of.append(at)
        scales.append(scale)
    shapes = list(places)
    own = [_own_scale(shape, used, known) for shape, used in zip(shapes, uses, strict=True)]
    shares = [[known.same(scale * ratio) for _, _, ratio in shape] for shape, scale in zip(shapes, own, strict=True)]
    edges: dict[tuple[int, int, int], int] = {}
    edge = [
        edges.setdefault((shape_of[at], digit, k), len(edges))
        for at, (digit, k, _) in zip(parent.tolist(), children, strict=True)
    ]
    level = NestedSums(variable, shapes, shares, [], parent, np.array(edge, dtype=np.int64))
    for k, shape in enumerate(shapes):
        level.place.append(n_made if level.is_made(k) else shape[0][1])
        n_made += level.is_made(k)
    left = [known.same(scale / own[k]) for k, scale in zip(shape_of, scales, strict=True)]
    return level, left, [level.place[k] for k in shape_of]


def _own_scale(shape: SumShape, used: Counter[float], known: Numbers) -> float:
    """The factor that a sum is made with: where it leaves the fewest products with numbers."""
    if len(shape) == 1:
        return 1.0
    # A scale that turns one ratio into 1 saves its product; so does the one that most users want.
    options = [1.0 / abs(ratio) for _, _, ratio in shape] + [used.most_common(1)[0][0]]

    def price(scale: float) -> int:
        inside = sum(known.same(abs(scale * ratio)) != 1 for digit, k, ratio in shape if digit or k != CONSTANT)
        return inside + sum(scale != other for other in used)

    return min(options, key=price)


def _products(level: NestedSums, functions: Sequence[Any], made: list[Any]) -> Callable[[int, int, float], Any]:
    """The product function times sum times number, multiplied in the order that more products share."""
    with_function: Counter[tuple[int, int]] = Counter()
    with_number: Counter[tuple[int, float]] = Counter()
    for shape, numbers in zip(level.shapes, level.shares, strict=True):
        for (digit, k, _), number in zip(shape, numbers, strict=True):
            with_function[digit, k] += 1
            with_number[k, abs(number)] += 1

    def product(digit: int, k: int, number: float) -> Any:
        # The graph makes each product once, so the more common pair is multiplied first.
        if with_function[digit, k] >= with_number[k, abs(number)]:
            return functions[digit] * made[k] * number
        return made[k] * number * functions[digit]

    return product
