"""`@block` of a long program as planned machine code.

`@part_0`, by LLVM, leaves inputs, sines and cosines in memory; `@part_1` is one straight line of instructions whose
order, registers and stores are chosen here. LLVM spills twice as much on such lines. It stays in charge of short
programs, of other processors, and of operations that take more than one instruction, such as signs.
"""

from __future__ import annotations

from collections.abc import Iterator

from tauform.codegen.backends.llvm.planned.layout import SCRATCH, TABLE, MemoryLayout
from tauform.codegen.backends.llvm.planned.registers import Allocation, Place
from tauform.codegen.backends.llvm.planned.steps import GROUP, KNOWN, planned_steps
from tauform.codegen.backends.llvm.planned.x86 import ADDRESSES, Machine
from tauform.codegen.backends.llvm.text import Vector
from tauform.codegen.program.angles import AngleStage, stages
from tauform.codegen.program.program import FREE, Op, Program

# Operations, or results to store, from which LLVM's own code is slower.
LEAST_OPERATIONS, LEAST_RESULTS = 1000, 32
# Operations that LLVM is left with, as a share of those that are planned.
MOST_OTHERS = 0.2
# Outputs whose addresses stay in registers.
MOST_OUTPUTS = 8


def is_planned(program: Program, vector: Vector, processor: str) -> bool:
    """Whether `@block` is planned: long, of simple operations, for a processor known here."""
    wide_enough = vector.lanes * vector.scalar.bits >= 256
    # Fused instructions and registers of 256 bits: AVX2 with FMA at the least.
    if not (vector.fuses and wide_enough and processor.startswith("x86_64")):
        return False
    # Rows are stored four columns at a time: a smaller port has no group.
    if len(program.outputs) > MOST_OUTPUTS or any(port.size < GROUP for port in program.outputs):
        return False
    first, rest = divided(program)
    others = sum(program.instructions[k].op not in FREE for k in first[-1].instructions)
    work = sum(program.instructions[k].op not in FREE for k in rest)
    long = work >= LEAST_OPERATIONS or sum(port.size for port in program.outputs) >= LEAST_RESULTS
    return long and others <= MOST_OTHERS * work


def divided(program: Program) -> tuple[list[AngleStage], list[int]]:
    """Stages that LLVM compiles, and the values that are planned.

    Signs, exponentials and the like are left to LLVM with all that they are made of; as a rule those are inputs.
    """
    *angles, last = stages(program)
    others: set[int] = set()
    # Backwards: what an operation left to LLVM is made of is left to it as well.
    for value in reversed(last.instructions):
        instruction = program.instructions[value]
        if value in others or not (instruction.op in KNOWN or instruction.op in FREE):
            others |= {value, *instruction.args}
    early = tuple(k for k in last.instructions if k in others)
    return [*angles, AngleStage(early, ())], [k for k in last.instructions if k not in others]


class PlannedBlock:
    """The second part, and what the first one has to leave in memory.

    Attributes:
        first: stages of the first part.
        given: slot of each value that it stores.
        n_slots: size of the scratch memory.
    """

    def __init__(self, program: Program, vector: Vector) -> None:
        self.first, values = divided(program)
        steps = planned_steps(program, values)
        own = {step.value for step in steps}
        read = dict.fromkeys(k for step in steps for k in step.args if k not in own)
        numbers = {k: program.instructions[k].number for k in read if program.instructions[k].op is Op.CONSTANT}
        given = [k for k in read if k not in numbers]
        # by their bits: 0.0 and -0.0 are two constants
        self._constants = list({x.hex(): x for x in (*numbers.values(), -0.0)}.values())
        index = {x.hex(): Place("constant", k) for k, x in enumerate(self._constants)}
        places = {k: index[number.hex()] for k, number in numbers.items()}
        places.update({k: Place("given", number) for number, k in enumerate(given)})
        plain = Machine(vector)
        # Allocation needs the number of registers only; addresses follow once all places are known.
        found = Allocation(steps, places, plain.registers, plain.for_rows)
        slots = [Place("slot", k) for k in range(found.n_slots)]
        everything = dict.fromkeys([*slots, *places.values(), *index.values()])
        # The outputs' addresses take registers too.
        layout = MemoryLayout(found.lines, everything, plain.areas, ADDRESSES - len(program.outputs))
        rank = {place: k for k, place in enumerate(layout.order[SCRATCH])}
        self.given = {k: rank[places[k]] for k in given}
        self.n_slots = len(rank)
        self._lines, self._layout = found.lines, layout
        self._machine = Machine(vector, program.outputs, layout, index[(-0.0).hex()])

    def text(self, arguments: str) -> str:
        """`@part_1` with the arguments of `@block` and the scratch memory."""
        machine, bases = self._machine, self._layout.bases
        starts = {SCRATCH: "%scratch", TABLE: "@table"}
        passed = [f"%out{k}" for k in range(len(machine.outputs))] + [f"%base{k}" for k in range(len(bases))]
        # All vector registers are lost to LLVM here: it keeps nothing across the call.
        effects = [f"~{{{name}}}" for name in (*machine.clobbered, "memory", "dirflag", "fpsr", "flags")]
        constraints = ",".join([*("r" for _ in passed), *effects])
        code = "\\0A".join(self._instructions())
        addresses = [
            f"  %base{k} = getelementptr i8, ptr {starts[b.area]}, i64 {b.offset}" for k, b in enumerate(bases)
        ]
        return "\n".join(
            [
                machine.table(self._constants),
                f"define internal void @part_1({arguments}, ptr %scratch) noinline #0 {{",
                *addresses,
                f'  call void asm sideeffect "{code}", "{constraints}"({", ".join(f"ptr {p}" for p in passed)})',
                "  ret void",
                "}",
            ]
        )

    def _instructions(self) -> Iterator[str]:
        """All instructions, with what fetches the memory of the next block's results spread over them."""
        yield from self._machine.beginning()
        ahead = self._machine.prefetches()
        done = 0
        for number, line in enumerate(self._lines):
            yield from self._machine.text(line)
            reached = len(ahead) * (number + 1) // len(self._lines)
            yield from ahead[done:reached]
            done = reached
