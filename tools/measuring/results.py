"""RESULTS.md: one section a benchmark, rewritten when that benchmark runs and kept when it does not."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from tools.measuring.timing import Row

PREAMBLE = """# Results

Each table was measured in one run, ours and the peer's in turns, results compared before any time is quoted; times are
the least of many repeats. Machines differ and share their cores, so read the ratios: above 1, ours takes less. A peer
that is not installed is named as missing, never estimated.

`make bench` measures everything again, `make bench NAMES="speed instructions"` some of it; both rewrite this page, its
plots and the figures that other pages quote from it.
"""
PREFIXES = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))


def figure(value: float | None, unit: str) -> str:
    """A figure with three significant digits; seconds get a fitting prefix, counts are whole."""
    if value is None:
        return "-"
    if unit != "s":
        return f"{value:.0f} {unit}" if value == int(value) else f"{value:.3g} {unit}"
    # What rounds to a thousand of one unit is one of the next.
    scale, name = next(((s, n) for s, n in PREFIXES if abs(value) >= 0.9995 * s), PREFIXES[-1])
    return f"{value / scale:.3g} {name}" if value < 999 else f"{value:.0f} s"


def cells(row: Row) -> tuple[str, ...]:
    """A row as texts: name, ours, peer, ratio, peer's name, note."""
    ratio = "-" if row.ratio is None else f"{row.ratio:.2f}" if row.ratio < 100 else f"{row.ratio:.0f}"
    return row.name, figure(row.ours, row.unit), figure(row.peer, row.unit), ratio, row.peer_name, row.note


def line(row: Row) -> str:
    """A row for the terminal."""
    name, ours, peer, ratio, peer_name, note = cells(row)
    beside = f" | {peer_name}: {peer} (x {ratio})" if row.peer is not None else f" | {peer_name}"
    return f"{name}: {ours}{beside}{f' | {note}' if note else ''}"


HEADINGS = ("what", "ours", "peer", "peer / ours", "the peer", "note")


def section(name: str, title: str, stamp: str, rows: Sequence[Row], plot: bool = False) -> str:
    """The Markdown of one benchmark."""
    lines = [HEADINGS, ("---", "---:", "---:", "---:", "---", "---"), *(cells(row) for row in rows)]
    table = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    parts = [f"## {name}", title, *([f"![{name}](plots/{name}.svg)"] if plot else []), table, stamp]
    return "\n\n".join(parts) + "\n"


def read(path: Path) -> dict[str, list[dict[str, str]]]:
    """Sections of RESULTS.md: name -> rows as heading -> text."""
    tables: dict[str, list[dict[str, str]]] = {}
    for part in re.split(r"^## ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        lines = [text.strip("| ").split(" | ") for text in part.splitlines() if text.startswith("| ")]
        tables[part.split("\n", 1)[0]] = [
            dict(zip(HEADINGS, [*map(str.strip, cells), ""], strict=False)) for cells in lines[2:]
        ]
    return tables


def number(text: str) -> float | None:
    """What `figure` printed, seconds without their prefix; None for "-"."""
    value, _, unit = text.partition(" ")
    if value == "-":
        return None
    return float(value) * next((scale for scale, name in PREFIXES if name == unit), 1.0)


def rewrite(path: Path, new: dict[str, str]) -> None:
    """Replace or add sections, keep the others, sort by name."""
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    old = {part.split("\n", 1)[0]: f"## {part.strip()}\n" for part in re.split(r"^## ", text, flags=re.MULTILINE)[1:]}
    sections = {**old, **new}
    path.write_text("\n".join([PREAMBLE, *(sections[name] for name in sorted(sections))]), encoding="utf-8")
