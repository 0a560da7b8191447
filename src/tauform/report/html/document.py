"""document: one HTML file that holds its style, scripts and data, and opens without a network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from string import Template

from tauform.escaping.markup import html_text
from tauform.version import __version__

# The page's own scripts; the library that draws comes first.
SCRIPTS = ("plot.js", "robot.js", "table.js")
# How every figure begins: plots and robot views alike.
DRAWN = '<figure class="'


@dataclass(frozen=True)
class Section:
    """A part of a page: its anchor, title and body (HTML made of `elements`, `plot` and `robot_view`)."""

    anchor: str
    title: str
    body: str


def document(title: str, subtitle: str, sections: Sequence[Section]) -> str:
    """A self-contained page with a list of its sections at the top."""
    parts = [
        f'<section id="{html_text(s.anchor)}">\n<h2>{html_text(s.title)}</h2>\n{s.body}</section>' for s in sections
    ]
    # Plotly is several megabytes: only pages with figures carry it.
    drawing = plotly_script() if any(DRAWN in s.body for s in sections) else ""
    # A page of one section needs no list of them.
    listed = sections if len(sections) > 1 else ()
    return Template(asset("page.html")).substitute(
        title=html_text(title),
        subtitle=html_text(subtitle),
        version=__version__,
        contents="".join(f'<a href="#{html_text(s.anchor)}">{html_text(s.title)}</a>' for s in listed),
        sections="\n".join(parts),
        style=asset("style.css"),
        # a page without figures needs neither the library nor the scripts that call it
        library=drawing,
        script="\n".join(asset(name) for name in (SCRIPTS if drawing else SCRIPTS[-1:])),
    )


# Read once: a test or a server writes many pages.
@cache
def plotly_script() -> str:
    """Plotly as its wheel brings it, to be embedded: pages open without a network."""
    return (resources.files("plotly") / "package_data" / "plotly.min.js").read_text(encoding="utf-8")


def asset(name: str) -> str:
    """A file of the assets folder as text."""
    return (resources.files("tauform.report.html") / "assets" / name).read_text(encoding="utf-8")
