"""Analysis: the sum of all errors that enter a program, each with the largest weight that it can have."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product as product_of
from typing import Any

import numpy as np

from tauform.codegen.program.program import Op, Program
from tauform.codegen.rounding.magnitudes import POLYNOMIAL, SINE_ERROR, Magnitudes
from tauform.codegen.rounding.polynomials import Values, adjoints, bound, forward, product
from tauform.portable.elementwise import cos

# Points of the grid of angles in all, and how many are worked on at once.
GRID_POINTS = 1_000_000
POINTS_AT_ONCE = 12_000
# What the analysis may lose to its own rounding, relative to sizes without cancellation: above operations times 2^-53.
OWN_ROUNDING = 1e-9

PortEntry = tuple[int, int]
Degree = frozenset[tuple[PortEntry, int]]


# Ways to part the terms of a sum into groups: all in one, or by degree.
PARTITIONS: tuple[Callable[[Degree], Any], ...] = (lambda degree: None, lambda degree: degree)


@dataclass
class Tops:
    """Largest sums of the groups of a partition over the grid, and the degree of each group in each angle."""

    partition: Callable[[Degree], Any]
    largest: dict[Any, float] = field(default_factory=dict)
    degree: dict[Any, dict[PortEntry, int]] = field(default_factory=dict)

    def see(self, groups: Mapping[Degree, Any]) -> None:
        """Take up the sums at further points, by degree."""
        sums: dict[Any, Any] = {}
        for degree, total in groups.items():
            name = self.partition(degree)
            sums[name] = sums[name] + total if name in sums else total
            self.degree[name] = _larger(self.degree.get(name, {}), dict(degree))
        for name, total in sums.items():
            self.largest[name] = max(self.largest.get(name, 0.0), float(np.max(total)))


@dataclass
class Analysis:
    """Errors of a program's results, from what is known of its values."""

    program: Program
    known: Magnitudes

    @cached_property
    def results(self) -> list[int]:
        """Values that are results."""
        return sorted({k for result in self.program.results for k in result})

    @cached_property
    def sources(self) -> list[tuple[float, float]]:
        """What enters the recursion of errors at each value: a part that is relative to it, and an absolute one."""
        return [self._source(k) for k in range(len(self.program.instructions))]

    def totals(self) -> dict[int, float]:
        """The bound of each result."""
        tops = {result: [Tops(partition) for partition in PARTITIONS] for result in self.results}
        # A grid of all angles at once would not fit into memory; only the largest sums are kept.
        for angles in self._chunks():
            values = forward(self.program, self.known.size, angles)
            for result in self.results:
                groups = self._weighted(result, values)
                for top in tops[result]:
                    top.see(groups)
        return {result: self._total(result, tops[result]) for result in self.results}

    def _weighted(self, result: int, values: Values) -> dict[Degree, Any]:
        """Sums of |A_k s_k| over the grid, of the k whose polynomials have one degree."""
        groups: dict[Degree, Any] = {}
        for k, weight in adjoints(self.program, values, result).items():
            relative, absolute = self.sources[k]
            degree = self.degrees[result][k]
            if absolute:
                groups[_key(degree)] = groups.get(_key(degree), 0.0) + absolute * bound(weight)
            if relative:
                key = _key(_added(degree, self.known.degree[k]))
                groups[key] = groups.get(key, 0.0) + relative * bound(product(weight, values.of[k]))
        return groups

    def _total(self, result: int, tops: Sequence[Tops]) -> float:
        """E_y = sum_k A_k s_k, from its largest values on the grid.

        With any signs of its terms the sum is a trigonometric polynomial; so is the sum of any group of its terms.
        """
        # Both partitions bound the same sum; which is tighter depends on how degrees mix.
        least = min(
            sum(self._between(top.degree[name]) * largest for name, largest in top.largest.items()) for top in tops
        )
        # what the weights and values themselves lost to rounding in double precision
        crude = self._crude(result)
        own = sum(crude[k] * (r * self.known.size[k] + a) for k, (r, a) in enumerate(self.sources) if k in crude)
        whole = next(iter(tops[0].degree.values()), {})
        return float((least + self._between(whole) * OWN_ROUNDING * own) * (1 + 1e-12))

    def _source(self, k: int) -> tuple[float, float]:
        known, instruction = self.known, self.program.instructions[k]
        op, unit = instruction.op, known.real.unit
        # Inputs count as exact, and a sign costs no rounding.
        if op in (Op.INPUT, Op.NEGATE):
            return 0.0, 0.0
        if op in (Op.SIN, Op.COS):
            # The first-order part of the angle's error is carried by the adjoint; a second-order part remains.
            return 0.0, SINE_ERROR * unit + known.error[instruction.args[0]] ** 2 / 2
        if op not in POLYNOMIAL or op is Op.CONSTANT:
            return 0.0, known.error[k]
        a, b = instruction.args
        ea, eb = known.error[a], known.error[b]
        if op is Op.MULTIPLY:
            # Rounding acts on the computed product, (a + ea)(b + eb), not on a b.
            carried = unit * (known.size[a] * eb + known.size[b] * ea)
            return unit, ea * eb * (1 + unit) + carried + known.real.tiny
        return unit, unit * (ea + eb) + known.real.tiny

    @cached_property
    def degrees(self) -> dict[int, dict[int, dict[PortEntry, int]]]:
        """Degrees of dy/dv_k in each angle, by result y and value k."""
        return {result: self._degrees(result) for result in self.results}

    def _degrees(self, result: int) -> dict[int, dict[PortEntry, int]]:
        found: dict[int, dict[PortEntry, int]] = {result: {}}
        for k in range(result, -1, -1):
            if k not in found:
                continue
            instruction = self.program.instructions[k]
            for position, arg in enumerate(instruction.args):
                factor: dict[PortEntry, int] = {}
                if instruction.op is Op.MULTIPLY:
                    factor = self.known.degree[instruction.args[1 - position]]
                elif instruction.op in (Op.SIN, Op.COS):
                    factor = self.known.degree[k]
                # Their errors are taken as absolute at the value itself, so nothing passes through them.
                elif instruction.op not in POLYNOMIAL:
                    continue
                found[arg] = _larger(found.get(arg, {}), _added(found[k], factor))
        return found

    def _crude(self, result: int) -> dict[int, float]:
        """Sizes of dy/dv_k without any cancellation, which bound what their computation rounds."""
        found = {result: 1.0}
        for k in range(result, -1, -1):
            if k not in found:
                continue
            instruction = self.program.instructions[k]
            for position, arg in enumerate(instruction.args):
                if instruction.op not in POLYNOMIAL and instruction.op not in (Op.SIN, Op.COS):
                    continue
                factor = self.known.size[instruction.args[1 - position]] if instruction.op is Op.MULTIPLY else 1.0
                found[arg] = found.get(arg, 0.0) + found[k] * factor
        return found

    @cached_property
    def counts(self) -> dict[PortEntry, int]:
        """Points of the grid along each angle: more where they make the bound smaller, within the budget."""
        top: dict[PortEntry, int] = {}
        for result in self.results:
            for k, degree in self.degrees[result].items():
                top = _larger(top, _added(degree, self.known.degree[k]))
        # Fewer points than 2 d + 1 would not bound a trigonometric polynomial of degree d at all.
        counts = {place: 2 * n + 1 for place, n in sorted(top.items()) if n}
        while counts:
            gain, place = max((_between(top[p], n) / _between(top[p], n + 1), p) for p, n in counts.items())
            more = {**counts, place: counts[place] + 1}
            # Below this gain a finer grid costs more time than it improves the bound.
            if gain < 1.002 or np.prod(list(more.values()), dtype=float) > GRID_POINTS:
                break
            counts = more
        return counts

    def _between(self, degree: dict[PortEntry, int]) -> float:
        """How much larger than at the grid's points a trigonometric polynomial of that degree can be between them."""
        factors = (_between(degree.get(place, 0), n) for place, n in self.counts.items())
        return float(np.prod(list(factors)))

    def _chunks(self) -> Iterator[dict[PortEntry, Any]]:
        """Angles at the points of the grid: the last ones along an axis each, the first ones a point at a time.

        Values of links near the base depend on the first angles alone: arrays of one number.
        """
        places, shape = list(self.counts), tuple(self.counts.values())
        inner = len(shape)
        # As many angles along axes as fit: NumPy then works on large arrays.
        while inner and np.prod(shape[inner - 1 :], dtype=float) <= POINTS_AT_ONCE:
            inner -= 1
        axes = [2 * np.pi * np.arange(n) / n for n in shape]
        tail = np.meshgrid(*axes[inner:], indexing="ij", sparse=True)
        for head in product_of(*axes[:inner]):
            yield dict(zip(places, (*head, *tail), strict=True))


def _between(degree: int, n: int) -> float:
    """1 / cos(pi d / n): what a polynomial of one angle may gain between n points of the circle."""
    return 1 / float(cos(np.array(np.pi * degree / n)))


def _key(degree: dict[PortEntry, int]) -> Degree:
    return frozenset((place, n) for place, n in degree.items() if n)


def _added(a: dict[PortEntry, int], b: dict[PortEntry, int]) -> dict[PortEntry, int]:
    return {place: a.get(place, 0) + b.get(place, 0) for place in {*a, *b}}


def _larger(a: dict[PortEntry, int], b: dict[PortEntry, int]) -> dict[PortEntry, int]:
    return {place: max(a.get(place, 0), b.get(place, 0)) for place in {*a, *b}}
