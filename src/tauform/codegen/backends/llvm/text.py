"""LLVM's assembly text: vector types, constants, and the small functions that the kernel's loop is made of."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Vector:
    """A vector type of `lanes` doubles; `fuses` where the processor has multiply-add."""

    lanes: int
    fuses: bool = False

    @property
    def real(self) -> str:
        return f"<{self.lanes} x double>"

    @property
    def integer(self) -> str:
        return f"<{self.lanes} x i64>"

    @property
    def mask(self) -> str:
        return f"<{self.lanes} x i1>"

    def number(self, value: float) -> str:
        """The constant in all lanes, exactly."""
        bits = struct.unpack("<Q", struct.pack("<d", value))[0]
        return "<" + ", ".join([f"double 0x{bits:016X}"] * self.lanes) + ">"

    def unit(self, lane: int) -> str:
        """The constant with a one in one lane and zeros in the others."""
        return "<" + ", ".join(f"double {float(k == lane)!r}" for k in range(self.lanes)) + ">"

    def integers(self, value: int) -> str:
        return "<" + ", ".join([f"i64 {value}"] * self.lanes) + ">"


class Block:
    """Lines of one basic block after another, with fresh names."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._count = 0

    def emit(self, line: str) -> None:
        self.lines.append(f"  {line}")

    def label(self, name: str) -> None:
        self.lines.append(f"{name}:")

    def let(self, expression: str) -> str:
        """Assign an expression to a fresh name."""
        name = f"%x{self._count}"
        self._count += 1
        self.emit(f"{name} = {expression}")
        return name

    def shuffle(self, a: str, b: str, n: int, picks: Sequence[int]) -> str:
        """Entries of two vectors of n doubles, chosen by index."""
        order = ", ".join(f"i32 {k}" for k in picks)
        return self.let(f"shufflevector <{n} x double> {a}, <{n} x double> {b}, <{len(picks)} x i32> <{order}>")

    def concatenate(self, vectors: Sequence[str], n: int) -> str:
        """A power of two of vectors of n doubles, one after the other."""
        names = list(vectors)
        while len(names) > 1:
            pairs = zip(names[::2], names[1::2], strict=True)
            names = [self.shuffle(a, b, n, range(2 * n)) for a, b in pairs]
            n *= 2
        return names[0]
