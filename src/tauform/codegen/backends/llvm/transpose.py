"""Transposes between arrays of (states, entries) in memory and one vector per entry in registers.

Two or four columns at a time are loaded from all rows of a block and interleaved; four of single precision, where there
are as many. Few of the steps are shuffles proper, which compete with the arithmetic for the same unit of the processor:
rows are joined while they are loaded.
"""

from __future__ import annotations

from collections.abc import Sequence

from tauform.codegen.backends.llvm.text import Block, Vector

# Columns that are stored without a loop, such as a Jacobian of ten joints: longer straight lines take LLVM long, and a
# loop needs all of them in a buffer first.
LONGEST_UNROLLED = 100


def chunk(size: int, index: int, vector: Vector) -> range:
    """Columns to load together with column `index` of `size`; they may overlap with other chunks."""
    lanes = vector.lanes
    if size == 1:
        return range(1)
    if _in_quads(vector, size):
        # The last group starts early enough to end with the row, never beyond it.
        first = min(index - index % 4, size - 4)
        return range(first, first + 4)
    # four at a time need fewer steps per column with eight lanes, and as many with fewer
    width = 4 if lanes == 8 and size >= 4 and (index < size - size % 4 or size % 4 == 3) else 2
    # Pulled back at the end of a row: no load goes past its last entry.
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
        # Start of a row: made when it is first asked for, then shared by all its columns.
        if row not in self._starts:
            offset = self.block.let(f"mul i64 {self.base}_step, {row}")
            self._starts[row] = self.block.let(f"getelementptr i8, ptr {self.base}, i64 {offset}")
        return self.block.let(f"getelementptr {self.block.scalar}, ptr {self._starts[row]}, i64 {column}")


def load_columns(block: Block, vector: Vector, rows: RowAddresses, columns: range) -> list[str]:
    """One vector for each column."""
    lanes, width, real = vector.lanes, len(columns), vector.scalar
    if width == 1:
        # One column has no neighbours to be loaded with.
        return [_gather(block, vector, rows)]
    kind, aligned = f"<{width} x {real.name}>", f"align {real.size}"
    loaded = [block.let(f"load {kind}, ptr {rows.at(row, columns[0])}, {aligned}") for row in range(lanes)]
    if _in_quads(vector, width):
        return _transposed_quads(block, lanes, [block.concatenate(loaded[k::4], 4) for k in range(4)])
    if width == 2:
        even, odd = block.concatenate(loaded[::2], 2), block.concatenate(loaded[1::2], 2)
        return [interleave(block, even, odd, lanes, side) for side in (0, 1)]
    # Rows r and r + 2 in one register of eight: the interleaving below then puts rows in order.
    joined = {r: block.shuffle(loaded[r], loaded[r + 2], 4, range(8)) for r in (0, 1, 4, 5)}
    result = []
    for column in range(4):
        low, high = (interleave(block, joined[r], joined[r + 1], 8, column % 2) for r in (0, 4))
        # Columns 0 and 1 lie in the first pair of each row, 2 and 3 in the second.
        pairs = [0, 1, 4, 5] if column < 2 else [2, 3, 6, 7]
        result.append(block.shuffle(low, high, 8, [*pairs, *(8 + k for k in pairs)]))
    return result


def _in_quads(vector: Vector, size: int) -> bool:
    """Whether four columns are taken together: as many numbers as 128 bits hold."""
    return vector.scalar.bits == 32 and vector.lanes >= 4 and size >= 4


def _transposed_quads(block: Block, lanes: int, rows: Sequence[str]) -> list[str]:
    """Four vectors transposed within each group of four lanes."""
    groups = range(0, lanes, 4)

    def picked(a: str, b: str, picks: Sequence[tuple[int, int]]) -> str:
        return block.shuffle(a, b, lanes, [side * lanes + group + k for group in groups for side, k in picks])

    # Two rounds of unpacking, as for a 4 by 4 matrix: numbers of two rows, then pairs of them.
    low, high = ((0, 0), (1, 0), (0, 1), (1, 1)), ((0, 2), (1, 2), (0, 3), (1, 3))
    first, second = ((0, 0), (0, 1), (1, 0), (1, 1)), ((0, 2), (0, 3), (1, 2), (1, 3))
    halves = [(picked(rows[0], rows[1], half), picked(rows[2], rows[3], half)) for half in (low, high)]
    return [picked(a, b, part) for a, b in halves for part in (first, second)]


