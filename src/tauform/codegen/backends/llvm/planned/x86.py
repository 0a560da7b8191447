"""Machine instructions of x86-64 with AVX2 or AVX-512, in the spelling of AT&T, as LLVM's assembler reads it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tauform.codegen.backends.llvm.planned.layout import TABLE
from tauform.codegen.backends.llvm.planned.operands import CACHE_LINE, Operands
from tauform.codegen.backends.llvm.planned.registers import Line, Place

# Registers that may hold addresses; of sixteen, one is the stack's and one may be the frame's.
ADDRESSES = 13
FIRST_CONSTANT = Place("constant", 0)

# Pairs of rows of two vectors of eight doubles side by side: rows 0 to 3, rows 4 to 7.
ORDERS = ((0, 1, 8, 9, 2, 3, 10, 11), (4, 5, 12, 13, 6, 7, 14, 15))


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


# Four columns of a block, transposed and stored row by row.
#
# What moves within 128 bits is cheap, and so are stores of a part of a vector; the ways differ in how many rows a
# vector holds.


def rows(operands: Operands, line: Line) -> Iterator[str]:
    """Four columns, transposed and stored row by row."""
    if operands.joins:
        yield from _rows_by_joining(operands, line)
    elif operands.vector.scalar.bits == 64:
        yield from _rows_by_halves(operands, line)
    else:
        yield from _rows_by_quarters(operands, line)


def _paired(operands: Operands, line: Line, kind: str) -> Iterator[str]:
    """free 0 and 1: low and high pairs of columns 0 and 1; free 2 and 3: those of columns 2 and 3."""
    for k in (0, 2):
        first, second = line.sources[k], operands.operand(line.sources[k + 1])
        low, high = line.free[k], line.free[k + 1]
        # unpack takes memory as its second source only; the first comes into the register it will overwrite.
        if isinstance(first, Place):
            yield operands.moved(first, low)
            first = low
        # High before low: low may stand in the register of the first source.
        yield f"vunpckh{kind} {second}, {operands.operand(first)}, {operands.operand(high)}"
        yield f"vunpckl{kind} {second}, {operands.operand(first)}, {operands.operand(low)}"


def _rows_by_halves(operands: Operands, line: Line) -> Iterator[str]:
    """Doubles, four lanes: rows 0 and 2 are halves of the low pairs, 1 and 3 of the high ones."""
    yield from _paired(operands, line, "pd")
    for side in (0, 1):
        pair, other, whole = (operands.register(line.free[k]) for k in (side, 2 + side, 4))
        narrow = operands.register(line.free[2 + side], "xmm")
        # $$ is a plain $ in LLVM's inline assembly, where $0 is an argument.
        yield f"vinsertf128 $$1, %{narrow}, %{pair}, %{whole}"
        yield f"vmovupd %{whole}, {operands.row(line, side)}"
        # 0x31: the upper halves of both.
        yield f"vperm2f128 $$0x31, %{other}, %{pair}, %{pair}"
        yield f"vmovupd %{pair}, {operands.row(line, 2 + side)}"


def _rows_by_joining(operands: Operands, line: Line) -> Iterator[str]:
    """Doubles, eight lanes: pairs of rows of columns 0 and 2, and of 1 and 3, side by side; then interleaved."""
    a, b, c, d = line.sources
    x, y, low = (f"%{operands.register(k)}" for k in line.free)
    for half in (0, 1):
        # vpermt2pd overwrites its first source: each half begins with a fresh copy.
        yield operands.moved(a, line.free[0])
        yield f"vpermt2pd {operands.operand(c)}, %zmm{30 + half}, {x}"
        yield operands.moved(b, line.free[1])
        yield f"vpermt2pd {operands.operand(d)}, %zmm{30 + half}, {y}"
        yield f"vunpcklpd {y}, {x}, {low}"
        # x is overwritten last: the low rows were made from it.
        yield f"vunpckhpd {y}, {x}, {x}"
        for side, number in enumerate((line.free[2], line.free[0])):
            row = 4 * half + side
            yield f"vmovupd %ymm{number}, {operands.row(line, row)}"
            yield f"vextractf64x4 $$1, %zmm{number}, {operands.row(line, row + 2)}"


def _rows_by_quarters(operands: Operands, line: Line) -> Iterator[str]:
    """Floats: rows r, r + 4, ... are the quarters of 128 bits of one vector."""
    yield from _paired(operands, line, "ps")
    # AVX-512 counts four quarters, AVX2 two halves.
    extract = "vextractf32x4" if operands.is_wide else "vextractf128"
    for half in (0, 1):
        first, second = (f"%{operands.register(line.free[k + half])}" for k in (0, 2))
        spare = line.free[4]
        yield f"vunpcklpd {second}, {first}, {operands.operand(spare)}"
        yield f"vunpckhpd {second}, {first}, {first}"
        for side, number in enumerate((spare, line.free[half])):
            yield f"vmovups %xmm{number}, {operands.row(line, 2 * half + side)}"
            for quarter in range(1, operands.vector.lanes // 4):
                row = 4 * quarter + 2 * half + side
                yield f"{extract} $${quarter}, %{operands.register(number)}, {operands.row(line, row)}"
