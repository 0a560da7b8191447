"""Figures that the README and the documentation quote from RESULTS.md, each with the row it comes from.

`python -m benchmarks` writes them anew after it measured; a test compares them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.results import read

ROOT = Path(__file__).resolve().parents[1]
ARMS = ("kr6_r700", "lbr7", "sr6ia")


@dataclass(frozen=True)
class Quote:
    """Where a figure stands, and where it comes from.

    Attributes:
        page: file in the repository.
        place: regular expression whose one group is the figure.
        section: section of RESULTS.md.
        row: its text in the column "what".
        column: "ours", "peer" or "note".
        peer: how the peer's name begins, where several rows have the same text.
    """

    page: str
    place: str
    section: str
    row: str
    column: str
    peer: str = ""

    def text(self, tables: Mapping[str, list[dict[str, str]]]) -> str:
        """The figure as it is quoted.

        Raises:
            LookupError: RESULTS.md has no such row.
        """
        for row in tables.get(self.section, []):
            if row["what"] == self.row and row["the peer"].startswith(self.peer):
                return _operations(row["note"]) if self.column == "note" else rounded(row[self.column])
        raise LookupError(f"RESULTS.md has no row {self.row!r} in section {self.section!r}")


def quotes() -> Iterator[Quote]:
    """All of them."""
    for k, arm in enumerate(ARMS):
        one_call = ("speed", f"{arm}, inverse_dynamics")
        counted = ("programs", f"{arm}, inverse_dynamics")
        for label, source, column, peer in (
            ("derivation", ("derive", f"derive {arm}"), "ours", ""),
            ("operations of inverse dynamics, mult + add", counted, "note", "CasADi"),
            ("the same from Pinocchio by CasADi, operations in all", counted, "peer", "CasADi"),
            ("one call of the C", one_call, "ours", "CasADi"),
            ("the same by CasADi's C", one_call, "peer", "CasADi"),
            ("the same by Pinocchio's C++", one_call, "peer", "Pinocchio"),
        ):
            yield Quote("README.md", _cell(label, k), *source, column, peer)


def refresh(root: Path = ROOT) -> None:
    """Write the figures of RESULTS.md into the pages that quote them."""
    tables = read(root / "benchmarks" / "RESULTS.md")
    for quote in quotes():
        page = root / quote.page
        text = page.read_text(encoding="utf-8")
        found = re.search(quote.place, text, re.MULTILINE)
        if found is None:
            raise LookupError(f"{quote.page} has no place for {quote.row!r}: {quote.place}")
        changed = text[: found.start(1)] + quote.text(tables) + text[found.end(1) :]
        if changed != text:
            page.write_text(changed, encoding="utf-8")


def rounded(figure: str) -> str:
    """Whole units from 10 on, two digits below; counts lose their unit."""
    value, _, unit = figure.partition(" ")
    if unit == "operations":
        return value
    return f"{float(value):.0f} {unit}" if float(value) >= 10 else f"{float(value):.2g} {unit}"


def _cell(label: str, k: int) -> str:
    """The k-th cell of a row of a table."""
    return rf"^\| {re.escape(label)} \|(?:[^|\n]*\|){{{k}}} ([^|\n]*?) \|"


def _operations(note: str) -> str:
    found = re.match(r"\d+ \+ \d+", note)
    if found is None:
        raise LookupError(f"no operations in the note {note!r}")
    return found[0]
