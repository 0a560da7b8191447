"""Registers for the steps of a straight line: of the values in registers, the one that is needed last leaves first.

The whole future is known, so the choice is that of Belady (1966). A value that leaves is stored once; most instructions
read it from memory as well as from a register, so that few loads remain. LLVM allocates registers for programs with
branches; on long straight lines it stores and loads twice as often.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tauform.codegen.backends.llvm.planned.steps import PlannedStep

# Later than any step.
NEVER = 10**9
FUSED = frozenset({"fmadd", "fmsub", "fnmadd"})


@dataclass(frozen=True)
class Place:
    """A vector in memory by its index: a "slot" for what left its register, "given" from the start, or a "constant"."""

    kind: str
    index: int


Operand = int | Place  # an int is a register


@dataclass(frozen=True)
class Line:
    """A machine instruction with its sources, the one that may be in memory last, and its destination.

    "rows" has the group's values, and registers that it may overwrite as `free`.
    """

    op: str
    sources: tuple[Operand, ...]
    target: Operand = -1
    free: tuple[int, ...] = ()
    place: tuple[int, int] = (0, 0)


class Allocation:
    """Instructions for some steps.

    Attributes:
        lines: in the order they run in.
        n_slots: slots that values need which leave their register.
    """

    def __init__(
        self, steps: Sequence[PlannedStep], places: Mapping[int, Place], registers: int, for_rows: int
    ) -> None:
        """Allocate.

        Args:
            places: where the values stand that no step makes.
            registers: how many there are.
            for_rows: registers that a group of rows overwrites.
        """
        self.lines: list[Line] = []
        self.n_slots = 0
        self._places = dict(places)
        self._registers: dict[int, int] = {}
        self._free = list(range(registers))
        self._free_slots: list[int] = []
        self._own_slots: dict[int, int] = {}
        self._for_rows = for_rows
        self._uses: dict[int, list[int]] = {}
        # Backwards, so that the next use stands last and is popped in constant time.
        for time, step in reversed(list(enumerate(steps))):
            for value in step.args:
                self._uses.setdefault(value, []).append(time)
        for time, step in enumerate(steps):
            self._run(step, time)

    def _run(self, step: PlannedStep, time: int) -> None:
        if step.op == "rows":
            self._rows(step, time)
        else:
            in_memory = self._fetched(step, time)
            target = (self._fused if step.op in FUSED else self._plain)(step, time, in_memory)
            self._registers[step.value] = target
        for value in {*step.args, step.value}:
            self._release(value, time)

    def _rows(self, step: PlannedStep, time: int) -> None:
        # The transpose overwrites registers: sources stay, others leave where they must.
        free = [self._taken(time, step.args) for _ in range(self._for_rows)]
        sources = tuple(self._registers.get(value, self._places.get(value, -1)) for value in step.args)
        self.lines.append(Line("rows", sources, free=tuple(free), place=step.place))
        self._free.extend(free)

    def _fetched(self, step: PlannedStep, time: int) -> int | None:
        """The operand that is read from memory, if any; all others are brought into registers."""
        absent = [value for value in dict.fromkeys(step.args) if value not in self._registers]
        # x86 reads one operand from memory: the one whose next use is farthest gains least from a register.
        able = [value for value in absent if _may_be_in_memory(step, value)]
        chosen = max(able, key=lambda value: self._next(value, time), default=None)
        for value in absent:
            if value != chosen:
                self._registers[value] = self._loaded(value, time, step.args)
        return chosen

    def _plain(self, step: PlannedStep, time: int, in_memory: int | None) -> int:
        args = step.args
        # Sums and products commute: the operand in memory moves to the place that may be there.
        if step.op in ("add", "mul") and args[0] == in_memory:
            args = args[::-1]
        sources = tuple(self._operand(value, in_memory) for value in args)
        ending = self._ending(step, time)
        # The result takes the register of an operand that ends here, where there is one.
        target = self._registers.pop(ending[0]) if ending else self._taken(time, step.args)
        self.lines.append(Line(step.op, sources, target))
        return target

    def _fused(self, step: PlannedStep, time: int, in_memory: int | None) -> int:
        """One operand is overwritten: one that nobody needs any more, or a copy."""
        # An operand that stands twice is still read by the same instruction.
        ending = [value for value in self._ending(step, time) if step.args.count(value) == 1]
        if ending:
            replaced = ending[0]
            target = self._registers[replaced]
        elif in_memory is not None:
            # A load gives the copy for free: memory keeps the value.
            replaced, target = in_memory, self._loaded(in_memory, time, step.args)
            in_memory = None
        else:
            # a factor that is read twice cannot be replaced, unless all three are the same
            replaced = next((value for value in reversed(step.args) if step.args.count(value) == 1), step.args[-1])
            target = self._taken(time, step.args)
            self.lines.append(Line("move", (self._registers[replaced],), target))
        form, sources = _form(step.args, replaced, in_memory)
        self.lines.append(Line(step.op + form, tuple(self._operand(v, in_memory) for v in sources), target))
        if ending:
            del self._registers[replaced]
        return target

    def _ending(self, step: PlannedStep, time: int) -> list[int]:
        """Operands in registers that no later step reads."""
        found = dict.fromkeys(step.args)
        return [value for value in found if value in self._registers and self._next(value, time) == NEVER]

    def _operand(self, value: int, in_memory: int | None) -> Operand:
        return self._places[value] if value == in_memory else self._registers[value]

    def _next(self, value: int, time: int) -> int:
        """When a value is read after this time."""
        uses = self._uses.get(value, [])
        while uses and uses[-1] <= time:
            uses.pop()
        return uses[-1] if uses else NEVER

    def _loaded(self, value: int, time: int, kept: Sequence[int]) -> int:
        register = self._taken(time, kept)
        self.lines.append(Line("load", (self._places[value],), register))
        return register

    def _taken(self, time: int, kept: Sequence[int]) -> int:
        """A free register; where there is none, that of the value which is needed last."""
        if self._free:
            return self._free.pop()
        # Operands of this very step may not leave.
        movable = [value for value in self._registers if value not in kept]
        # of those needed at the same time, one that is in memory already
        leaving = max(movable, key=lambda value: (self._next(value, time), value in self._places))
        register = self._registers.pop(leaving)
        # Each value is stored at most once: it never changes.
        if leaving not in self._places:
            self._places[leaving] = self._slot(leaving)
            self.lines.append(Line("store", (register,), self._places[leaving]))
        return register

    def _slot(self, value: int) -> Place:
        if not self._free_slots:
            self._free_slots.append(self.n_slots)
            self.n_slots += 1
        self._own_slots[value] = self._free_slots.pop()
        return Place("slot", self._own_slots[value])

    def _release(self, value: int, time: int) -> None:
        """Free the register and the slot of a value that nobody needs any more."""
        if self._next(value, time) != NEVER:
            return
        if value in self._registers:
            self._free.append(self._registers.pop(value))
        if value in self._own_slots:
            self._free_slots.append(self._own_slots.pop(value))


def _may_be_in_memory(step: PlannedStep, value: int) -> bool:
    if step.args.count(value) > 1:
        return False
    # Only the second operand of a difference or quotient may be in memory.
    return step.op != "negate" and (step.op not in ("sub", "div") or value == step.args[1])


def _form(args: tuple[int, ...], replaced: int, in_memory: int | None) -> tuple[str, tuple[int, int]]:
    """Which of a, b, c of a b + c the digits 1 (replaced), 2 and 3 (perhaps in memory) are."""
    a, b, c = args
    if replaced == c:
        # vfmadd231: target = 2 * 3 + target.
        return "231", (b, a) if a == in_memory else (a, b)
    other = b if replaced == a else a
    # 132: target = target * 3 + 2; 213: target = 2 * target + 3.
    return ("132", (c, other)) if other == in_memory else ("213", (other, c))
