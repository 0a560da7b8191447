"""Analysis: the sum of all errors that enter a program, each with the largest weight that it can have."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product as product_of
from typing import Any

import numpy as np

from tauform.codegen.program.program import Op, Program
from tauform.codegen.rounding.magnitudes import POLYNOMIAL, SINE_ERROR, Magnitudes
from tauform.codegen.rounding.polynomials import Polynomial, Values, adjoints, bounds, forward, product
from tauform.portable.elementwise import cos

# Points of the grid of angles in all, and how many are worked on at once.
GRID_POINTS = 700_000
POINTS_AT_ONCE = 28_000
# From so many angles on, the last ones are split off: what hardly depends on them needs no fine grid of them.
ANGLES_TO_SPLIT, N_SPLIT = 6, 2
# What the parts that depend on none, one and two split angles are expected to weigh; only the grid is chosen by it.
LIKELY_SHARES = (0.8, 0.2, 0.04)
# What the analysis may lose to its own rounding, relative to sizes without cancellation: above operations times 2^-53.
OWN_ROUNDING = 1e-9

PortEntry = tuple[int, int]
Degree = frozenset[tuple[PortEntry, int]]


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
        # Ways to part the terms into groups: by the split angles that they depend on, or by degree.
        split = frozenset(self.split)
        partitions: list[Callable[[Degree], Any]] = [
            lambda degree: split.intersection(dict(degree)),
            lambda degree: degree,
        ]
        tops = {result: [Tops(partition) for partition in partitions] for result in self.results}
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

        def add(factor: float, values: Polynomial, degree: dict[PortEntry, int]) -> None:
            for depth, size in bounds(values, len(self.split)).items():
                # A part depends on the first `depth` of the split angles.
                left = {place: n for place, n in degree.items() if place not in self.split[depth:]}
                groups[_key(left)] = groups.get(_key(left), 0.0) + factor * size

        for k, weight in adjoints(self.program, values, result):
            relative, absolute = self.sources[k]
            degree = self.degrees[result][k]
            if absolute:
                add(absolute, weight, degree)
            if relative:
                add(relative, product(weight, values.of[k]), _added(degree, self.known.degree[k]))
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
    def _top(self) -> dict[PortEntry, int]:
        """The largest degree in each angle."""
        top: dict[PortEntry, int] = {}
        for result in self.results:
            for k, degree in self.degrees[result].items():
                top = _larger(top, _added(degree, self.known.degree[k]))
        return {place: n for place, n in sorted(top.items()) if n}

    @cached_property
    def split(self) -> tuple[PortEntry, ...]:
        """Angles that sums are parted by: with T = m + (T - m), m the mean over one, only the rest depends on it.

        The last ones: the base hardly feels how a hand is turned.
        """
        return tuple(self._top)[-N_SPLIT:] if len(self._top) >= ANGLES_TO_SPLIT else ()

    @cached_property
    def counts(self) -> dict[PortEntry, int]:
        """Points of the grid along each angle: more where they make the bound smaller, within the budget."""
        # Fewer points than 2 d + 1 would not bound a trigonometric polynomial of degree d at all.
        counts = {place: 2 * n + 1 for place, n in self._top.items()}
        while counts:
            finer = [{**counts, place: n + 1} for place, n in counts.items()]
            best = min(finer, key=self._likely)
            # Below this gain a finer grid costs more time than it improves the bound.
            if self._likely(counts) < 1.002 * self._likely(best) or _product(best.values()) > GRID_POINTS:
                break
            counts = best
        return counts

    def _likely(self, counts: dict[PortEntry, int]) -> float:
        """How much larger than on the grid a sum may be between its points, by what its parts are expected to weigh."""
        gains = {place: _between(self._top[place], n) for place, n in counts.items()}
        ways = np.cumprod([gains.pop(place) for place in self.split])
        shares = zip(LIKELY_SHARES, (1.0, *ways), strict=False)
        return float(np.prod(list(gains.values())) * sum(share * way for share, way in shares))

    def _between(self, degree: dict[PortEntry, int]) -> float:
        """How much larger than at the grid's points a trigonometric polynomial of that degree can be between them."""
        factors = (_between(degree.get(place, 0), n) for place, n in self.counts.items())
        return float(np.prod(list(factors)))

    def _chunks(self) -> Iterator[dict[PortEntry, Any]]:
        """Angles at the points of the grid: the last ones along an axis each, the first ones a point at a time.

        Values of links near the base depend on the first angles alone: arrays of one number. The last angle comes
        first among the axes, where means are taken fastest.
        """
        places, shape = list(self.counts), tuple(self.counts.values())
        axes = [2 * np.pi * np.arange(n) / n for n in shape]
        inner = len(shape)
        # As many angles along axes as fit, and a piece of the next: NumPy then works on large arrays.
        while inner and _product(shape[inner - 1 :]) <= POINTS_AT_ONCE:
            inner -= 1
        size = max(1, POINTS_AT_ONCE // int(_product(shape[inner:])))
        pieces = [axes[inner - 1][k : k + size] for k in range(0, shape[inner - 1], size)] if inner else [None]
        for head in product_of(*axes[: max(0, inner - 1)]):
            for piece in pieces:
                along = axes[inner:] if piece is None else [piece, *axes[inner:]]
                tail = np.meshgrid(*along[::-1], indexing="ij", sparse=True)[::-1]
                yield dict(zip(places, (*head, *tail), strict=True))


def _product(counts: Iterable[int]) -> float:
    return float(np.prod(list(counts), dtype=float))


def _between(degree: int, n: int) -> float:
    """1 / cos(pi d / n): what a polynomial of one angle may gain between n points of the circle."""
    return 1 / float(cos(np.array(np.pi * degree / n)))


def _key(degree: dict[PortEntry, int]) -> Degree:
    return frozenset((place, n) for place, n in degree.items() if n)


def _added(a: dict[PortEntry, int], b: dict[PortEntry, int]) -> dict[PortEntry, int]:
    return {place: a.get(place, 0) + b.get(place, 0) for place in {*a, *b}}


def _larger(a: dict[PortEntry, int], b: dict[PortEntry, int]) -> dict[PortEntry, int]:
    return {place: max(a.get(place, 0), b.get(place, 0)) for place in {*a, *b}}
