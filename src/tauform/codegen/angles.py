"""Order in which a backend evaluates a program: the angles first, so that all sines and cosines are made at once.

Doing them together is what lets a compiler use vector units for one state, and leaves a single test for angles beyond
the reach of the inline reduction.
"""

from __future__ import annotations

from dataclasses import dataclass

from tauform.codegen.program import Op, Program


@dataclass(frozen=True)
class Stage:
    """Instructions to execute, then the angles (values) whose sine and cosine follow.

    The last stage has no angles. SIN and COS instructions appear in no stage: they are results of the angles.
    """

    instructions: tuple[int, ...]
    angles: tuple[int, ...]


def stages(program: Program) -> list[Stage]:
    """Stages of a program; one set of angles, except where an angle itself depends on a sine."""
    level = _levels(program)
    done: set[int] = set()
    result = []
    trigonometric = [k for k, i in enumerate(program.instructions) if i.op in (Op.SIN, Op.COS)]
    for depth in sorted({level[k] for k in trigonometric}):
        angles = tuple(dict.fromkeys(program.instructions[k].args[0] for k in trigonometric if level[k] == depth))
        needed = _ancestors(program, angles) - done
        result.append(Stage(_executable(program, needed), angles))
        done |= needed | {k for k in trigonometric if level[k] == depth}
    rest = set(range(len(program.instructions))) - done
    return [*result, Stage(_executable(program, rest), ())]


def _levels(program: Program) -> list[int]:
    """How many sines or cosines lie on the deepest path to each value, itself included."""
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
