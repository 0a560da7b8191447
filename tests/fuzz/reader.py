"""Reader: one kind of file, how it is damaged, and what must hold of whatever is accepted."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from fuzz.mutations import Mutation, damaged_array, damaged_binary, damaged_text, damaged_tree, packed
from tauform.errors import TauformError


class Rebuilt(TauformError):
    """What was kept was not used."""


def file_named(name: str) -> Callable[[Path, bytes], Path]:
    """Puts a file of that name into a folder."""

    def write(folder: Path, data: bytes) -> Path:
        (folder / name).write_bytes(data)
        return folder / name

    return write


def same(read: Any, whole: Any) -> bool:
    """Whether both are equal."""
    return bool(read == whole)


@dataclass(frozen=True, eq=False)
class Reader:
    """One kind of file.

    Attributes:
        originals: good files.
        read: reads a path, asserts what must hold, and returns what can be compared.
        write: puts a file where it is read.
        damage: changes a good file.
        may_be_cut: (what was read of a file that was cut, what the whole holds) -> whether that is right.
    """

    name: str
    originals: Sequence[bytes]
    read: Callable[[Path], Any]
    write: Callable[[Path, bytes], Path]
    damage: Mutation = damaged_text
    may_be_cut: Callable[[Any, Any], bool] = same


# Good files that a campaign begins with are worked with whatever their share: modules are imported once, and not by
# every child.
ALL = False


def share(path: Path, part: int) -> bool:
    """Whether a file is one of so many, by its content."""
    return ALL or hashlib.sha256(path.read_bytes()).digest()[0] % part == 0


def damaged_archive(arrays: dict[str, Any], texts: dict[str, Callable[[str], Any]]) -> Mutation:
    """Damage to the bytes of an archive, to one of its arrays, or to what its texts hold.

    Args:
        texts: name of an array that holds JSON or TOML -> how it becomes an array again.
    """

    def damage(rng: Random, data: bytes) -> bytes:
        how = rng.random()
        if how < 0.2:
            return damaged_binary(rng, data)
        changed = dict(arrays)
        if how < 0.6:
            name = rng.choice(sorted(arrays))
            changed[name] = damaged_array(rng, arrays[name])
            if rng.random() < 0.05:
                del changed[name]
            return packed(changed)
        name = rng.choice(sorted(texts))
        changed[name] = texts[name](_damaged_json(rng, arrays, name))
        return packed(changed)

    return damage


def _damaged_json(rng: Random, arrays: dict[str, Any], name: str) -> str:
    held = arrays[name]
    text = held.tobytes().decode() if held.dtype == np.uint8 else str(held)
    if rng.random() < 0.5 and text.startswith("{"):
        return json.dumps(damaged_tree(rng, json.loads(text)))
    return damaged_text(rng, text.encode()).decode("utf-8", "replace")
