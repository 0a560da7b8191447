"""Entries of sums of products, and the order of their variables that takes few operations.  [Lloyd2021, section 4.1]

An entry is a number times a product of functions, one of each variable; `nesting` takes the common factors out.

How many different sums there are once a set of variables is inside does not depend on the order within the set, so
the best order is found set by set, those first that promise the fewest operations (A*); sums are told apart by their
values at random points.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from heapq import heappop, heappush
from math import inf
from struct import Struct

import numpy as np
from numpy.typing import NDArray

from tauform.arrays import Array
from tauform.portable.sampling import uniform

Integers = NDArray[np.int64]
# Numbers that differ by at most so many units of their last place are one number: equal but for rounding.
EQUAL_UNITS = 1 << 8
_FLOAT, _BITS = Struct("<d"), Struct("<q")
# Sets of variables of one size that the search goes on from; exact up to eight variables.
KEPT_SETS = 70


@dataclass(frozen=True, eq=False)
class _Inside:
    """Sums over some variables.

    Attributes:
        codes: (m,) of output and digits of the other variables, ascending.
        values: at two random points.
        digits: (v, m) of all variables; those of the variables inside are of no account.
        different: one of the sums for each that are equal up to a factor.
    """

    codes: Integers
    values: tuple[Array, Array]
    digits: Integers
    different: Integers


@dataclass(frozen=True, eq=False)
class Sums:
    """Entries of several sums, each entry different from the others in its output or a digit.

    Attributes:
        outputs: (m,) the sum that an entry belongs to.
        digits: (v, m) for each variable, which of its functions; 0 is the function 1.
        values: (m,) numbers.
    """

    outputs: Integers
    digits: Integers
    values: Array

    @cached_property
    def steps(self) -> Integers:
        """(v,) place value of each digit in an entry's code."""
        sizes = self.digits.max(axis=1, initial=0) + 1
        return np.concatenate([[1], np.cumprod(sizes)])[:-1]

    @cached_property
    def codes(self) -> Integers:
        """(m,) output and digits as one number."""
        sizes = self.digits.max(axis=1, initial=0) + 1
        # A mixed-radix number: entries are sorted, grouped and found again as plain integers.
        codes: Integers = self.outputs * np.prod(sizes) + self.steps @ self.digits
        return codes

    def order(self, most: float = inf) -> tuple[list[int], int] | None:
        """Variables from the innermost to the outermost, for few operations, and how many these are, as estimated.

        Args:
            most: operations beyond which no order is wanted; None is returned then.
        """
        # A variable with the function 1 alone costs nothing, wherever it stands.
        idle = [k for k, digit in enumerate(self.digits) if not digit.any()]
        others = [k for k in range(len(self.digits)) if k not in idle]
        # A set of variables has one cost, whatever order led to it: the first, which is the cheapest, is enough.
        waiting: list[tuple[int, int, list[int]]] = [(0, 0, [])]
        seen, n_seen = set[frozenset[int]](), Counter[int]()
        while waiting[0][0] <= most:
            least, _, order = heappop(waiting)
            inside = frozenset(order)
            if inside in seen or n_seen[len(order)] == KEPT_SETS:
                continue
            if len(order) == len(others):
                return idle + order, least
            seen.add(inside)
            n_seen[len(order)] += 1
            cost = least - self._cost_left(inside)
            for variable in (k for k in others if k not in inside and inside | {k} not in seen):
                total = cost + self._cost(inside, variable)
                # Of equal ones the set that is nearest to the end, then the first in the order of variables.
                heappush(waiting, (total + self._cost_left(inside | {variable}), -len(order), [*order, variable]))
        return None

    def _cost_left(self, inside: frozenset[int]) -> int:
        """Operations that are left at least: what takes d sums to one per output adds or multiplies them all."""
        return max(0, len(self._inside[inside].different) - self._n_outputs) if inside else 0

    @cached_property
    def _n_outputs(self) -> int:
        return len(np.unique(self.outputs))

    def _cost(self, inside: frozenset[int], variable: int) -> int:
        """Operations of the different sums that taking in one more variable makes."""
        narrow, wider = self._inside[inside], inside | {variable}
        digit = narrow.digits[variable]
        code = narrow.codes - digit * self.steps[variable]
        if wider not in self._inside:
            self._inside[wider] = self._widened(narrow, variable, code)
        wide = self._inside[wider]
        group = np.searchsorted(wide.codes, code)
        # k sums of one group take k - 1 additions, and each function other than 1 a product.
        n_operations = np.bincount(group) - 1 + np.bincount(group, weights=digit > 0)
        return int(n_operations[wide.different].sum())

    @cached_property
    def _inside(self) -> dict[frozenset[int], _Inside]:
        """Sums over each set of variables that was looked at; over none, the entries themselves."""
        order = np.argsort(self.codes)
        values = self.values[order], self.values[order]
        return {frozenset(): _Inside(self.codes[order], values, self.digits[:, order], order)}

    def _widened(self, narrow: _Inside, variable: int, code: Integers) -> _Inside:
        codes, first, group = np.unique(code, return_index=True, return_inverse=True)
        digit = narrow.digits[variable]
        # Two points: values alone would take sums for different that are equal up to a factor.
        one, other = (
            np.bincount(group, weights=value * table[variable][digit]).astype(np.float64)
            for value, table in zip(narrow.values, self._at_random, strict=True)
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            # Nine digits: rounding of the sums stays well below, and other sums well above.
            ratio = np.round(one / other, 9)  # the same for sums that differ by a factor
        return _Inside(codes, (one, other), narrow.digits[:, first], np.unique(ratio, return_index=True)[1])

    @cached_property
    def _at_random(self) -> tuple[list[Array], list[Array]]:
        # Functions other than 1 get random values: two sums that agree there are the same sum, but for chance.
        rng = np.random.default_rng(0)
        sizes = self.digits.max(axis=1, initial=0) + 1
        tables = [[np.append(1.0, uniform(rng, 0.5, 2.0, (size - 1,))) for size in sizes.tolist()] for _ in range(2)]
        return tables[0], tables[1]


class Numbers:
    """Numbers that are equal but for rounding, each represented by the first one met: none is changed by comparing."""

    def __init__(self) -> None:
        self._cells: dict[int, int] = {}
        self._known: dict[float, float] = {}
        self.same(1.0)

    def same(self, number: float) -> float:
        """The number that stands for this one."""
        size = abs(number)
        # most numbers are met again and again
        met = self._known.get(size)
        if met is None:
            met = self._known[size] = self._first_met(size)
        return met if number > 0 else -met

    def _first_met(self, size: float) -> float:
        # the bits of a positive float, read as an integer, count units in the last place
        place: int = _BITS.unpack(_FLOAT.pack(size))[0]
        cell = place // EQUAL_UNITS
        # Equal numbers may fall to either side of a border between cells.
        for near in (cell, cell - 1, cell + 1):
            met = self._cells.get(near)
            if met is not None and abs(met - place) <= EQUAL_UNITS:
                return float(_FLOAT.unpack(_BITS.pack(met))[0])
        self._cells[cell] = place
        return size
