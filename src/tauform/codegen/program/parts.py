"""Cut a program into parts that compilers handle quickly, with the values that pass between them in numbered slots.

Compilers need more than linear time for one straight line of code. Inputs and constants are not passed on: each part
reads them anew.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from tauform.codegen.program.angles import AngleStage, stages
from tauform.codegen.program.program import FREE, Op, Program


@dataclass(frozen=True)
class Part:
    """Stages that form one function.

    Attributes:
        reads: slot of each value that comes from earlier parts.
        writes: slot of each value that later parts need.
    """

    stages: tuple[AngleStage, ...]
    reads: dict[int, int] = field(default_factory=dict)
    writes: dict[int, int] = field(default_factory=dict)


def parts(program: Program, limit: int, size: int) -> tuple[list[Part], int]:
    """Parts of a program and the number of slots; one part where there are at most `limit` operations.

    Longer programs are cut into parts of about `size` operations; the last part then only hands over the results.
    """
    # Sines stay in one place for all parts: their vectors are what makes one state fast.
    whole = stages(program)
    if _cost(program, (k for stage in whole for k in stage.instructions)) <= limit:
        return [Part(tuple(whole))], 0
    # The last part is empty: it stores the results, which may have been made in any part before.
    cut = [Part((stage,)) for whole_stage in whole for stage in _cut(program, whole_stage, size)]
    return _with_slots(program, [*cut, Part(())])


def _is_free(program: Program, value: int) -> bool:
    return program.instructions[value].op in FREE


def _cost(program: Program, values: Iterable[int]) -> int:
    return sum(not _is_free(program, k) for k in values)


def _cut(program: Program, stage: AngleStage, size: int) -> list[AngleStage]:
    """The stage in pieces; the last one carries its angles."""
    # Inputs and constants are not counted, since each part reads them anew.
    values = [k for k in stage.instructions if not _is_free(program, k)]
    pieces = [AngleStage(tuple(values[k : k + size]), ()) for k in range(0, len(values), size)] or [AngleStage((), ())]
    return [*pieces[:-1], replace(pieces[-1], angles=stage.angles)]


def _with_slots(program: Program, cut: list[Part]) -> tuple[list[Part], int]:
    """The same parts with a slot for each value that crosses from one to another; slots are used again."""
    home: dict[int, int] = {}
    needs: list[set[int]] = []
    for number, part in enumerate(cut):
        # What a part makes itself it reads from its own variables.
        made = set(_made(program, part))
        needs.append({k for k in _used(program, part, last=number == len(cut) - 1) if k not in made})
        home.update(dict.fromkeys(made, number))
    # Later parts overwrite earlier ones, which leaves the last.
    last_use = {value: number for number, needed in enumerate(needs) for value in needed}

    slot: dict[int, int] = {}
    free: list[int] = []
    n_slots = 0
    result = []
    for number, part in enumerate(cut):
        writes = {}
        for value in sorted(k for k in last_use if home[k] == number):
            # A new slot only where no old one is free: slots are memory on a controller's stack.
            if not free:
                free.append(n_slots)
                n_slots += 1
            slot[value] = writes[value] = free.pop()
        reads = {value: slot[value] for value in sorted(needs[number])}
        result.append(Part(part.stages, reads, writes))
        # Freed after the part has read it, so that what the part writes never lands in a slot it still reads.
        free.extend(slot[value] for value in sorted(needs[number]) if last_use[value] == number)
    return result, n_slots


def _made(program: Program, part: Part) -> Iterable[int]:
    """Values that a part defines: its instructions, and all sines and cosines of its angles."""
    angles = {angle for stage in part.stages for angle in stage.angles}
    for stage in part.stages:
        yield from stage.instructions
    for value, instruction in enumerate(program.instructions):
        if instruction.op in (Op.SIN, Op.COS) and instruction.args[0] in angles:
            yield value


def _used(program: Program, part: Part, last: bool) -> Iterable[int]:
    """Values that a part reads, without inputs and constants."""
    used = {k for stage in part.stages for v in stage.instructions for k in program.instructions[v].args}
    used |= {angle for stage in part.stages for angle in stage.angles}
    # Results are stored at the end, since outputs may be the same arrays as inputs.
    if last:
        used |= {value for result in program.results for value in result}
    return (k for k in sorted(used) if not _is_free(program, k))
