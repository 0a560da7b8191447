"""Transposes between arrays of (states, entries) in memory and one vector per entry in registers.

Two or four columns at a time are loaded from all rows of a block and interleaved. Few of the steps are shuffles proper,
which compete with the arithmetic for the same unit of the processor: rows are joined while they are loaded.
"""

from __future__ import annotations

from collections.abc import Sequence

from tauform.codegen.backends.llvm.text import Block, Vector

# Columns that are stored without a loop: longer straight lines of stores take LLVM long.
LONGEST_UNROLLED = 48


def chunk(size: int, index: int, lanes: int) -> range:
    """Columns to load together with column `index` of `size`; they may overlap with other chunks."""
    if size == 1:
        return range(1)
    # four at a time need fewer steps a column with eight lanes, and as many with fewer
    width = 4 if lanes == 8 and size >= 4 and (index < size - size % 4 or size % 4 == 3) else 2
    first = min(index - index % width, size - width)
    return range(first, first + width)


class RowAddresses:
    """Addresses of the rows of a port in a block of states."""

    def __init__(self, block: Block, base: str) -> None:
        self.block = block
        self.base = base
        self._starts: dict[int, str] = {}

    def at(self, row: int, column: int | str) -> str:
        """Address of an entry."""
        if row not in self._starts:
            offset = self.block.let(f"mul i64 {self.base}_step, {row}")
            self._starts[row] = self.block.let(f"getelementptr i8, ptr {self.base}, i64 {offset}")
        return self.block.let(f"getelementptr double, ptr {self._starts[row]}, i64 {column}")


def load_columns(block: Block, vector: Vector, rows: RowAddresses, columns: range) -> list[str]:
    """One vector for each column."""
    lanes, width = vector.lanes, len(columns)
    if width == 1:
        return [_gather(block, vector, rows)]
    loaded = [block.let(f"load <{width} x double>, ptr {rows.at(row, columns[0])}, align 8") for row in range(lanes)]
    if width == 2:
        even, odd = block.concatenate(loaded[::2], 2), block.concatenate(loaded[1::2], 2)
        return [interleave(block, even, odd, lanes, side) for side in (0, 1)]
    joined = {r: block.shuffle(loaded[r], loaded[r + 2], 4, range(8)) for r in (0, 1, 4, 5)}
    result = []
    for column in range(4):
        low, high = (interleave(block, joined[r], joined[r + 1], 8, column % 2) for r in (0, 4))
        pairs = [0, 1, 4, 5] if column < 2 else [2, 3, 6, 7]
        result.append(block.shuffle(low, high, 8, [*pairs, *(8 + k for k in pairs)]))
    return result


def interleave(block: Block, a: str, b: str, lanes: int, side: int) -> str:
    """Entries `side`, `side` + 2, ... of two vectors, alternately."""
    return block.shuffle(a, b, lanes, [k + other for k in range(side, lanes, 2) for other in (0, lanes)])


def _gather(block: Block, vector: Vector, rows: RowAddresses) -> str:
    result = "poison"
    for row in range(vector.lanes):
        number = block.let(f"load double, ptr {rows.at(row, 0)}, align 8")
        result = block.let(f"insertelement {vector.real} {result}, double {number}, i64 {row}")
    return result


def store_columns(block: Block, vector: Vector, rows: RowAddresses, names: Sequence[str]) -> None:
    """Store one vector for each column, in pairs; an odd last one alone."""
    if len(names) > LONGEST_UNROLLED:
        _store_in_a_loop(block, vector, rows, names)
        return
    for column in range(0, len(names) - 1, 2):
        _store_pair(block, vector, rows, names[column], names[column + 1], str(column))
    if len(names) % 2:
        for row in range(vector.lanes):
            number = block.let(f"extractelement {vector.real} {names[-1]}, i64 {row}")
            block.emit(f"store double {number}, ptr {rows.at(row, len(names) - 1)}, align 8")


def _store_pair(block: Block, vector: Vector, rows: RowAddresses, a: str, b: str, column: str) -> None:
    sides = [interleave(block, a, b, vector.lanes, side) for side in (0, 1)]
    for row in range(vector.lanes):
        first = row - row % 2
        pair = block.shuffle(sides[row % 2], "poison", vector.lanes, [first, first + 1])
        block.emit(f"store <2 x double> {pair}, ptr {rows.at(row, column)}, align 8")


def _store_in_a_loop(block: Block, vector: Vector, rows: RowAddresses, names: Sequence[str]) -> None:
    """The same by way of a buffer; the last two columns are a pair, whether or not one of them was stored before."""
    tag = rows.base.removeprefix("%")
    real, final = vector.real, len(names) - 2
    buffer = block.let(f"alloca [{len(names)} x {real}], align 64")
    for column, name in enumerate(names):
        pointer = block.let(f"getelementptr {real}, ptr {buffer}, i64 {column}")
        block.emit(f"store {real} {name}, ptr {pointer}")
    for row in range(vector.lanes):
        rows.at(row, 0)  # row addresses do not change in the loop
    entry = f"store_{tag}"
    block.emit(f"br label %{entry}")
    block.label(entry)
    block.emit(f"br label %{entry}_pair")
    block.label(f"{entry}_pair")
    block.emit(f"%{tag}_c = phi i64 [ 0, %{entry} ], [ %{tag}_next, %{entry}_pair ]")
    first = block.let(f"getelementptr {real}, ptr {buffer}, i64 %{tag}_c")
    second = block.let(f"getelementptr {real}, ptr {first}, i64 1")
    a, b = (block.let(f"load {real}, ptr {pointer}") for pointer in (first, second))
    _store_pair(block, vector, rows, a, b, f"%{tag}_c")
    block.emit(f"%{tag}_step2 = add i64 %{tag}_c, 2")
    over = block.let(f"icmp ugt i64 %{tag}_step2, {final}")
    block.emit(f"%{tag}_next = select i1 {over}, i64 {final}, i64 %{tag}_step2")
    more = block.let(f"icmp ult i64 %{tag}_c, {final}")
    block.emit(f"br i1 {more}, label %{entry}_pair, label %{entry}_end")
    block.label(f"{entry}_end")
