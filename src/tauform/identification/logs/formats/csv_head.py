"""How a text table begins: notes, names, a line of units, or numbers at once; and what stands between its values."""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from tauform.identification.logs.unit_table import unit_of

# Lines in which names and the first sample are looked for; what devices write above them is shorter.
MOST_LINES = 100
# Tabs at the ends of a line may stand for empty values.
BLANKS = " \r\n"
COMMENTS = "#%"
# What surrounds a unit in a line of units, and what stands there for none.
BRACKETS = "[]() "


# Bytes in which the encoding of a text is looked for.
BEGINNING = 1 << 16
# Bytes that stand in no line of text.
CONTROLS = bytes(sorted({*range(32), 127} - {9, 10, 12, 13}))


@dataclass(frozen=True)
class Head:
    """The beginning of a table.

    Attributes:
        names: of the columns; their numbers from 1 where the file has no names.
        separator: between values; None for blanks.
        n_lines: lines before the first sample.
        first: the first sample; None where there is none.
        has_names: whether the file names its columns.
    """

    names: tuple[str, ...]
    separator: str | None
    n_lines: int
    first: str | None
    has_names: bool = True


def encoding_of(path: Path) -> str:
    """How a text is written: UTF-8, UTF-16 if its mark says so, or Latin-1, in which old devices write their signs."""
    with path.open("rb") as file:
        beginning = file.read(BEGINNING)
    if beginning.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    try:
        # A character may be cut at the end of what was read.
        codecs.getincrementaldecoder("utf-8")().decode(beginning)
    except UnicodeDecodeError:
        # Every byte is a character of Latin-1, also those of files that are no text.
        if len(beginning.translate(None, delete=CONTROLS)) == len(beginning):
            return "latin-1"
    return "utf-8-sig"


def read_head(lines: Iterator[str]) -> Head:
    """Names and first sample of a table; without a line of numbers, the second line counts as the first sample."""
    # A file without any numbers may be gigabytes.
    held = list(islice(lines, MOST_LINES))
    written = [k for k, line in enumerate(held) if line.strip()]
    start = next((k for k in written if _is_sample(held[k])), None)
    if start is None:
        first = written[1] if len(written) > 1 else None
        names, separator = header_names(held[written[0]] if written else "")
        return Head(tuple(names), separator, first or len(held), None if first is None else held[first])
    before = [k for k in written if k < start]
    # No names: columns are called by their numbers, as users count them.
    if not before:
        separator = separator_of(held[start])
        count = len(cells_of(held[start], separator))
        return Head(tuple(str(k + 1) for k in range(count)), separator, start, held[start], has_names=False)
    return _named(held, before, start)


def _named(held: Sequence[str], before: Sequence[int], start: int) -> Head:
    """The head of a table with text above its numbers: the last line of as many cells as the sample has."""
    fitting = []
    for k in before:
        names, separator = header_names(held[k])
        if len(names) == len(cells_of(held[start], separator)):
            fitting.append((names, separator))
    names, separator = fitting[-1] if fitting else header_names(held[before[0]])
    # A line of units below the names is told by what it holds.
    units = [cell.strip(BRACKETS).strip("-") for cell in names]
    if len(fitting) > 1 and all(not unit or unit_of(unit) for unit in units):
        names, separator = fitting[-2]
        names = [f"{name} [{unit}]" if unit else name for name, unit in zip(names, units, strict=True)]
    return Head(tuple(names), separator, start, held[start])


def header_names(header: str) -> tuple[list[str], str | None]:
    """Names in a line of a table, quoted or not, and what stands between them; None for blanks."""
    header = header.strip(BLANKS).lstrip(COMMENTS).strip(BLANKS)
    # Outside of quotes: names may hold any of them.
    usual = max(",;\t", key=re.sub('"[^"]*"', "", header).count)
    separator = usual if usual in header else None
    return [cell.strip().strip("\"'").strip() for cell in cells_of(header, separator)], separator


def separator_of(line: str) -> str | None:
    """What stands between the numbers of a line; commas beside semicolons or tabs are decimal ones."""
    return next((mark for mark in ";\t," if mark in line.strip(BLANKS)), None)


def cells_of(line: str, separator: str | None) -> list[str]:
    """Values in a line; separators within quotes part nothing."""
    line = line.strip(BLANKS)
    if separator is None:
        return line.split()
    try:
        return next(csv.reader([line], delimiter=separator), [])
    except csv.Error:  # longer than a cell may be
        return line.split(separator)


def _is_sample(line: str) -> bool:
    """Whether most of what a line holds are numbers: columns may be text, and notes may hold a number."""
    if not line.strip() or line.lstrip()[0] in COMMENTS:
        return False
    separator = separator_of(line)
    cells = [cell.strip() for cell in cells_of(line, separator)]
    # Then a comma is a decimal point.
    if separator in (";", "\t"):
        cells = [cell.replace(",", ".") for cell in cells]
    return 2 * sum(map(_is_number, cells)) > len(cells)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
