"""Machine instructions of x86-64 with AVX2 or AVX-512, in the spelling of AT&T, as LLVM's assembler reads it.

Operands $0, $1, ... are the addresses of a block's outputs, then those of the layout's bases.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tauform.codegen.backends.llvm.planned.layout import SCRATCH, TABLE, Area, Layout
from tauform.codegen.backends.llvm.planned.registers import Line, Operand, Place
from tauform.codegen.backends.llvm.text import Vector
from tauform.codegen.program.port import Port

# Registers that may hold addresses; of sixteen, one is the stack's and one may be the frame's.
ADDRESSES = 13
# Pairs of rows of two vectors of eight doubles side by side: rows 0 to 3, rows 4 to 7.
ORDERS = ((0, 1, 8, 9, 2, 3, 10, 11), (4, 5, 12, 13, 6, 7, 14, 15))
# Bytes of a cache line.
CACHE_LINE = 64
FIRST_CONSTANT = Place("constant", 0)


@dataclass(frozen=True)
class Machine:
    """Prints instructions on vectors of 256 or 512 bits.

    Attributes:
        outputs: the ports whose rows are stored, one row after the other.
        layout: where vectors stand in memory.
        sign: the constant -0.0.
    """

    vector: Vector
    outputs: Sequence[Port] = ()
    layout: Layout | None = None
    sign: Place = FIRST_CONSTANT

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
        return (30 if self._joins else 32) if self.is_wide else 16

    @property
    def for_rows(self) -> int:
        """Registers that a group of rows overwrites."""
        return 3 if self._joins else 5

    @property
    def areas(self) -> dict[str, Area]:
        """Sizes of entries; one byte counts whole entries of wide vectors, else bytes."""
        if self.is_wide:
            number = self.vector.scalar.size
            return {SCRATCH: Area(self.size, 256 * self.size), TABLE: Area(number, 256 * number)}
        return {SCRATCH: Area(self.size, 256), TABLE: Area(self.size, 256)}

    @property
    def clobbered(self) -> list[str]:
        """All registers of vectors."""
        return [self._register(k) for k in range(32 if self.is_wide else 16)]

    @property
    def _joins(self) -> bool:
        return self.is_wide and self.vector.scalar.bits == 64

    @property
    def _kind(self) -> str:
        return "pd" if self.vector.scalar.bits == 64 else "ps"

    def beginning(self) -> list[str]:
        """Instructions before all others: the orders of `table` into the registers that hold them."""
        if not self._joins:
            return []
        start = len(self._laid_out.order[TABLE]) * self.vector.scalar.size
        return [f"vmovupd {self._at(*self._laid_out.at(TABLE, start + 64 * k))}, %zmm{30 + k}" for k in range(2)]

    def table(self, numbers: Sequence[float]) -> str:
        """`@table` of constants, as bits: one of each where reading spreads them, else one per lane."""
        real = self.vector.scalar
        kind = f"i{real.bits}"
        ordered = [numbers[place.index] for place in self._laid_out.order[TABLE]]
        bits = [int(real.dtype(number).view(f"u{real.size}")) for number in ordered]
        entries = bits if self.is_wide else [entry for entry in bits for _ in range(self.vector.lanes)]
        entries += [entry for order in ORDERS for entry in order] if self._joins else []
        listed = ", ".join(f"{kind} {entry}" for entry in entries)
        return f"@table = internal constant [{len(entries)} x {kind}] [{listed}], align {CACHE_LINE}"

    @property
    def _laid_out(self) -> Layout:
        assert self.layout is not None
        return self.layout

    def text(self, line: Line) -> Iterator[str]:
        """One line, or those of a group of rows."""
        kind = self._kind
        if line.op == "rows":
            yield from self._rows(line)
        elif line.op in ("load", "move", "store"):
            yield self._moved(line.sources[0], line.target)
        elif line.op == "negate":
            # exclusive or with the sign; on wide vectors only integers spread a number from memory
            name = f"vpxor{'q' if self.vector.scalar.bits == 64 else 'd'}" if self.is_wide else f"vxor{kind}"
            yield f"{name} {self._operand(self.sign)}, {self._both(line)}"
        elif line.op == "sqrt":
            yield f"vsqrt{kind} {self._both(line)}"
        else:
            first, second = line.sources
            yield f"v{line.op}{kind} {self._operand(second)}, {self._operand(first)}, {self._operand(line.target)}"

    def prefetches(self) -> list[str]:
        """One for each cache line of what the next block stores: it arrives while this one is computed."""
        bytes_of = [port.size * self.vector.scalar.size * self.vector.lanes for port in self.outputs]
        return [
            f"prefetchw {size + offset}(${k})"
            for k, size in enumerate(bytes_of)
            for offset in range(0, size, CACHE_LINE)
        ]

    def _both(self, line: Line) -> str:
        return f"{self._operand(line.sources[0])}, {self._operand(line.target)}"

    def _register(self, number: int, name: str = "") -> str:
        return f"{name or ('zmm' if self.is_wide else 'ymm')}{number}"

    def _operand(self, operand: Operand) -> str:
        if not isinstance(operand, Place):
            return f"%{self._register(operand)}"
        spread = f"{{1to{self.vector.lanes}}}" if operand.kind == "constant" and self.is_wide else ""
        return self._at(*self._laid_out.address(operand)) + spread

    def _at(self, base: int, distance: int) -> str:
        return f"{distance}(${len(self.outputs) + base})"

    def _moved(self, source: Operand, target: Operand) -> str:
        if isinstance(source, Place) and source.kind == "constant" and self.is_wide:
            place = self._operand(source).partition("{")[0]
            return f"vbroadcasts{self._kind[1]} {place}, {self._operand(target)}"
        return f"vmova{self._kind} {self._operand(source)}, {self._operand(target)}"

    def _rows(self, line: Line) -> Iterator[str]:
        """Four columns, transposed and stored row by row."""
        if self._joins:
            yield from self._rows_by_joining(line)
        elif self.vector.scalar.bits == 64:
            yield from self._rows_by_halves(line)
        else:
            yield from self._rows_by_quarters(line)

    def _address(self, line: Line, row: int) -> str:
        port, column = line.place
        size = self.outputs[port].size
        return f"{(row * size + column) * self.vector.scalar.size}(${port})"

    def _paired(self, line: Line, kind: str) -> Iterator[str]:
        """free 0 and 1: low and high pairs of columns 0 and 1; free 2 and 3: those of columns 2 and 3."""
        for k in (0, 2):
            first, second = line.sources[k], self._operand(line.sources[k + 1])
            low, high = line.free[k], line.free[k + 1]
            if isinstance(first, Place):
                yield self._moved(first, low)
                first = low
            yield f"vunpckh{kind} {second}, {self._operand(first)}, {self._operand(high)}"
            yield f"vunpckl{kind} {second}, {self._operand(first)}, {self._operand(low)}"

    def _rows_by_halves(self, line: Line) -> Iterator[str]:
        """Doubles, four lanes: rows 0 and 2 are halves of the low pairs, 1 and 3 of the high ones."""
        yield from self._paired(line, "pd")
        for side in (0, 1):
            pair, other, whole = (self._register(line.free[k]) for k in (side, 2 + side, 4))
            narrow = self._register(line.free[2 + side], "xmm")
            yield f"vinsertf128 $$1, %{narrow}, %{pair}, %{whole}"
            yield f"vmovupd %{whole}, {self._address(line, side)}"
            yield f"vperm2f128 $$0x31, %{other}, %{pair}, %{pair}"
            yield f"vmovupd %{pair}, {self._address(line, 2 + side)}"

    def _rows_by_joining(self, line: Line) -> Iterator[str]:
        """Doubles, eight lanes: pairs of rows of columns 0 and 2, and of 1 and 3, side by side; then interleaved."""
        a, b, c, d = line.sources
        x, y, low = (f"%{self._register(k)}" for k in line.free)
        for half in (0, 1):
            yield self._moved(a, line.free[0])
            yield f"vpermt2pd {self._operand(c)}, %zmm{30 + half}, {x}"
            yield self._moved(b, line.free[1])
            yield f"vpermt2pd {self._operand(d)}, %zmm{30 + half}, {y}"
            yield f"vunpcklpd {y}, {x}, {low}"
            yield f"vunpckhpd {y}, {x}, {x}"
            for side, number in enumerate((line.free[2], line.free[0])):
                row = 4 * half + side
                yield f"vmovupd %ymm{number}, {self._address(line, row)}"
                yield f"vextractf64x4 $$1, %zmm{number}, {self._address(line, row + 2)}"

    def _rows_by_quarters(self, line: Line) -> Iterator[str]:
        """Floats: rows r, r + 4, ... are the quarters of 128 bits of one vector."""
        yield from self._paired(line, "ps")
        extract = "vextractf32x4" if self.is_wide else "vextractf128"
        for half in (0, 1):
            first, second = (f"%{self._register(line.free[k + half])}" for k in (0, 2))
            spare = line.free[4]
            yield f"vunpcklpd {second}, {first}, {self._operand(spare)}"
            yield f"vunpckhpd {second}, {first}, {first}"
            for side, number in enumerate((spare, line.free[half])):
                yield f"vmovups %xmm{number}, {self._address(line, 2 * half + side)}"
                for quarter in range(1, self.vector.lanes // 4):
                    row = 4 * quarter + 2 * half + side
                    yield f"{extract} $${quarter}, %{self._register(number)}, {self._address(line, row)}"
