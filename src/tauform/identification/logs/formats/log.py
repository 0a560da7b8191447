"""A log file before anybody knows which column is what; readers of the formats make one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tauform.archives import check_unpacked
from tauform.arrays import Array
from tauform.errors import RecordingError

Table = dict[str, Array]
# (names, rows) -> tables with just these names, of at most that many rows each, in order.
Chunks = Callable[[Sequence[str], int], Iterator[Table]]
# Matrices with more columns are pictures or maps.
WIDEST = 500


def check_packing(n_bytes: int, packed: int, path: Path) -> None:
    """Raise RecordingError where so few bytes unpack to so many that no measurement does."""
    try:
        check_unpacked(n_bytes, packed)
    except ValueError as error:
        raise RecordingError(f"{path.name}: {error}, as no measurement does; save it without compression") from None


def refuse_two_of_a_name(names: Sequence[str], path: Path) -> None:
    """Raise RecordingError where a name stands for two columns."""
    twice = next((name for name, count in Counter(names).items() if name and count > 1), None)
    if twice is not None:
        raise RecordingError(f"{path.name}: two columns are named {twice!r}; rename one")


@dataclass(frozen=True, eq=False)
class Log:
    """Contents of a file.

    Attributes:
        widths: name -> None for a column (N,), or the number of columns of a matrix (N, width).
        chunks: reads it.
        findings: sentences about what was left out; complete once all chunks were read.
        lengths: name -> rows, where the file says so.
        has_names: whether the file names its columns; else they are called 1, 2, ...
    """

    widths: Mapping[str, int | None]
    chunks: Chunks
    findings: list[str] = field(default_factory=list)
    lengths: Mapping[str, int] = field(default_factory=dict)
    has_names: bool = True

    def n_bytes(self, names: Sequence[str]) -> int:
        """Size of these columns in memory; 0 where the file does not say how long they are."""
        return sum(8 * self.lengths.get(name, 0) * (self.widths[name] or 1) for name in names)


def with_single_columns(log: Log) -> Log:
    """The same log in which the columns of a matrix can be asked for too, as "data:1", "data:2", ..."""
    places = {
        f"{name}:{k + 1}": (name, k)
        for name, width in log.widths.items()
        if width is not None and width <= WIDEST
        for k in range(width)
    }
    if not places:
        return log

    def chunks(wanted: Sequence[str], rows: int) -> Iterator[Table]:
        whole = list(dict.fromkeys(places[name][0] if name in places else name for name in wanted))
        for table in log.chunks(whole, rows):
            yield {
                name: table[places[name][0]][:, places[name][1]] if name in places else table[name] for name in wanted
            }

    lengths = {name: log.lengths[matrix] for name, (matrix, _) in places.items() if matrix in log.lengths}
    return replace(
        log, widths={**log.widths, **dict.fromkeys(places)}, chunks=chunks, lengths={**log.lengths, **lengths}
    )
