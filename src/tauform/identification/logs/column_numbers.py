"""Columns by number."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tauform.errors import RecordingError
from tauform.identification.logs.column_names import listed

# Columns by number, from 1: "3", "2-8", or those of a matrix, "data:2-8".
RANGE = re.compile(r"(.*:)?(\d{1,5})(?:\s*-\s*(\d{1,5}))?")


def by_number(wanted: Sequence[str], names: Sequence[str], source: str) -> list[str]:
    """Names of columns, with numbers and ranges of numbers ("2-8") in their place; what is a name stays."""
    found: list[str] = []
    for text in wanted:
        # A column whose name is a number wins over the column at that place.
        match = None if text in names else RANGE.fullmatch(text)
        if match is None:
            found.append(text)
            continue
        prefix, first, last = match[1] or "", int(match[2]), int(match[3] or match[2])
        for number in range(first, last + 1):
            named = f"{prefix}{number}" in names
            # Columns of a matrix are known by name alone, "data:3"; a place counts single columns.
            if not named and (prefix or not 1 <= number <= len(names)):
                raise RecordingError(
                    f"{source}: no column number {prefix}{number}; it has {len(names)}: {listed(names)}",
                    argument="columns",
                    value=text,
                )
            found.append(f"{prefix}{number}" if named else names[number - 1])
    return found
