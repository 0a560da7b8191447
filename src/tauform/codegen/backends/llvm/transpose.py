"""Between arrays of (states, entries) in memory and one vector an entry in registers.

Two or four columns at a time are loaded from all rows of a block and interleaved. Few of the steps are shuffles proper,
which compete with the arithmetic for the same unit of the processor: rows are joined while they are loaded.
"""

from __future__ import annotations

from collections.abc import Sequence

from tauform.codegen.backends.llvm.text import Block, Vector


def chunk(size: int, index: int, lanes: int) -> range:
    """Columns to load together with column `index` of `size`; they may overlap with other chunks."""
    if size == 1:
        return range(1)
    # four at a time need fewer steps a column with eight lanes, and as many with fewer
    width = 4 if lanes == 8 and size >= 4 and (index < size - size % 4 or size % 4 == 3) else 2
    first = min(index - index % width, size - width)
    return range(first, first + width)


class Rows:
    """Addresses of the rows of a port in a block of states."""

    def __init__(self, block: Block, base: str) -> None:
        self.block = block
        self.base = base
        self._starts: dict[int, str] = {}

    def at(self, row: int, column: int) -> str:
        """Address of an entry."""
        if row not in self._starts:
            offset = self.block.let(f"mul i64 {self.base}_step, {row}")
            self._starts[row] = self.block.let(f"getelementptr i8, ptr {self.base}, i64 {offset}")
        return self.block.let(f"getelementptr double, ptr {self._starts[row]}, i64 {column}")


def load_columns(block: Block, vector: Vector, rows: Rows, columns: range) -> list[str]:
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


def _gather(block: Block, vector: Vector, rows: Rows) -> str:
    result = "poison"
    for row in range(vector.lanes):
        number = block.let(f"load double, ptr {rows.at(row, 0)}, align 8")
        result = block.let(f"insertelement {vector.real} {result}, double {number}, i64 {row}")
    return result


def store_columns(block: Block, vector: Vector, rows: Rows, names: Sequence[str]) -> None:
    """Store one vector for each column, in pairs; an odd last one alone."""
    lanes = vector.lanes
    for column in range(0, len(names) - 1, 2):
        sides = [interleave(block, names[column], names[column + 1], lanes, side) for side in (0, 1)]
        for row in range(lanes):
            first = row - row % 2
            pair = block.shuffle(sides[row % 2], "poison", lanes, [first, first + 1])
            block.emit(f"store <2 x double> {pair}, ptr {rows.at(row, column)}, align 8")
    if len(names) % 2:
        for row in range(lanes):
            number = block.let(f"extractelement {vector.real} {names[-1]}, i64 {row}")
            block.emit(f"store double {number}, ptr {rows.at(row, len(names) - 1)}, align 8")
