"""Order in which a backend evaluates a program: the angles first, so that all sines and cosines are made at once.

Doing them together is what lets a compiler use vector units for one state, and leaves a single test for angles beyond
the reach of the inline reduction.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from tauform.codegen.program.program import Op, Program


@dataclass(frozen=True)
class AngleStage:
    """Instructions to execute, then the angles (values) whose sine and cosine follow.

    The last stage has no angles. SIN and COS instructions appear in no stage: they are results of the angles.
    """

    instructions: tuple[int, ...]
    angles: tuple[int, ...]


def stages(program: Program) -> list[AngleStage]:
    """Stages of a program; one set of angles, except where an angle itself depends on a sine."""
    level = _levels(program)
    done: set[int] = set()
    result = []
    trigonometric = [k for k, i in enumerate(program.instructions) if i.op in (Op.SIN, Op.COS)]
    for depth in sorted({level[k] for k in trigonometric}):
        found = dict.fromkeys(program.instructions[k].args[0] for k in trigonometric if level[k] == depth)
        # By their places in q, so that a vector loads them in one go.
        angles = tuple(sorted(found, key=partial(_place, program)))
        needed = _ancestors(program, angles) - done
        result.append(AngleStage(_executable(program, needed), angles))
        done |= needed | {k for k in trigonometric if level[k] == depth}
    rest = set(range(len(program.instructions))) - done
    return [*result, AngleStage(_executable(program, rest), ())]


@dataclass(frozen=True)
class Run:
    """Entries of an input port from `index` on, each with a constant added.

    Attributes:
        entries: place in the run of each angle; what else lies in the run is no angle.
    """

    port: int
    index: int
    offsets: list[float]
    entries: list[int]


def neighbours(program: Program, angles: tuple[int, ...]) -> Run | None:
    """The angles as entries of one input with constants added, if they are, each once, and at least half of the run."""
    found = [_shifted_input(program, angle) for angle in angles]
    (port, index), _ = found[0]  # angles are sorted by place
    places = [place[1] for place, _ in found]
    length = places[-1] + 1 - index
    alone = len(set(places)) == len(places) and all(place[0] == port for place, _ in found)
    # Sparse runs would spend more sines than they save loads.
    if port < 0 or not alone or length > 2 * len(places):
        return None
    size = program.inputs[port].size
    if length == 3 and size > 3:  # vectors hold two or four
        index, length = min(index, size - 4), 4
    offsets = [0.0] * length
    for place, (_, offset) in zip(places, found, strict=True):
        offsets[place - index] = offset
    return Run(port, index, offsets, [place - index for place in places])


def _place(program: Program, angle: int) -> tuple[int, int]:
    """Place of an angle among the inputs; others come first, in the order of the program."""
    place, _ = _shifted_input(program, angle)
    return place if place[0] >= 0 else (-1, angle)


def _shifted_input(program: Program, value: int) -> tuple[tuple[int, int], float]:
    """Port and entry of an input, and the constant added to it; port -1 where the value is something else."""
    instruction = program.instructions[value]
    if instruction.op is Op.INPUT and not program.inputs[instruction.place[0]].shared:
        return instruction.place, 0.0
    if instruction.op in (Op.ADD, Op.SUBTRACT):
        left, right = (program.instructions[k] for k in instruction.args)
        if left.op is Op.CONSTANT and instruction.op is Op.ADD:
            left, right = right, left
        if left.op is Op.INPUT and right.op is Op.CONSTANT and not program.inputs[left.place[0]].shared:
            return left.place, right.number if instruction.op is Op.ADD else -right.number
    return (-1, -1), 0.0


def _levels(program: Program) -> list[int]:
    """Number of sines or cosines on the deepest path to each value, itself included."""
    level: list[int] = []
    for instruction in program.instructions:
        below = max((level[k] for k in instruction.args), default=0)
        level.append(below + (instruction.op in (Op.SIN, Op.COS)))
    return level


def _ancestors(program: Program, values: tuple[int, ...]) -> set[int]:
    """The values and everything that they are made of."""
    found: set[int] = set()
    stack = list(values)
    while stack:
        value = stack.pop()
        if value not in found:
            found.add(value)
            stack.extend(program.instructions[value].args)
    return found


def _executable(program: Program, values: set[int]) -> tuple[int, ...]:
    return tuple(k for k in sorted(values) if program.instructions[k].op not in (Op.SIN, Op.COS))
