"""Tables and data for machines that people also open: TOML, YAML and CSV. JSON needs nothing but `json.dumps`."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

from tauform.escaping.shown import visible

# A spreadsheet computes a cell that begins so.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def toml_string(text: str) -> str:
    """The text as a basic string, quotes included; it reads back as the same text.

    Halves of characters, which no TOML holds, are written out.
    """
    return f'"{"".join(map(_toml_letter, text))}"'


def _toml_letter(letter: str) -> str:
    if letter in '"\\':
        return f"\\{letter}"
    if letter.isprintable():
        return letter
    if 0xD800 <= ord(letter) <= 0xDFFF:
        return f"\\\\u{ord(letter):04x}"
    return f"\\u{ord(letter):04x}" if ord(letter) < 0x10000 else f"\\U{ord(letter):08x}"


def yaml_string(text: str) -> str:
    """The text as a string in double quotes; it reads back as the same text."""
    return f'"{"".join(map(_yaml_letter, text))}"'


def _yaml_letter(letter: str) -> str:
    if letter in '"\\':
        return f"\\{letter}"
    return letter if letter.isprintable() and ord(letter) < 0x10000 else f"\\U{ord(letter):08x}"


def csv_line(cells: Iterable[object]) -> str:
    """One line of a table, with its end; texts are quoted where they must be, none is a formula or breaks the line."""
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow([_cell(cell) for cell in cells])
    return line.getvalue()


def _cell(cell: object) -> object:
    if not isinstance(cell, str):
        return cell
    text = visible(cell)
    return f"'{text}" if text.startswith(_FORMULA) and not _is_number(text) else text


def _is_number(text: str) -> bool:
    try:
        float(text.rstrip("%"))
    except ValueError:
        return False
    return True
