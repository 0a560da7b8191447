"""Executed instructions, code and stack of C functions on an emulated machine, with what they compute there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from tauform.arrays import Array
from tools.emulation.machines import Machine, said
from tools.measuring.c_timing import CFunction

MAIN = Path(__file__).parent / "count_main.c"
SINGLE_MATH = Path(__file__).parent / "single_math.h"
PLACE = re.compile(r"\[[0-9a-f]+/([0-9a-f]+)/")


@dataclass(frozen=True, eq=False)
class Counted:
    """What one function took and returned.

    Attributes:
        instructions: executed in a call, the mean over the states.
        text_bytes: machine code and constants of its own object.
        stack_bytes: of a call, with everything that it calls.
        outputs: (n_states, n_outputs).
    """

    instructions: float
    text_bytes: int
    stack_bytes: int
    outputs: Array = field(repr=False)


def count_on(
    machine: Machine, functions: Sequence[CFunction], inputs: Array, n_outputs: int, real: str, flags: Sequence[str]
) -> dict[str, Counted]:
    """Count each function on the machine.

    Args:
        machine: where they run.
        functions: the candidates; `in` and `out` of their calls are of type `real`.
        inputs: (n_states, n_inputs), of that type.
        n_outputs: numbers that each writes.
        real: float or double.
        flags: of the compiler.
    """
    with TemporaryDirectory() as folder:
        build = Path(folder)
        (build / "count.h").write_text(_header(functions, inputs, n_outputs, real))
        objects = [_object(machine, k, f, build, real, flags) for k, f in enumerate(functions)]
        shims = [path for pair in objects for path in pair]
        program = machine.compiled([MAIN, *shims], build / "program", [*flags, f"-I{build}"])
        lines = machine.traced(program, build / "log").splitlines()
        counts = np.array(list(_between_marks(build / "log", _symbols(machine, program))))
        sizes = [_text_bytes(machine, own) for own, _ in objects]
    # The first pair of marks has an empty function between: what the calls themselves cost.
    called = (counts[1:] - counts[0]).reshape(len(functions), len(inputs)).mean(axis=1)
    outputs = [np.array([float(w) for w in line.split()]).reshape(len(inputs), -1) for line in lines[:-1]]
    stacks = [int(word) for word in lines[-1].split()]
    figures = zip(functions, called, sizes, stacks, outputs, strict=True)
    return {function.label: Counted(float(n), size, stack, out) for function, n, size, stack, out in figures}


def _header(functions: Sequence[CFunction], inputs: Array, n_outputs: int, real: str) -> str:
    names = [f"shim{k}" for k in range(len(functions))]
    rows = ",\n".join("{" + ", ".join(float(v).hex() for v in row) + "}" for row in inputs)
    return (
        f"typedef {real} real;\ntypedef void (*function)(const real *in, real *out);\n"
        + "".join(f"void {name}(const real *in, real *out);\n" for name in names)
        + f"enum {{ FUNCTIONS = {len(names)}, STATES = {len(inputs)}, OUTPUTS = {n_outputs} }};\n"
        + f"static const function functions[] = {{{', '.join(names)}}};\n"
        + f"static const real states[][{inputs.shape[1]}] = {{\n{rows}}};\n"
    )


def _object(
    machine: Machine, k: int, function: CFunction, build: Path, real: str, flags: Sequence[str]
) -> tuple[Path, Path]:
    """The function's own object and that of the shim which calls it."""
    shim = build / f"shim{k}.c"
    head = f"void shim{k}(const {real} *in, {real} *out)"
    shim.write_text(f"{function.declarations}\n{head};\n{head}\n{{ {function.call} }}\n")
    (source,) = function.sources
    paths = build / f"own{k}.o", build / f"shim{k}.o"
    only = replace(machine, link=("-c",), start=())
    for text, path in zip((source, shim), paths, strict=True):
        only.compiled([text], path, [*flags, *function.flags])
    return paths


def _symbols(machine: Machine, program: Path) -> dict[str, int]:
    text = said([f"{machine.tools}nm", str(program)])
    # The last bit says that ARM code is Thumb; nm shows it on no symbol, but some versions did.
    return {words[2]: int(words[0], 16) & ~1 for words in map(str.split, text.splitlines()) if len(words) == 3}


def _between_marks(log: Path, symbols: dict[str, int]) -> Iterator[int]:
    """Instructions from each begin to the end that follows it."""
    begin, end, count = symbols["mark_begin"], symbols["mark_end"], 0
    with log.open(encoding="utf-8") as lines:
        for line in lines:
            found = PLACE.search(line)
            place = int(found[1], 16) if found else -1
            if place == begin:
                count = 0
            elif place == end:
                yield count
            count += found is not None


def _text_bytes(machine: Machine, path: Path) -> int:
    return int(said([f"{machine.tools}size", str(path)]).splitlines()[1].split()[0])
