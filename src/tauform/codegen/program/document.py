"""Programs as JSON and back: nothing but numbers, texts and lists, so that reading one cannot run anything."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any

import numpy as np

from tauform.codegen.program.port import Port
from tauform.codegen.program.program import About, Candidate, Certificate, Instruction, Op, Program
from tauform.codegen.program.soundness import check_sound
from tauform.documents import parse_json
from tauform.errors import VerificationError

TYPES = {kind.__name__: kind for kind in (Program, Port, Certificate, Candidate, About)}
_OPS = {op.value: op for op in Op}


def encoded(program: Program) -> bytes:
    """The whole program, the bits of its numbers included; equal programs give equal bytes."""
    # Python writes the shortest digits that read back as the same double.
    return json.dumps(_document(program), separators=(",", ":")).encode()


def decoded(data: bytes) -> Program:
    """The program of such a text.

    Raises:
        ValueError: it is none.
    """
    try:
        program = _value(parse_json(data))
    except (KeyError, TypeError, AttributeError, IndexError, OverflowError, VerificationError) as error:
        raise ValueError(f"no program: {error}") from None
    # Lists in lists of a forged file.
    except RecursionError:
        raise ValueError("no program: nested too deeply") from None
    if not isinstance(program, Program):
        raise ValueError("no program")
    # What is read may be forged: an operand that points ahead would make a compiler read past its arrays.
    check_sound(program)
    return program


def _document(value: Any) -> Any:
    if type(value) in TYPES.values():
        named = {part.name: getattr(value, part.name) for part in fields(value)}
        if isinstance(value, Program):
            # Lists in place of tables with names: programs have thousands of them.
            instructions = [[i.op.value, list(i.args), i.number, *i.place] for i in named.pop("instructions")]
            return {"type": "Program", "instructions": instructions, **{k: _document(v) for k, v in named.items()}}
        return {"type": type(value).__name__, **{k: _document(v) for k, v in named.items()}}
    if isinstance(value, np.ndarray):
        return {"type": "array", "shape": list(value.shape), "values": [float(x) for x in value.ravel()]}
    # Pairs, since keys of JSON are texts only, and the order is part of the program.
    if isinstance(value, dict):
        return {"type": "dict", "items": [[key, _document(item)] for key, item in value.items()]}
    if isinstance(value, tuple | list):
        return [_document(item) for item in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value.item() if isinstance(value, np.generic) else value
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"a program that holds a {type(value).__name__} cannot be kept")


def _value(found: Any) -> Any:
    if isinstance(found, list):
        return tuple(map(_value, found))
    if not isinstance(found, dict):
        return found
    # Only types that are listed here are made, whatever the text names.
    kind = found.pop("type")
    if kind == "array":
        return np.array(found["values"], dtype=np.float64).reshape(found["shape"])
    if kind == "dict":
        return {key: _value(item) for key, item in found["items"]}
    if kind == "Program":
        found["instructions"], kept = None, [_instruction(*entry) for entry in found["instructions"]]
        return Program(**{**{name: _value(item) for name, item in found.items()}, "instructions": tuple(kept)})
    return TYPES[kind](**{name: _value(item) for name, item in found.items()})


def _instruction(op: str, args: list[int], number: float, port: int, index: int) -> Instruction:
    return Instruction(_OPS[op], tuple(args), number, (port, index))
