"""A log file before anybody knows which column is what; readers of the formats make one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tauform.arrays import Array

Table = dict[str, Array]


@dataclass(frozen=True, eq=False)
class Log:
    """What a file holds.

    Attributes:
        widths: name -> None for a column (N,), or the number of columns of a matrix (N, width).
        chunks: (names, rows) -> tables with just these names, of at most that many rows each, in order.
        findings: sentences about what was left out; complete once all chunks were read.
    """

    widths: Mapping[str, int | None]
    chunks: Callable[[Sequence[str], int], Iterator[Table]]
    findings: list[str] = field(default_factory=list)
