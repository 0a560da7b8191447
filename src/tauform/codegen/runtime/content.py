"""Digest of all that results depend on: the robot by its fields, the package by its files."""

from __future__ import annotations

import hashlib
import os
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tauform.version import __version__

# Rooms whose code makes programs and machine code.
ROOMS = ("portable", "description", "rigidbody", "closedform", "codegen", "fast", "simulation")
# Fields of a description that no program depends on.
SILENT = frozenset({"notes", "shapes", "visuals", "held"})


@cache
def package() -> str:
    """Version of the package and sizes and times of its files: entries of edited code are not found again."""
    root = Path(__file__).resolve().parents[2]
    digest = hashlib.sha256(__version__.encode())
    for room in ROOMS:
        for folder, subfolders, names in os.walk(root / room):
            subfolders.sort()
            for name in sorted(name for name in names if name.endswith(".py")):
                found = os.stat(os.path.join(folder, name))
                digest.update(f"{name} {found.st_size} {found.st_mtime_ns};".encode())
    return digest.hexdigest()


def content(value: Any) -> str:
    """Digest of a description and of plain values: equal digests mean equal content, to the bit.

    Raises:
        TypeError: it holds what has no such form.
    """
    digest = hashlib.sha256()
    _update(digest, value)
    return digest.hexdigest()


def _update(digest: Any, value: Any) -> None:
    if is_dataclass(value) and not isinstance(value, type):
        digest.update(f"<{type(value).__qualname__}".encode())
        # By the type's name and its fields, so that a renamed or added field makes new keys.
        for part in fields(value):
            if part.name not in SILENT:
                digest.update(part.name.encode() + b"=")
                _update(digest, getattr(value, part.name))
        digest.update(b">")
    elif isinstance(value, np.ndarray):
        digest.update(f"[{value.dtype.str}{value.shape}".encode() + np.ascontiguousarray(value).tobytes() + b"]")
    elif isinstance(value, tuple | list):
        digest.update(f"({len(value)}:".encode())
        for item in value:
            _update(digest, item)
    elif value is None or isinstance(value, bool | int | float | str | np.generic):
        # To the bit: repr would do, hex cannot be misread.
        text = value.hex() if isinstance(value, float) else repr(value)
        digest.update(f"{type(value).__name__}:{len(text)}:{text};".encode())
    else:
        raise TypeError(f"{type(value).__name__} has no digest")
