"""Machine instructions of x86-64 with AVX2 or AVX-512, in the spelling of AT&T, as LLVM's assembler reads it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tauform.codegen.backends.llvm.planned.layout import TABLE
from tauform.codegen.backends.llvm.planned.operands import CACHE_LINE, Operands
from tauform.codegen.backends.llvm.planned.registers import Line, Place
from tauform.codegen.backends.llvm.planned.rows import ORDERS, rows

# Registers that may hold addresses; of sixteen, one is the stack's and one may be the frame's.
ADDRESSES = 13
FIRST_CONSTANT = Place("constant", 0)


@dataclass(frozen=True)
class Machine(Operands):
    """Prints instructions.

    Attributes:
        sign: the constant -0.0.
    """

    sign: Place = FIRST_CONSTANT

    def beginning(self) -> list[str]:
        """Instructions before all others: the orders of `table` into the registers that hold them."""
        if not self.joins:
            return []
        # The orders stand behind the constants, each of them 64 bytes.
        start = len(self.laid_out.order[TABLE]) * self.vector.scalar.size
        return [f"vmovupd {self.at(*self.laid_out.at(TABLE, start + 64 * k))}, %zmm{30 + k}" for k in range(2)]

    def table(self, numbers: Sequence[float]) -> str:
        """`@table` of constants, as bits: one of each where reading spreads them, else one per lane."""
        real = self.vector.scalar
        kind = f"i{real.bits}"
        ordered = [numbers[place.index] for place in self.laid_out.order[TABLE]]
        bits = [int(real.dtype(number).view(f"u{real.size}")) for number in ordered]
        # Wide instructions spread a number from memory themselves: the table is an eighth or sixteenth as long.
        entries = bits if self.is_wide else [entry for entry in bits for _ in range(self.vector.lanes)]
        entries += [entry for order in ORDERS for entry in order] if self.joins else []
        listed = ", ".join(f"{kind} {entry}" for entry in entries)
        return f"@table = internal constant [{len(entries)} x {kind}] [{listed}], align {CACHE_LINE}"

    def text(self, line: Line) -> Iterator[str]:
        """One line, or those of a group of rows."""
        kind = self.kind
        if line.op == "rows":
            yield from rows(self, line)
        elif line.op in ("load", "move", "store"):
            yield self.moved(line.sources[0], line.target)
        elif line.op == "negate":
            # exclusive or with the sign; on wide vectors only integers spread a number from memory
            name = f"vpxor{'q' if self.vector.scalar.bits == 64 else 'd'}" if self.is_wide else f"vxor{kind}"
            yield f"{name} {self.operand(self.sign)}, {self._both(line)}"
        elif line.op == "sqrt":
            yield f"vsqrt{kind} {self._both(line)}"
        else:
            first, second = line.sources
            # AT&T writes the sources in reverse, the target last.
            yield f"v{line.op}{kind} {self.operand(second)}, {self.operand(first)}, {self.operand(line.target)}"

    def prefetches(self) -> list[str]:
        """One for each cache line of what the next block stores: it arrives while this one is computed."""
        bytes_of = [port.size * self.vector.scalar.size * self.vector.lanes for port in self.outputs]
        return [
            # Behind this block's rows: outputs are dense, so the next block starts where this one ends.
            f"prefetchw {size + offset}(${k})"
            for k, size in enumerate(bytes_of)
            for offset in range(0, size, CACHE_LINE)
        ]

    def _both(self, line: Line) -> str:
        return f"{self.operand(line.sources[0])}, {self.operand(line.target)}"
