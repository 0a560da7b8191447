"""Order of additions: what arrives late is added last.

The terms of a sum may be added in any order; the number of operations stays the same. Here those that are known first
are added first: a product as a multiply-add onto what is there, or beside it where that would mean waiting. The chain
of operations that one call waits for gets shorter by a quarter.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from operator import itemgetter
from typing import NamedTuple

from tauform.codegen.program.program import Instruction, Op, Program

# Cycles that today's processors need until a result can be used. A fused multiply-add takes as long as a product.
LATENCY = {
    Op.INPUT: 0,
    Op.CONSTANT: 0,
    Op.UNIT: 0,
    Op.ADD: 3,
    Op.SUBTRACT: 3,
    Op.NEGATE: 1,
    Op.LANE: 3,
    Op.MULTIPLY: 4,
    Op.DIVIDE: 14,
    Op.SQRT: 18,
    Op.SIGN: 8,
    Op.ABS: 1,
    Op.EXP: 60,
    Op.TANH: 80,
    Op.SIN: 50,
    Op.COS: 50,
    Op.ATAN2: 100,
}
# Partial sums of one sum that products may open; more would not make it faster, only take more additions.
MOST_OPENED = 2

_SUM = (Op.ADD, Op.SUBTRACT)


class _Term(NamedTuple):
    """A term of a sum: a value, when it is known, and whether it is subtracted or a product that can be fused.

    A product that can be fused counts as known when its factors are.
    """

    ready: int
    value: int
    minus: bool
    fuses: bool


@dataclass(frozen=True)
class _Plan:
    """Steps that add up some terms: each adds two of the terms or of the earlier steps, numbered on from the terms."""

    ready: int
    steps: list[tuple[int, int]]


def _plan(terms: list[_Term], most_opened: int) -> _Plan:
    """First come, first added; at most so many products are computed alone instead of waiting for a partial sum."""
    # (time, place) pairs, sorted by time; places break ties, so that the order is the same everywhere.
    partial = sorted((term.ready, k) for k, term in enumerate(terms) if not term.fuses)
    steps: list[tuple[int, int]] = []

    def add(first: tuple[int, int], second: tuple[int, int], latency: int) -> None:
        steps.append((first[1], second[1]))
        insort(partial, (max(first[0], second[0]) + latency, len(terms) + len(steps) - 1))

    for product in sorted((term.ready, k) for k, term in enumerate(terms) if term.fuses):
        # While waiting for the product, partial sums are added for free.
        while len(partial) > 1 and partial[1][0] + LATENCY[Op.ADD] <= product[0]:
            add(partial.pop(0), partial.pop(0), LATENCY[Op.ADD])
        # Partial sums that are known by then: the latest of them waits least.
        present = bisect_right(partial, product[0], key=itemgetter(0))
        if present:
            add(partial.pop(present - 1), product, LATENCY[Op.MULTIPLY])
        # None is known yet: the product stands alone and begins a partial sum.
        elif most_opened > 0 or not partial:
            most_opened -= 1
            insort(partial, (product[0] + LATENCY[Op.MULTIPLY], product[1]))
        else:
            add(partial.pop(0), product, LATENCY[Op.MULTIPLY])
    while len(partial) > 1:
        add(partial.pop(0), partial.pop(0), LATENCY[Op.ADD])
    return _Plan(partial[0][0], steps)


def balanced(program: Program) -> Program:
    """The program with every sum added in the order in which its terms become known."""
    code = _SummedCode(program)
    for value, instruction in enumerate(program.instructions):
        if value in code.inner:
            continue
        code.new[value] = code.sum(value) if instruction.op in _SUM else code.copy(value)
    return code.program()


@dataclass
class _SummedCode:
    """Instructions so far.

    Attributes:
        inner: sums that are terms of another sum only.
        fusing: products that only sums read.
        new: the new value of each old one.
        ready: cycle at which each new value is known.
        rank: place of each new value among the old ones; a step of a sum stands right behind what it reads.
    """

    old: Program
    inner: set[int] = field(default_factory=set)
    fusing: set[int] = field(default_factory=set)
    new: dict[int, int] = field(default_factory=dict)
    instructions: list[Instruction] = field(default_factory=list)
    ready: list[int] = field(default_factory=list)
    rank: list[int] = field(default_factory=list)
    known: dict[Instruction, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        results = {value for result in self.old.results for value in result}
        readers: defaultdict[int, list[Op]] = defaultdict(list)
        # Who reads a value decides: a product that only sums read can be fused, a sum that one sum reads can be opened.
        for instruction in self.old.instructions:
            for operand in instruction.args:
                readers[operand].append(instruction.op)
        for value, instruction in enumerate(self.old.instructions):
            if value in results or not all(op in _SUM for op in readers[value]):
                continue
            # A sum that only one sum reads may be taken apart; one that is shared stays whole, or it would be computed
            # twice.
            if instruction.op in _SUM and len(readers[value]) == 1:
                self.inner.add(value)
            elif instruction.op is Op.MULTIPLY:
                self.fusing.add(value)

    def copy(self, value: int) -> int:
        """An instruction that is no sum."""
        instruction = self.old.instructions[value]
        args = tuple(self.new[k] for k in instruction.args)
        start = max((self.ready[k] for k in args), default=0)
        return self._append(replace(instruction, args=args), start + LATENCY[instruction.op], value)

    def sum(self, value: int) -> int:
        """A sum, its inner sums included; at least one term is not subtracted, so the total is not either."""
        terms = self._terms(value)
        # fewer partial sums take fewer additions, so they are preferred where they take no longer
        # `min` keeps the first of equals, which is the one without opened sums.
        plan = min((_plan(terms, most) for most in (0, MOST_OPENED)), key=lambda plan: plan.ready)
        items = [(term.value, term.minus) for term in terms]
        for a, b in plan.steps:
            items.append(self._add(*items[a], *items[b]))
        total = items[-1][0]
        self.ready[total] = plan.ready
        return total

    def program(self) -> Program:
        """All instructions in the order of their ranks."""
        # An instruction stands where its last operand allows, so that few values are alive at a time.
        order = sorted(range(len(self.instructions)), key=lambda k: (self.rank[k], k))
        place = {value: k for k, value in enumerate(order)}
        moved = (self.instructions[k] for k in order)
        instructions = tuple(replace(i, args=tuple(place[k] for k in i.args)) for i in moved)
        results = tuple(tuple(place[self.new[k]] for k in result) for result in self.old.results)
        return replace(self.old, instructions=instructions, results=results)

    def _terms(self, value: int) -> list[_Term]:
        found = list(self._added(value))
        count = Counter(k for k, _ in found)
        terms = []
        for k, minus in found:
            new = self.new[k]
            # A product that is added twice is computed once, and not fused.
            fuses = k in self.fusing and count[k] == 1
            ready = max(self.ready[a] for a in self.instructions[new].args) if fuses else self.ready[new]
            terms.append(_Term(ready, new, minus, fuses))
        return sorted(terms, key=lambda term: self.rank[term.value])

    def _added(self, value: int) -> Iterator[tuple[int, bool]]:
        """Values that are added up, and whether each is subtracted."""
        # No recursion: sums of long chains nest deeper than Python's stack.
        stack = [(value, False)]
        while stack:
            value, minus = stack.pop()
            instruction = self.old.instructions[value]
            left, right = instruction.args
            for operand, sign in ((left, minus), (right, minus ^ (instruction.op is Op.SUBTRACT))):
                if operand in self.inner:
                    stack.append((operand, sign))
                else:
                    yield operand, sign

    def _add(self, a: int, a_minus: bool, b: int, b_minus: bool) -> tuple[int, bool]:
        """A step of a sum, and whether its value is to be subtracted."""
        # -a - b is added as a + b and subtracted later: no negation is spent.
        if a_minus == b_minus:
            instruction = Instruction(Op.ADD, (min(a, b), max(a, b)))
        else:
            instruction = Instruction(Op.SUBTRACT, (b, a) if a_minus else (a, b))
        return self._append(instruction, 0, max(self.rank[a], self.rank[b])), a_minus and b_minus

    def _append(self, instruction: Instruction, ready: int, rank: int) -> int:
        if instruction in self.known:  # two sums may begin with the same terms
            return self.known[instruction]
        self.known[instruction] = len(self.instructions)
        self.instructions.append(instruction)
        self.ready.append(ready)
        self.rank.append(rank)
        return len(self.instructions) - 1
