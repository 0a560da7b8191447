"""Strategies that damage a good file: text by words and by bytes, so that some damage is read deep into the program."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
WORD = re.compile(rb"[A-Za-z_]\w*")

# What people and broken exporters write in place of a number.
NUMBERS = [b"0", b"-1", b"1e308", b"-1e308", b"1e-320", b"nan", b"inf", b"", b"1,5", b"0x10", b"abc", b"1e", b"1 2",
           b"99999999999999999999", b"true", b"[]", b"'", b"\xff", b"-0.0", b"1e-9", b"3.14159"]  # fmt: skip
WORDS = [b"", b"world", b"revolute", b"prismatic", b"floating", b"mimic", b"fixed", b"link1", b"joint1", b"nan",
         b"mass", b"inertia", b"\xc3\xa9", b"__class__", b"../..", b"%s", b"{}", b"[red]", b"planar"]  # fmt: skip

Edit = Callable[[bytes], bytes]


def _replace(pattern: re.Pattern[bytes], at: float, by: bytes) -> Edit:
    def edit(data: bytes) -> bytes:
        found = list(pattern.finditer(data))
        if not found:
            return data
        match = found[int(at * len(found))]
        return data[: match.start()] + by + data[match.end() :]

    return edit


def _cut(at: float, length: int) -> Edit:
    return lambda data: data[: int(at * len(data))] + data[int(at * len(data)) + length :]


def _insert(at: float, junk: bytes) -> Edit:
    return lambda data: data[: int(at * len(data))] + junk + data[int(at * len(data)) :]


def _line(at: float, twice: bool) -> Edit:
    def edit(data: bytes) -> bytes:
        lines = data.split(b"\n")
        k = int(at * len(lines))
        return b"\n".join([*lines[:k], *([lines[k]] * (2 if twice else 0)), *lines[k + 1 :]])

    return edit


_place = st.floats(0, 1, exclude_max=True)
# Numbers that a robot might have, so that more than half of the damaged files are still read to the end.
_plausible = st.floats(-3, 3, allow_subnormal=False).map(lambda x: f"{x:.4g}".encode())
_gentle = st.builds(_replace, st.just(NUMBER), _place, _plausible)
_edits = st.one_of(
    _gentle,
    _gentle,
    _gentle,
    st.builds(_replace, st.just(NUMBER), _place, st.sampled_from(NUMBERS)),
    st.builds(_replace, st.just(WORD), _place, st.sampled_from(WORDS)),
    st.builds(_cut, _place, st.integers(1, 200)),
    st.builds(_insert, _place, st.binary(min_size=1, max_size=8)),
    st.builds(_line, _place, st.booleans()),
)


def damaged(originals: list[bytes]) -> st.SearchStrategy[bytes]:
    """One of the originals after one to three edits; sometimes nothing is left of it."""

    def apply(original: bytes, edits: list[Edit]) -> bytes:
        for edit in edits:
            original = edit(original)
        return original

    edited: Any = st.builds(apply, st.sampled_from(originals), st.lists(_edits, min_size=1, max_size=2))
    return st.one_of(edited, edited, edited, edited, edited, edited, edited, st.binary(max_size=60))
