"""Damage to good files: text by words and lines, bytes by bits and numbers, archives and trees by their parts.

Every function takes a random generator, so that a case is its reader's name and a number.
"""

from __future__ import annotations

import io
import json
import re
import struct
import zipfile
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import numpy as np

NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
WORD = re.compile(rb"[A-Za-z_]\w*")
TOKEN = re.compile(rb"[A-Za-z_]\w*|-?\d+(?:\.\d+)?|[<>/=,\[\]{}\"]")

# What people and broken exporters write in place of a number.
NUMBERS = [b"0", b"-1", b"1e308", b"-1e308", b"1e-320", b"nan", b"inf", b"-inf", b"", b"1,5", b"0x10", b"abc", b"1e",
           b"1 2", b"99999999999999999999", b"true", b"[]", b"'", b"\xff", b"-0.0", b"1e-9", b"3.14159", b"9" * 400,
           b"9" * 5000, b"1e999", b"5e-324", b"1_000", "٣".encode(), b"{}", b"null"]  # fmt: skip
WORDS = [b"", b"world", b"revolute", b"prismatic", b"floating", b"mimic", b"fixed", b"link1", b"joint1", b"nan",
         b"mass", b"inertia", "é漢😀".encode(), b"__class__", b"../..", b"%s", b"{}", b"[red]", b"planar", b"\x1b[31m",
         b"\x00", b"${1/0}", b"a" * 3000, b"&lt;", b"<!--", b"-->", b"]]>"]  # fmt: skip
JUNK = [b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\xe9", b"\r\n", b"\n", b"\t", b"<", b">", b'"', b"'", b"[", b"]", b"{",
        b"}", b"=", b",", b";", b"#", b"[" * 3000, b"<a>" * 3000, b"{" * 3000, b"((((" * 500, b"!" * 70000]  # fmt: skip
EXTREMES = [0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 2**62, 2**63, 2**64 - 1]

Mutation = Callable[[Random, bytes], bytes]


def _place(rng: Random, data: bytes) -> int:
    return rng.randrange(len(data) + 1)


def _replaced(pattern: re.Pattern[bytes], choose: Callable[[Random, list[re.Match[bytes]]], bytes]) -> Mutation:
    def mutation(rng: Random, data: bytes) -> bytes:
        found = list(pattern.finditer(data))
        if not found:
            return data
        match = rng.choice(found)
        return data[: match.start()] + choose(rng, found) + data[match.end() :]

    return mutation


def plausible(rng: Random, found: Sequence[Any]) -> bytes:
    """A number that a robot might have, so that many damaged files are still read to the end."""
    return f"{rng.uniform(-3, 3):.4g}".encode()


def truncated(rng: Random, data: bytes) -> bytes:
    """A part from the start."""
    return data[: rng.randrange(len(data))] if data else data


def removed(rng: Random, data: bytes) -> bytes:
    """The data without some bytes."""
    at = _place(rng, data)
    return data[:at] + data[at + rng.choice([1, 2, 4, 8, 50, 200]) :]


def inserted(rng: Random, data: bytes) -> bytes:
    """The data with junk."""
    at = _place(rng, data)
    return data[:at] + rng.choice([rng.choice(JUNK), rng.randbytes(rng.randint(1, 8))]) + data[at:]


def repeated(rng: Random, data: bytes) -> bytes:
    """The data with a part twice."""
    at, length = _place(rng, data), rng.choice([1, 8, 64, 500])
    return data[:at] + data[at : at + length] + data[at:]


def flipped(rng: Random, data: bytes) -> bytes:
    """The data with other bits."""
    damaged = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 8])):
        if damaged:
            damaged[rng.randrange(len(damaged))] ^= 1 << rng.randrange(8)
    return bytes(damaged)


def renumbered(rng: Random, data: bytes) -> bytes:
    """The data with a binary number at its limits."""
    width, code = rng.choice([(1, "B"), (2, "H"), (4, "I"), (8, "Q")])
    at = _place(rng, data)
    return data[:at] + struct.pack(f"<{code}", rng.choice(EXTREMES) % 2 ** (8 * width)) + data[at + width :]


def relined(rng: Random, data: bytes) -> bytes:
    """The text with a line lost, doubled or exchanged with another."""
    lines = data.split(b"\n")
    i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
    how = rng.randrange(3)
    if how == 0:
        del lines[i]
    elif how == 1:
        lines.insert(j, lines[i])
    else:
        lines[i], lines[j] = lines[j], lines[i]
    return b"\n".join(lines)


def swapped(rng: Random, data: bytes) -> bytes:
    """The text with two tokens exchanged."""
    found = list(TOKEN.finditer(data))
    if len(found) < 2:
        return data
    a, b = sorted(rng.sample(found, 2), key=lambda match: match.start())
    return data[: a.start()] + b[0] + data[a.end() : b.start()] + a[0] + data[b.end() :]


