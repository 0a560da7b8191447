"""Operands of instructions on vectors of x86-64, in the spelling of AT&T, as LLVM's assembler reads it.

$0, $1, ... are the addresses of a block's outputs, then those of the layout's bases.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tauform.codegen.backends.llvm.planned.layout import SCRATCH, TABLE, Area, MemoryLayout
from tauform.codegen.backends.llvm.planned.registers import Line, Operand, Place
from tauform.codegen.backends.llvm.text import Vector
from tauform.codegen.program.port import Port

# Bytes of a cache line.
CACHE_LINE = 64


@dataclass(frozen=True)
class Operands:
    """Registers and places in memory, for vectors of 256 or 512 bits.

    Attributes:
        outputs: the ports whose rows are stored, one row after the other.
        layout: where vectors stand in memory.
    """

    vector: Vector
    outputs: Sequence[Port] = ()
    layout: MemoryLayout | None = None

    @property
    def is_wide(self) -> bool:
        """512 bits: twice the registers, and constants are spread while they are read."""
        return self.size == CACHE_LINE

    @property
    def size(self) -> int:
        """Bytes of a vector."""
        return self.vector.lanes * self.vector.scalar.size

    @property
    def registers(self) -> int:
        """Registers for values; two hold the orders in which wide vectors of doubles are joined."""
        # AVX-512 has 32 registers, AVX2 has 16.
        return (30 if self.joins else 32) if self.is_wide else 16

    @property
    def for_rows(self) -> int:
        """Registers that a group of rows overwrites."""
        return 3 if self.joins else 5

    @property
    def areas(self) -> dict[str, Area]:
        """Sizes of entries; one byte counts whole entries of wide vectors, else bytes."""
        if self.is_wide:
            number = self.vector.scalar.size
            # AVX-512 counts a one-byte distance in operands, and a spread constant is one number.
            return {SCRATCH: Area(self.size, 256 * self.size), TABLE: Area(number, 256 * number)}
        return {SCRATCH: Area(self.size, 256), TABLE: Area(self.size, 256)}

    @property
    def clobbered(self) -> list[str]:
        """All registers of vectors."""
        return [self.register(k) for k in range(32 if self.is_wide else 16)]

    @property
    def joins(self) -> bool:
        """Whether rows are made by joining two vectors in an order that a register holds."""
        return self.is_wide and self.vector.scalar.bits == 64

    @property
    def kind(self) -> str:
        """How names of instructions end."""
        return "pd" if self.vector.scalar.bits == 64 else "ps"

    @property
    def laid_out(self) -> MemoryLayout:
        """The layout, which is there when instructions are printed."""
        assert self.layout is not None
        return self.layout

    def register(self, number: int, name: str = "") -> str:
        """Name of a register."""
        return f"{name or ('zmm' if self.is_wide else 'ymm')}{number}"

    def operand(self, operand: Operand) -> str:
        """A register, or a place in memory."""
        if not isinstance(operand, Place):
            return f"%{self.register(operand)}"
        spread = f"{{1to{self.vector.lanes}}}" if operand.kind == "constant" and self.is_wide else ""
        return self.at(*self.laid_out.address(operand)) + spread

    def at(self, base: int, distance: int) -> str:
        """Operand so many bytes from a base of the layout."""
        return f"{distance}(${len(self.outputs) + base})"

    def moved(self, source: Operand, target: Operand) -> str:
        """The instruction that loads, stores or copies."""
        if isinstance(source, Place) and source.kind == "constant" and self.is_wide:
            # A broadcast load has no {1toN}: the instruction itself spreads.
            place = self.operand(source).partition("{")[0]
            return f"vbroadcasts{self.kind[1]} {place}, {self.operand(target)}"
        # Aligned moves: scratch and table are, and rows of outputs go another way.
        return f"vmova{self.kind} {self.operand(source)}, {self.operand(target)}"

    def row(self, line: Line, row: int) -> str:
        """Where a row of a group is stored."""
        port, column = line.place
        # $<port>: outputs are the first arguments of the assembly.
        return f"{(row * self.outputs[port].size + column) * self.vector.scalar.size}(${port})"
