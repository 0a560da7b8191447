"""Logs that are tables of text, read in pieces."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TextIO

import numpy as np

from tauform.archives import ordinary
from tauform.arrays import Array
from tauform.errors import RecordingError
from tauform.identification.logs.formats.csv_head import BLANKS, COMMENTS, Head, cells_of, encoding_of, read_head
from tauform.identification.logs.formats.instants import is_stamp, seconds_of
from tauform.identification.logs.formats.log import Log, Table, refuse_two_of_a_name
from tauform.messages import counted

# Characters; 40,000 columns of full precision are a million.
LONGEST_LINE = 20_000_000


def open_csv(path: Path) -> Log:
    """Text with a line of names, or none, then numbers between commas, semicolons, tabs or blanks.

    Text is UTF-8, UTF-16 with its mark, or Latin-1. Notes above the names, and a line of units below them, are
    understood. A last line without its end was cut off, perhaps within a number, so it is left out; a line of another
    length elsewhere is refused.

    Raises:
        RecordingError: of this and all other formats, where the file is not what its name says.
    """
    encoding = encoding_of(ordinary(path))
    try:
        with path.open(encoding=encoding) as file:
            head = read_head(lines_of(file, path.name))
    except UnicodeError as error:
        reason = getattr(error, "reason", error)
        raise RecordingError(f"{path.name}: not text ({reason}); export it as CSV in UTF-8") from None
    names, separator, first = head.names, head.separator, head.first
    if first is None:
        raise RecordingError(f"{path.name}: holds no samples; write the columns' names, then one line per sample")
    # Compared before anything is read: one column too many shifts all others silently.
    n_values = len(cells_of(first, separator))
    if n_values != len(names):
        raise RecordingError(
            f"{path.name}: {len(names)} names in the first line but {n_values} columns",
            remedy="write one name per column in the first line, then one line per sample",
        )
    refuse_two_of_a_name(names, path)
    place = {name: k for k, name in enumerate(names)}
    # European exports: a comma within numbers, and then a semicolon or tab between them.
    decimal_comma = separator in (";", "\t") and "," in first and "." not in first
    findings: list[str] = []
    # Stamps such as 2026-03-01T23:59:50.125 in place of seconds.
    written = {k: seconds_of for k, cell in enumerate(cells_of(first, separator)) if is_stamp(cell)}

    def chunks(wanted: Sequence[str], rows: int) -> Iterator[Table]:
        with path.open(encoding=encoding) as file:
            samples = _Samples(lines_of(file, path.name), head, decimal_comma)
            try:
                while (
                    block := _csv_block(samples, separator, [place[name] for name in wanted], rows, written)
                ) is not None:
                    yield dict(zip(wanted, block.T, strict=True))
            except UnicodeError as error:
                reason = getattr(error, "reason", error)
                raise RecordingError(f"{path.name}: not text after line {samples.line} ({reason})") from None
            except ValueError as error:
                raise RecordingError(
                    f"{path.name}: line {samples.line}{_explained(error, names)}; repair or delete it"
                ) from None
            if samples.is_cut:
                findings.append(f"{path.name}: line {samples.line} has no end and may be cut off: left out")

    return Log(dict.fromkeys(names), chunks, findings, has_names=head.has_names)


def lines_of(file: TextIO, name: str) -> Iterator[str]:
    """Lines of a file, unless one is longer than any table's: a file of something else may be one line."""
    # Bounded reads: `for line in file` would load a file without line ends whole.
    for line in iter(partial(file.readline, LONGEST_LINE), ""):
        if len(line) >= LONGEST_LINE:
            raise RecordingError(f"{name}: a line of more than {LONGEST_LINE} characters; export it as CSV")
        yield line


def _count(line: str, separator: str | None) -> int:
    """Values in a line."""
    # Counting is far quicker than splitting, and every line passes here.
    quick = separator is not None and '"' not in line
    return line.count(separator) + 1 if quick and separator else len(cells_of(line, separator))


class _Samples(Iterator[str]):
    """Lines after the head that hold as many values as it names.

    Attributes:
        line: number in the file of the last line given out.
        is_cut: whether the last line had no end.
    """

    def __init__(self, lines: Iterator[str], head: Head, decimal_comma: bool) -> None:
        self.lines, self.head, self.decimal_comma = islice(lines, head.n_lines, None), head, decimal_comma
        self.line, self.is_cut = head.n_lines, False

    def __next__(self) -> str:
        for line in self.lines:
            self.line += 1
            # Notes stand between samples too.
            if not line.strip() or line.lstrip()[0] in COMMENTS:
                continue
            # A number cut in half is still a number, 12.5 becomes 1, and a line cut short holds too few of them.
            if not line.endswith("\n"):
                self.is_cut = True
                break
            count = _count(line.strip(BLANKS), self.head.separator)
            if count != len(self.head.names):
                verb = "names" if self.head.has_names else "holds"
                raise ValueError(f"holds {counted(count, 'value')}, the first line {verb} {len(self.head.names)}")
            return line.replace(",", ".") if self.decimal_comma else line
        raise StopIteration


def _csv_block(
    samples: _Samples,
    separator: str | None,
    places: Sequence[int],
    rows: int,
    written: Mapping[int, Callable[[str], float]],
) -> Array | None:
    """The next rows of the columns at these places; None after the last."""
    first = next(samples, None)
    if first is None:
        return None
    # Its parser is in C and reads an iterator of lines, in constant memory.
    block: Array = np.loadtxt(
        chain([first], samples),
        delimiter=separator,
        usecols=places,
        max_rows=rows,
        ndmin=2,
        comments=None,
        quotechar='"',
        converters={k: convert for k, convert in written.items() if k in places} or None,
        encoding="utf-8",
    )
    return block


def _explained(error: ValueError, names: Sequence[str]) -> str:
    """Fault of a line, with the column's name in NumPy's words about a value."""
    words = " ".join(str(error).split())
    if text := re.search(r"could not convert string (.*) to float64 at row \d+, column (\d+)", words):
        return f", column {names[int(text[2]) - 1]}: {text[1]} is not a number"
    return f" {words.rstrip('.')}"
