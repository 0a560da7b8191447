"""LLVM's assembly text: vector types, constants, and the small functions that the kernel's loop is made of."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tauform.portable import exponential, sincos
from tauform.portable.exponential import Exponential
from tauform.portable.sincos import SinCos


@dataclass(frozen=True)
class ScalarType:
    """A floating-point type.

    Attributes:
        name: as LLVM spells it.
        bits: width.
        dtype: the same type of NumPy.
        numpy_number: NumPy's number for it.
    """

    name: str
    bits: int
    dtype: type[np.floating]
    numpy_number: int
    sincos: SinCos
    exponential: Exponential

    @property
    def size(self) -> int:
        """Bytes of a number."""
        return self.bits // 8


# 12 and 11: NPY_DOUBLE and NPY_FLOAT of NumPy's C interface.
DOUBLE = ScalarType("double", 64, np.float64, 12, sincos.DOUBLE, exponential.DOUBLE)
FLOAT = ScalarType("float", 32, np.float32, 11, sincos.FLOAT, exponential.FLOAT)


@dataclass(frozen=True)
class Vector:
    """A vector type of `lanes` numbers; `fuses` where the processor has multiply-add."""

    lanes: int
    fuses: bool = False
    scalar: ScalarType = DOUBLE

    @property
    def real(self) -> str:
        return f"<{self.lanes} x {self.scalar.name}>"

    @property
    def integer(self) -> str:
        return f"<{self.lanes} x i{self.scalar.bits}>"

    @property
    def suffix(self) -> str:
        """Ending of the names of LLVM's functions on such vectors."""
        return f"v{self.lanes}f{self.scalar.bits}"

    @property
    def mask(self) -> str:
        return f"<{self.lanes} x i1>"

    def number(self, value: float) -> str:
        """The constant in all lanes, exactly."""
        # LLVM writes the bits of a double for numbers of either type
        bits = struct.unpack("<Q", struct.pack("<d", float(self.scalar.dtype(value))))[0]
        return "<" + ", ".join([f"{self.scalar.name} 0x{bits:016X}"] * self.lanes) + ">"

    def unit(self, lane: int) -> str:
        """The constant with a one in one lane and zeros in the others."""
        return "<" + ", ".join(f"{self.scalar.name} {float(k == lane)!r}" for k in range(self.lanes)) + ">"

    def integers(self, value: int) -> str:
        return "<" + ", ".join([f"i{self.scalar.bits} {value}"] * self.lanes) + ">"


class Block:
    """Lines of one basic block after another, with fresh names."""

    def __init__(self, scalar: str = DOUBLE.name) -> None:
        self.scalar = scalar
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
        """Entries of two vectors of n numbers, chosen by index."""
        order = ", ".join(f"i32 {k}" for k in picks)
        kind = f"<{n} x {self.scalar}>"
        return self.let(f"shufflevector {kind} {a}, {kind} {b}, <{len(picks)} x i32> <{order}>")

    def concatenate(self, vectors: Sequence[str], n: int) -> str:
        """A power of two of vectors of n numbers, one after the other."""
        names = list(vectors)
        while len(names) > 1:
            # A balanced tree: as many shuffles as a chain, and shorter in depth.
            pairs = zip(names[::2], names[1::2], strict=True)
            names = [self.shuffle(a, b, n, range(2 * n)) for a, b in pairs]
            n *= 2
        return names[0]
