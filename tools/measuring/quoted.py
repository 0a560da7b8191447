"""Figures that the README and the documentation quote from RESULTS.md, each with the row it comes from.

`python -m benchmarks` writes them anew after it measured; a test compares them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tools.measuring.results import read

ROOT = Path(__file__).resolve().parents[2]
ARMS = ("kr6_r700", "lbr7", "sr6ia")


@dataclass(frozen=True)
class Quote:
    """A figure: where it stands, and where it comes from.

    Attributes:
        page: file in the repository.
        place: regular expression whose one group is the figure.
        section: section of RESULTS.md.
        row: its text in the column "what".
        column: "ours", "peer" or "note".
        peer: how the peer's name begins, where several rows have the same text.
        pattern: the figure inside a note, as the one group of a regular expression.
    """

    page: str
    place: str
    section: str
    row: str
    column: str
    peer: str = ""
    pattern: str = r"^(\d+ \+ \d+)"

    def text(self, tables: Mapping[str, list[dict[str, str]]]) -> str:
        """The figure as it is quoted.

        Raises:
            LookupError: RESULTS.md has no such row.
        """
        for row in tables.get(self.section, []):
            if row["what"] == self.row and row["the peer"].startswith(self.peer):
                return self._in_note(row["note"]) if self.column == "note" else rounded(row[self.column])
        raise LookupError(f"RESULTS.md has no row {self.row!r} in section {self.section!r}")

    def _in_note(self, note: str) -> str:
        found = re.search(self.pattern, note)
        if found is None:
            raise LookupError(f"nothing like {self.pattern!r} in the note {note!r}")
        return found[1]


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
            yield Quote("README.md", cell(label, k), *source, column, peer)

    counted = ("programs", "kr6_r700, inverse_dynamics", "note", "CasADi")
    yield Quote("README.md", r"# (\d+) multiplications", *counted, pattern=r"^(\d+) \+")
    yield Quote("README.md", r"multiplications, (\d+) additions", *counted, pattern=r"\+ (\d+)")
    derived = ("derive", "derive kr6_r700", "note")
    yield Quote("docs/index.md", r"# (\d+) terms", *derived, pattern=r"p = (\d+)")
    yield Quote("docs/index.md", r"terms, (\d+) base parameters", *derived, pattern=r"l = (\d+)")
    yield from _reduction()
    yield from _multirate()
    yield from _embedded()
    yield Quote("docs/index.md", r"Importing takes ([^;]*);", "start", "import tauform", "ours", "allowed")


def _reduction() -> Iterator[Quote]:
    """Operations at which searches end, on the page about reduction."""
    page, slow = "docs/mathematics/reduction.md", "kr6_r700, slow, 1.0%, 99.9%,"
    yield Quote(page, r"\((\d+) operations with it", "searches", f"{slow} definite mass matrix", "ours")
    yield Quote(page, r"with it,\s+(\d+) without", "searches", f"{slow} any mass matrix", "ours")
    yield Quote(page, r"factors into (\d+) operations \(KR6\)", "searches", "kr6_r700, closed form", "ours")
    yield Quote(page, r"\(KR6\) and (\d+) \(LBR7\)", "searches", "lbr7, closed form", "ours")
    yield Quote(page, r"alone take (\d+)\.", "searches", "kr6_r700, slow, 50% of the terms", "peer")
    for k, share in enumerate((100, 50, 20, 5, 2)):
        place = cell("operations of the program", k)
        yield Quote(page, place, "searches", f"kr6_r700, slow, {share}% of the terms", "ours")
    for place in (r"recursive program, (\d+) operations", r"start from (\d+) and"):
        yield Quote(page, place, "searches", "kr6_r700, closed form", "peer")
    yield Quote(page, r"start from \d+ and (\d+) operations", "searches", "lbr7, closed form", "peer")


def _embedded() -> Iterator[Quote]:
    """One call on a microcontroller, on the page about them."""
    page = "docs/targets/embedded.md"
    for k, arm in enumerate(("kr6_r700", "lbr7", "panda", "xarm7")):
        row = ("embedded", f"Cortex-M4F, {arm}, inverse_dynamics, float")
        yield Quote(page, cell("instructions", k), *row, "ours", "CasADi")
        yield Quote(page, cell("the same by CasADi's C", k), *row, "peer", "CasADi")
        yield Quote(page, cell("code, bytes", k), *row, "note", "CasADi", pattern=r"; (\d+) B of code")
        yield Quote(page, cell("stack, bytes", k), *row, "note", "CasADi", pattern=r"; \d+ B of code, (\d+) B")


def _multirate() -> Iterator[Quote]:
    """The table of predicted and measured errors, and the two of them that the how-to names."""
    for task in ("background", "synchronous task"):
        for every in ("run", "5th run"):
            row = f"friction made by the {task}, coefficients at every {every}"
            for k, column in enumerate(("ours", "peer")):
                place = cell(f"{task} | {every}", k)
                yield Quote("docs/mathematics/multirate.md", place, "multirate", row, column)
    places = {"background": r"between ([\d.]+ %) and", "synchronous task": r"between [\d.]+ % and ([\d.]+ %)"}
    for task, words in places.items():
        row = f"friction made by the {task}, coefficients at every run"
        yield Quote("docs/howto/multirate.md", words, "multirate", row, "ours")


@dataclass(frozen=True)
class Claim:
    """Words of a page that rest on figures, and the bounds within which the figures must lie.

    Attributes:
        page: file in the repository.
        words: what it says, with any white space.
        section: section of RESULTS.md.
        row: regular expression of the rows it speaks of, in the column "what"; all of them must fit.
        bounds: least and largest figure.
        column: of RESULTS.md, "peer / ours" unless said otherwise.
        pattern: the figure inside the column, as the one group of a regular expression.
        peer: how the peer's name begins.
    """

    page: str
    words: str
    section: str
    row: str
    bounds: tuple[float, float]
    column: str = "peer / ours"
    pattern: str = r"([\d.]+)"
    peer: str = ""

    def figures(self, tables: Mapping[str, list[dict[str, str]]]) -> list[float]:
        """What was measured.

        Raises:
            LookupError: RESULTS.md has no such row.
        """
        rows = [
            re.search(self.pattern, row[self.column])
            for row in tables.get(self.section, [])
            if re.fullmatch(self.row, row["what"]) and row["the peer"].startswith(self.peer)
        ]
        if not rows or None in rows:
            raise LookupError(f"RESULTS.md has no figures for {self.words!r} in section {self.section!r}")
        return [float(found[1]) for found in rows if found]


TERMS = {"column": "note", "pattern": r"p = (\d+)"}
CLAIMS = (
    Claim(
        "README.md",
        "eight joints of generic geometry have 1.5 million terms",
        "derive",
        "derive 8 joints, generic geometry",
        (1.45e6, 1.55e6),
        **TERMS,
    ),
    Claim(
        "docs/limits.md",
        "seven joints have 250,000 terms",
        "derive",
        "derive 7 joints, generic geometry",
        (245_000, 255_000),
        **TERMS,
    ),
    Claim(
        "docs/limits.md",
        "eight 1.5 million",
        "derive",
        "derive 8 joints, generic geometry",
        (1.45e6, 1.55e6),
        **TERMS,
    ),
    Claim(
        "docs/closed_form.md",
        "takes milliseconds",
        "derive",
        "derive (kr6_r700|lbr7|sr6ia|two_link)",
        (0.1, 99),
        "ours",
        r"([\d.]+) ms",
    ),
    *(
        Claim(
            page,
            "take about twice the time of Pinocchio's batch call",
            "batched_inverse_dynamics",
            ".*",
            (1 / 2.5, 1 / 1.5),
            peer="pin.rneaInParallel",
        )
        for page in ("README.md", "docs/limits.md")
    ),
    Claim(
        "docs/limits.md",
        "cost up to half as many operations again",
        "programs",
        ".*, inverse_dynamics, frames as written",
        (1 / 1.55, 1),
    ),
)


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


def cell(label: str, k: int) -> str:
    """The k-th cell of the row of a table that begins with the label, one cell or several."""
    return rf"^\| {re.escape(label)} \|(?:[^|\n]*\|){{{k}}} ([^|\n]*?) \|"