def reencoded(rng: Random, data: bytes) -> bytes:
    """The text in another encoding."""
    text = data.decode("utf-8", "replace")
    return rng.choice(
        [
            text.encode("utf-16"),
            text.encode("latin-1", "replace"),
            text.encode("utf-8-sig"),
            data.replace(b"\n", b"\r\n"),
            data.replace(b"e", b"\xe9", 1),
            data.replace(b"\n", b"\x00", 1),
        ]
    )


def _other(rng: Random, found: list[re.Match[bytes]]) -> bytes:
    return rng.choice(found)[0]


_GENTLE = _replaced(NUMBER, plausible)
TEXT: tuple[Mutation, ...] = (
    *[_GENTLE] * 9,
    *[_replaced(NUMBER, lambda rng, found: rng.choice(NUMBERS))] * 3,
    *[_replaced(WORD, lambda rng, found: rng.choice(WORDS))] * 2,
    _replaced(WORD, _other),
    *(swapped, relined, relined, removed, inserted, repeated, reencoded, truncated),
)
BINARY: tuple[Mutation, ...] = (
    flipped,
    flipped,
    flipped,
    renumbered,
    renumbered,
    removed,
    inserted,
    repeated,
    truncated,
)


def damaged_by(mutations: Sequence[Mutation]) -> Mutation:
    """One to three of these, one after another."""

    def damage(rng: Random, data: bytes) -> bytes:
        for _ in range(rng.choice([1, 1, 1, 2, 3])):
            data = rng.choice(mutations)(rng, data)
        return data

    return damage


damaged_text, damaged_binary = damaged_by(TEXT), damaged_by(BINARY)

# What stands in place of a value in a tree of lists, tables, texts and numbers.
ODD: list[Any] = [None, True, False, 0, -1, 10**30, 10**400, 1e300, 1e-320, float("nan"), float("inf"), "", "x", "é漢",
                  [], {}, [[]], [1, 2], {"a": 1}, "9" * 5000, 2, 3.5, -3.5, [[[[1]]]]]  # fmt: skip


def damaged_tree(rng: Random, tree: Any) -> Any:
    """A tree with one value, key or entry changed."""
    if isinstance(tree, dict | list) and tree and rng.random() < 0.85:
        keys = list(tree) if isinstance(tree, dict) else range(len(tree))
        key = rng.choice(list(keys))
        copy: Any = dict(tree) if isinstance(tree, dict) else list(tree)
        how = rng.random()
        if how < 0.08:
            del copy[key]
        elif how < 0.14 and isinstance(copy, list):
            copy.append(copy[key])
        elif how < 0.2 and isinstance(copy, dict):
            copy[rng.choice(["x", "", *map(str, keys)])] = copy[key]
        else:
            copy[key] = damaged_tree(rng, copy[key])
        return copy
    if isinstance(tree, float) and rng.random() < 0.4:
        return rng.uniform(-3, 3)
    return rng.choice(ODD)


def json_text(tree: Any) -> str:
    """A tree as JSON, with what JSON has no word for."""
    return json.dumps(tree)


def packed(arrays: dict[str, Any]) -> bytes:
    """An .npz of arrays; bytes go in as they are."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, content in arrays.items():
            own = io.BytesIO()
            if isinstance(content, bytes):
                own.write(content)
            else:
                np.save(own, content, allow_pickle=True)
            archive.writestr(f"{name}.npy", own.getvalue())
    return stream.getvalue()


def damaged_array(rng: Random, array: Any) -> Any:
    """An array of another shape, type or content, as another program might have written it."""
    flat = array.reshape(-1)
    with np.errstate(all="ignore"):
        choices: list[Callable[[], Any]] = [
            lambda: flat[:0],
            lambda: flat,
            lambda: array[: len(array) // 2] if array.ndim else flat,
            lambda: np.array(["a", "b"]),
            lambda: np.full(array.shape, 2**62 if array.dtype.kind in "iu" else 1e300).astype(array.dtype),
            lambda: (-np.ones(array.shape)).astype(array.dtype) if array.dtype.kind in "fiub" else flat,
            lambda: np.full(array.shape, np.nan),
            lambda: array.astype(complex) if array.dtype.kind in "fiub" else flat,
            lambda: array.astype(np.float32) if array.dtype.kind == "f" else flat[::-1],
            lambda: np.array([{}], dtype=object),
            lambda: array[..., None],
            lambda: np.concatenate([array, array]) if array.ndim else flat,
            lambda: damaged_binary(rng, _npy(array)),
            lambda: _with_one(rng, array),
            lambda: _with_one(rng, array),
        ]
        return rng.choice(choices)()


def _npy(array: Any) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def _with_one(rng: Random, array: Any) -> Any:
    """One entry replaced."""
    copy = array.copy()
    if copy.size and copy.dtype.kind in "fiu":
        odd = [np.nan, np.inf, 1e300, -1.0, 0.0] if copy.dtype.kind == "f" else [0, -1, 100, np.iinfo(copy.dtype).max]
        copy.reshape(-1)[rng.randrange(copy.size)] = np.array(rng.choice(odd)).astype(copy.dtype)
    return copy
