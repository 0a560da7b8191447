"""Parts of a page as strings of HTML: tables, figures of merit, notices. Every text is escaped here."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tauform.escaping.markup import html_lines, html_text
from tauform.escaping.shown import visible

# Digits that plots and views need; more would only make the file larger.
DIGITS = 6


@dataclass(frozen=True)
class Marked:
    """A cell or fact with a tone: "good", "warn" or "bad"; a cell may lead to another place, by its address."""

    text: str
    tone: str
    link: str = ""


def shown(value: Any) -> str:
    """A value as plain text: numbers in four significant digits, vectors entry by entry, None as a dash."""
    if value is None:
        return "–"
    if isinstance(value, Marked):
        return value.text
    # Before floats: True is a number to Python, and counts stay whole.
    if isinstance(value, (str, bool, int, np.integer)):
        return str(value)
    if isinstance(value, (float, np.floating)):
        return f"{value + 0.0:.4g}" if math.isfinite(value) else "–"  # + 0.0: no negative zero
    return "  ".join(shown(float(entry)) for entry in value)


def table(
    columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
    *,
    text_columns: int | Collection[int] = 1,
    caption: str = "",
    tall: bool = False,
    code_columns: Sequence[int] = (),
    data: bool = False,
) -> str:
    """A table; text on the left, numbers aligned right. On narrow screens a row is a block of lines.

    Args:
        columns: headings.
        rows: cells, written by `shown`; a `Marked` cell takes its tone.
        text_columns: which columns hold text: a number of leading ones, or their indices.
        caption: title above the table.
        tall: keep it to part of the screen and scroll inside.
        code_columns: columns written in a fixed-width font.
        data: sorted by a click on a heading, filtered by a word, saved as CSV.
    """
    text = range(text_columns) if isinstance(text_columns, int) else text_columns
    # Headings that sort are buttons, so that a keyboard reaches them.
    titles = [f'<button type="button">{html_text(c)}</button>' if data else html_text(c) for c in columns]
    head = "".join(f'<th scope="col"{_kind(k not in text)}>{title}</th>' for k, title in enumerate(titles))
    body = "\n".join(
        f"<tr>{''.join(_cell(value, columns[k], k not in text, k in code_columns) for k, value in enumerate(row))}</tr>"
        for row in rows
    )
    title = f"<caption>{html_text(caption)}</caption>" if caption else ""
    # A region that scrolls must be reachable by keyboard, and have a name.
    named = f'role="region" aria-label="{html_text(caption or f"Table of {columns[0]}")}"'
    scrolling = f'<div class="wide{" tall" if tall else ""}" tabindex="0" {named}>'
    whole = f"{scrolling}<table>{title}<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody></table></div>\n"
    return f'<div class="data">{_tools(caption or columns[0])}{whole}</div>\n' if data else whole


def _tools(caption: str) -> str:
    """Above a table of data: a filter, and its CSV."""
    # File names from captions keep letters and digits only.
    file = "_".join(re.findall(r"\w+", caption.lower())) or "table"
    return (
        f'<div class="tools"><label>Filter <input type="search" aria-label="Filter {html_text(caption)}"></label>'
        f'<a href="#" download="{html_text(file)}.csv">Download CSV</a></div>'
    )


def _kind(number: bool, tone: str = "") -> str:
    names = " ".join(name for name in ("number" if number else "", tone) if name)
    return f' class="{names}"' if names else ""


def _cell(value: Any, column: str, number: bool, code: bool) -> str:
    """A cell; narrow screens show its column's name beside it, one below the other."""
    text = html_text(shown(value))
    tone = value.tone if isinstance(value, Marked) else ""
    # Narrow screens show the heading from this attribute, through the style sheet.
    label = f' data-label="{html_text(column)}"' if column else ""
    if isinstance(value, Marked) and value.link:
        text = f'<a href="{html_text(value.link)}">{text}</a>'
    return f"<td{_kind(number, tone)}{label}>{f'<code>{text}</code>' if code and text else text}</td>"


def facts(entries: Mapping[str, Any]) -> str:
    """Figures of merit in a row of boxes: what -> value, or what -> (value, what it is made of)."""
    return f'<dl class="facts">{"".join(_fact(name, value) for name, value in entries.items())}</dl>\n'


def _fact(name: str, value: Any) -> str:
    value, detail = value if isinstance(value, tuple) else (value, "")
    tone = value.tone if isinstance(value, Marked) else ""
    small = f'<dd class="detail">{html_text(detail)}</dd>' if detail else ""
    return f"<div><dt>{html_text(name)}</dt><dd{_kind(False, tone)}>{html_text(shown(value))}</dd>{small}</div>"


def paragraph(text: str, kind: str = "") -> str:
    """A paragraph; kind "notice" stands out, "quiet" stands back."""
    return f"<p{_kind(False, kind)}>{html_text(text)}</p>\n"


def bullets(sentences: Iterable[str]) -> str:
    """A list of sentences."""
    return "<ul>" + "".join(f"<li>{html_text(sentence)}</li>" for sentence in sentences) + "</ul>\n"


def heading(text: str) -> str:
    """A heading inside a section."""
    return f"<h3>{html_text(text)}</h3>\n"


def folded(summary: str, body: str) -> str:
    """HTML that opens on a click."""
    return f"<details><summary>{html_text(summary)}</summary>\n{body}</details>\n"


def preformatted(text: str) -> str:
    """Lines as they are, in a fixed-width font."""
    return f"<pre>{html_lines(text)}</pre>\n"


def data_script(data: Any, digits: int = DIGITS) -> str:
    """Data for the page's scripts; `<` is written so that nothing inside can end the element."""
    # No NaN, which JSON.parse rejects; no blanks, as data is most of a page.
    text = json.dumps(rounded(data, digits), allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")
    return f'<script type="application/json">{text}</script>'


def rounded(value: Any, digits: int = DIGITS) -> Any:
    """Numbers cut to a few significant digits, arrays as lists, what is not finite as null, texts as they are shown."""
    if isinstance(value, np.ndarray | np.generic):
        # Now plain Python: falls through to the cases below.
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): rounded(item, digits) for key, item in value.items()}
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, (list, tuple)):
        return [rounded(item, digits) for item in value]
    if isinstance(value, float):
        return float(f"{value:.{digits}g}") if math.isfinite(value) else None
    return value
