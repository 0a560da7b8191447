"""Whether what was read from a file is a program: interpreters, printers and compilers trust every index in one."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import numpy as np

from tauform.codegen.program.port import Port
from tauform.codegen.program.program import BINARY, FREE, LANES, About, Candidate, Certificate, Instruction, Op, Program

# Entries of a port, above all that a program of bounded length can read or make.
LARGEST_PORT = 1 << 24
# Operations of graphs, which no program holds, and those of wide programs alone.
_NEVER, _WIDE = frozenset({Op.SAME}), frozenset({Op.UNIT, Op.LANE})


def check_sound(program: Program, wide: bool = False) -> None:
    """Refuse what no compiler wrote: values read before they are made, places outside ports, parts of other types.

    Args:
        wide: whether its values may be vectors.

    Raises:
        ValueError: the message names the part.
    """
    # One by one: later questions would fail on parts of another type.
    for what, is_right in _parts(program):
        if not is_right:
            raise ValueError(f"no program: {what}")
    for k, instruction in enumerate(program.instructions):
        if not _is_instruction(instruction, k, program.inputs, wide):
            raise ValueError(f"no program: instruction {k}")
    n = len(program.instructions)
    for port, entries in zip(program.outputs, program.results, strict=True):
        if len(entries) != port.size or not all(_is_index(entry, n) for entry in entries):
            raise ValueError(f"no program: results of {port.name}")
    if program.setup is not None:
        check_sound(program.setup)
    if program.wide is not None:
        check_sound(program.wide, wide=True)


def _parts(program: Program) -> Iterator[tuple[str, bool]]:
    """Each part, and whether it has its type; later ones rely on earlier ones."""
    yield "names", all(isinstance(text, str) for text in (program.name, program.robot, program.algorithm))
    for kind in ("inputs", "outputs"):
        ports = getattr(program, kind)
        yield kind, isinstance(ports, tuple) and bool(ports) and all(map(_is_port, ports))
        # Two ports of one name would be one argument in every language.
        yield kind, len({port.name for port in ports}) == len(ports)
    yield "results", isinstance(program.results, tuple) and len(program.results) == len(program.outputs)
    yield "results", all(isinstance(entries, tuple) for entries in program.results)
    yield "certificate", program.certificate is None or _has_types(program.certificate, Certificate)
    candidates = program.candidates
    yield "candidates", isinstance(candidates, tuple) and all(_has_types(c, Candidate) for c in candidates)
    for part in (program.setup, program.wide):
        yield "a program in it", part is None or (isinstance(part, Program) and part.setup is part.wide is None)
    yield "about", isinstance(program.about, About) and _is_about(program.about)


def _is_about(about: About) -> bool:
    texts = isinstance(about.summary, str) and _are_texts(about.conventions) and _are_texts(about.joints)
    texts = texts and isinstance(about.has_friction, bool)
    entries = isinstance(about.entries, dict) and all(map(_are_texts, about.entries.values()))
    defaults = isinstance(about.defaults, dict) and all(map(_is_array, about.defaults.values()))
    return texts and entries and defaults and (about.grouping is None or _is_array(about.grouping, 2))


def _has_types(value: Any, kind: type) -> bool:
    """Whether it is of a type whose fields are texts, numbers and flags, and these are what they say."""
    if not isinstance(value, kind):
        return False
    # Exact types: a bool counts as an int to isinstance, and a subclass may carry code.
    known = {"int": (int,), "float": (float, int), "str": (str,), "bool": (bool,)}
    return all(type(getattr(value, own.name)) in known[str(own.type)] for own in fields(kind))


def _are_texts(values: Any) -> bool:
    return isinstance(values, tuple) and all(isinstance(text, str) for text in values)


def _is_array(value: Any, n_dimensions: int | None = None) -> bool:
    fits = isinstance(value, np.ndarray) and n_dimensions in (None, value.ndim)
    return fits and bool(np.isfinite(value).all())


def _is_port(port: Any) -> bool:
    if not isinstance(port, Port) or not isinstance(port.name, str) or not isinstance(port.shared, bool):
        return False
    if not isinstance(port.ranges, tuple) or not all(map(_is_range, port.ranges)):
        return False
    sizes_are_right = isinstance(port.shape, tuple) and all(type(size) is int and size >= 0 for size in port.shape)
    return sizes_are_right and math.prod(port.shape) <= LARGEST_PORT and len(port.ranges) in (0, port.size)


def _is_range(pair: Any) -> bool:
    numbers = isinstance(pair, tuple) and len(pair) == 2 and all(type(x) in (float, int) for x in pair)
    return numbers and all(map(math.isfinite, pair)) and bool(pair[0] <= pair[1])


def _is_instruction(instruction: Instruction, k: int, inputs: tuple[Port, ...], wide: bool) -> bool:
    op, (port, index) = instruction.op, instruction.place
    if op in _NEVER or (op in _WIDE and not wide):
        return False
    n_arguments = 0 if op in FREE else 2 if op in BINARY or op is Op.LANE else 1
    # Only earlier values: the order of the list is the order of execution.
    if len(instruction.args) != n_arguments or not all(_is_index(value, k) for value in instruction.args):
        return False
    if op is Op.INPUT:
        return _is_index(port, len(inputs)) and _is_index(index, inputs[port].size)
    if op is Op.UNIT:
        return _is_index(index, LANES)
    return op is not Op.CONSTANT or (type(instruction.number) in (float, int) and math.isfinite(instruction.number))


def _is_index(value: Any, end: int) -> bool:
    return type(value) is int and 0 <= value < end