def interleave(block: Block, a: str, b: str, lanes: int, side: int) -> str:
    """Entries `side`, `side` + 2, ... of two vectors, alternately."""
    return block.shuffle(a, b, lanes, [k + other for k in range(side, lanes, 2) for other in (0, lanes)])


def _gather(block: Block, vector: Vector, rows: RowAddresses) -> str:
    result = "poison"
    for row in range(vector.lanes):
        number = block.let(f"load {block.scalar}, ptr {rows.at(row, 0)}, align {vector.scalar.size}")
        result = block.let(f"insertelement {vector.real} {result}, {block.scalar} {number}, i64 {row}")
    return result


def store_columns(block: Block, vector: Vector, rows: RowAddresses, names: Sequence[str]) -> None:
    """Store one vector for each column, in pairs; an odd last one alone."""
    if len(names) > LONGEST_UNROLLED:
        _store_in_a_loop(block, vector, rows, names)
        return
    if _in_quads(vector, len(names)):
        # the last four overlap with those before, where their number is no multiple
        for column in [*range(0, len(names) - 4, 4), len(names) - 4]:
            _store_group(block, vector, rows, names[column : column + 4], str(column))
        return
    for column in range(0, len(names) - 1, 2):
        _store_group(block, vector, rows, names[column : column + 2], str(column))
    # An odd last column has no partner: one number per row.
    if len(names) % 2:
        for row in range(vector.lanes):
            number = block.let(f"extractelement {vector.real} {names[-1]}, i64 {row}")
            place = f"ptr {rows.at(row, len(names) - 1)}, align {vector.scalar.size}"
            block.emit(f"store {block.scalar} {number}, {place}")


def _store_group(block: Block, vector: Vector, rows: RowAddresses, names: Sequence[str], column: str) -> None:
    """Store two or four columns from that one on."""
    width = len(names)
    if width == 4:
        sides = _transposed_quads(block, vector.lanes, names)
    else:
        sides = [interleave(block, names[0], names[1], vector.lanes, side) for side in (0, 1)]
    for row in range(vector.lanes):
        # A row is one piece of the vector that belongs to its place in the group.
        first = row - row % width
        group = block.shuffle(sides[row % width], "poison", vector.lanes, range(first, first + width))
        place = f"ptr {rows.at(row, column)}, align {vector.scalar.size}"
        block.emit(f"store <{width} x {block.scalar}> {group}, {place}")


def _store_in_a_loop(block: Block, vector: Vector, rows: RowAddresses, names: Sequence[str]) -> None:
    """The same by way of a buffer; the last columns are a group, whether or not some of them were stored before."""
    tag = rows.base.removeprefix("%")
    width = 4 if _in_quads(vector, len(names)) else 2
    real, final = vector.real, len(names) - width
    buffer = block.let(f"alloca [{len(names)} x {real}], align 64")
    for column, name in enumerate(names):
        pointer = block.let(f"getelementptr {real}, ptr {buffer}, i64 {column}")
        block.emit(f"store {real} {name}, ptr {pointer}")
    for row in range(vector.lanes):
        rows.at(row, 0)  # row addresses do not change in the loop
    entry = f"store_{tag}"
    block.emit(f"br label %{entry}")
    block.label(entry)
    block.emit(f"br label %{entry}_group")
    block.label(f"{entry}_group")
    block.emit(f"%{tag}_c = phi i64 [ 0, %{entry} ], [ %{tag}_next, %{entry}_group ]")
    first = block.let(f"getelementptr {real}, ptr {buffer}, i64 %{tag}_c")
    others = [block.let(f"getelementptr {real}, ptr {first}, i64 {k}") for k in range(1, width)]
    columns = [block.let(f"load {real}, ptr {pointer}") for pointer in (first, *others)]
    _store_group(block, vector, rows, columns, f"%{tag}_c")
    block.emit(f"%{tag}_following = add i64 %{tag}_c, {width}")
    over = block.let(f"icmp ugt i64 %{tag}_following, {final}")
    # The last group starts at `final`, even if it stores some columns twice: no tail loop.
    block.emit(f"%{tag}_next = select i1 {over}, i64 {final}, i64 %{tag}_following")
    more = block.let(f"icmp ult i64 %{tag}_c, {final}")
    block.emit(f"br i1 {more}, label %{entry}_group, label %{entry}_end")
    block.label(f"{entry}_end")
