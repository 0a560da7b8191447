"""Figures of the pages: measured ones are those of RESULTS.md, others those that the code gives."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

from tauform.portable.sincos import DOUBLE, FLOAT
from tools.measuring import counted, quoted, results, searches

ROOT = Path(__file__).resolve().parents[2]
RESULTS = results.read(ROOT / "benchmarks" / "RESULTS.md")
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
# Figures of papers, and settings.
STRANGERS = ("0.19 s", "190 ms", "91 ms", "5 s", "15 s", "40 ms")
MOVES = ("60 s", "4 s", "1.5 s", "100 ms", "50 ms")
# Settings of simulated disturbances.
TAILS = ("0.3 s", "0.6 s", "20 s")
NOT_MEASURED = {
    "README.md": {"5.3 s", "88 s", "50 ms"},
    "docs/errata.md": {"0.050 s", "0.088 s"},
    "docs/targets/fmu.md": {"1 ms"},
    "docs/howto/identify.md": {"400 MB"},
    "docs/howto/model.md": {"20.9 s", "35 kB"},
    "docs/howto/studio.md": {"400 MB"},
    # Of simulated robots, their moves and their noise, and a threshold.
    "docs/mathematics/identification.md": {
        "0.05 s",
        "0.2 s",
        "0.5 s",
        "1 s",
        *STRANGERS,
        *MOVES,
        *TAILS,
        "0.04 s",
        "0.025 s",
    },
    "docs/security.md": {"2 GB", "0.5 s", "60 s", "64 MB", "256 MB", "4 GB"},
    "docs/limits.md": {"20,000"},
}


@pytest.mark.parametrize("figure", list(counted.counts()), ids=lambda figure: f"{figure.page}, {figure.place}")
def test_counted_figures_are_those_of_the_code(figure: counted.Count) -> None:
    """Counts are the same on every machine; `python -m tools.measuring.counted` writes them."""
    found = re.search(figure.place, (ROOT / figure.page).read_text(encoding="utf-8"), re.MULTILINE)
    assert found, figure.place
    assert found[1] == figure.count()


@pytest.mark.nightly
def test_searches_end_where_the_results_say() -> None:
    """Nothing of that section is timed, so every machine repeats it to the digit."""
    found = [results.cells(row) for row in searches.rows()]
    assert found == [tuple(row.values()) for row in RESULTS["searches"]]


@pytest.mark.parametrize("quote", list(quoted.quotes()), ids=lambda quote: f"{quote.page}, {quote.row}, {quote.column}")
def test_measured_figures_are_those_of_the_results(quote: quoted.Quote) -> None:
    """`python -m benchmarks` writes them; after a change by hand, `tools.measuring.quoted.refresh()` does."""
    found = re.search(quote.place, (ROOT / quote.page).read_text(encoding="utf-8"), re.MULTILINE)
    assert found, quote.place
    assert found[1] == quote.text(RESULTS)


@pytest.mark.parametrize("claim", quoted.CLAIMS, ids=lambda claim: f"{claim.page}, {claim.words}")
def test_words_rest_on_the_results(claim: quoted.Claim) -> None:
    text = " ".join((ROOT / claim.page).read_text(encoding="utf-8").split())
    assert claim.words in text
    least, largest = claim.bounds
    for figure in claim.figures(RESULTS):
        assert least <= figure <= largest


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_time_and_size_says_where_it_comes_from(page: Path) -> None:
    """A figure of a page is a `Quote` of the results, or not measured at all."""
    text = re.sub(r"^```.*?^```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    name = str(page.relative_to(ROOT))
    places = [re.search(quote.place, text, re.MULTILINE) for quote in quoted.quotes() if quote.page == name]
    known = {place[1] for place in places if place} | NOT_MEASURED.get(name, set())
    assert set(re.findall(r"(?<![\w.^{])\d[\d.,]* (?:[num]?s|[kMG]B|M states/s)\b", text)) - known == set()
    assert set(re.findall(r"(?<![\w.^{])(\d[\d.,]*) operations\b", text)) - known == set()


def test_turns_that_need_no_library_are_those_of_the_reduction() -> None:
    tutorial = " ".join((ROOT / "docs" / "tutorials" / "dh_to_c.md").read_text(encoding="utf-8").split())
    assert "beyond 15,000 turns" in README
    assert "below 15,000 turns (1,500 in single precision)" in tutorial
    assert DOUBLE.limit / math.tau > 15_000
    assert FLOAT.limit / math.tau > 1_500
