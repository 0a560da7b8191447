"""Plot: interactive curves, points and bars, drawn by Plotly: zoom, pan, values under the pointer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from tauform.escaping.markup import html_text
from tauform.report.html.elements import data_script

# What the page's script reads of a plot, beside its panels.
DRAWN_FIELDS = ("x", "xlabel", "ylabel", "points", "bars", "heat", "link")
# What names of joints are cut at to become short.
SEPARATORS = "_/-. "
LineStyle = Literal["", "dashed", "dotted", "thin", "thick", "points"]
# Told apart without colours, in the words of Plotly: thick under thin, solid beside dashed and dotted.
LINES: dict[LineStyle, dict[str, Any]] = {
    "": {"width": 1.8},
    "thin": {"width": 1.2},
    "thick": {"width": 4},
    "dashed": {"width": 1.8, "dash": "dash"},
    "dotted": {"width": 1.5, "dash": "dot"},
    "points": {},
}
# Joints in one figure look alike in grey print: dashes of curves, shapes of points.
DASHES = ("solid", "7px,3px", "2px,2px", "9px,3px,2px,3px", "15px,4px", "14px,3px,2px,3px,2px", "4px,4px", "9px,2px")
SYMBOLS = ("circle", "square-open", "diamond", "cross", "triangle-up-open", "x", "diamond-open", "star")
# Largest value over the smallest of a logarithmic axis with few ticks; margins make it a hundred.
MOST_WITH_FEW = 60.0
# Figures stay here: Plotly's own default is a button that uploads them.
OFFLINE = {"showSendToCloud": False, "plotlyServerURL": ""}


@dataclass(frozen=True, eq=False)
class Series:
    """A curve.

    Attributes:
        y: (N,) ordinates; what is not finite leaves a gap.
        x: (N,) abscissas; the plot's own where None.
        colour: 0 to 7, or 8 for what stands back; where None by the order of the series, with a dash of its own.
        notes: (N,) words shown beside the value under the pointer.
        spread: (N,) half length of a whisker at each point.
        hidden: shown only once the legend is asked for it.
    """

    name: str
    y: ArrayLike
    x: ArrayLike | None = None
    style: LineStyle = ""
    colour: int | None = None
    notes: Sequence[str] | None = None
    spread: ArrayLike | None = None
    hidden: bool | None = None


@dataclass(frozen=True, eq=False)
class Panel:
    """Tab of a plot; a joint, for example."""

    name: str
    series: Sequence[Series]
    ylabel: str = ""
    xlabel: str = ""


@dataclass(frozen=True, eq=False)
class Plot:
    """A figure with a tab for each panel, a legend that hides and shows series, and values under the pointer.

    Pages draw it by `html`; notebooks by `plotly_figure`.

    Attributes:
        caption: title above it.
        panels: at least one; their series share the legend by name.
        xlabel: with unit.
        ylabel: with unit; a panel may have its own.
        x: abscissas of series that have none of their own.
        xlog: logarithmic abscissa.
        ylog: logarithmic ordinate.
        points: mark the points of curves.
        bars: groups of lying bars in place of curves; x may hold names.
        heat: a matrix from -1 to 1 in colours; a series per row, named as its columns in x.
        tall: half as high again.
        link: figures of one page with the same word share the range of their abscissas.
    """

    caption: str
    panels: Sequence[Panel]
    xlabel: str
    ylabel: str
    x: ArrayLike | None = None
    xlog: bool = False
    ylog: bool = False
    points: bool = False
    bars: bool = False
    heat: bool = False
    tall: bool = False
    link: str = ""

    @property
    def xticks(self) -> int:
        """Ticks to ask for on a logarithmic abscissa; 0 on another."""
        given = [self.x if series.x is None else series.x for panel in self.panels for series in panel.series]
        return _ticks(given) if self.xlog else 0

    @property
    def yticks(self) -> int:
        """Ticks to ask for on a logarithmic ordinate; 0 on another."""
        return _ticks([series.y for panel in self.panels for series in panel.series]) if self.ylog else 0

    @property
    def html(self) -> str:
        """The figure as an element of a page, with its data."""
        data = {name: getattr(self, name) for name in DRAWN_FIELDS} | {"xticks": self.xticks, "yticks": self.yticks}
        data["panels"] = [
            {
                "name": panel.name,
                "xlabel": panel.xlabel,
                "ylabel": panel.ylabel,
                "series": [_described(s, k) for k, s in enumerate(panel.series)],
            }
            for panel in self.panels
        ]
        # A single panel without name needs no tab.
        named = [panel.name for panel in self.panels if panel.name]
        tabs = "".join(map(_tab, range(len(named)), named, short_names(named)))
        # Each name once: panels repeat the same curves for other joints.
        curves = ", ".join(dict.fromkeys(series.name for panel in self.panels for series in panel.series))
        said = html_text(f"{self.caption}: {curves} over {self.xlabel}")
        return (
            f'<figure class="plot{" high" * self.tall}"><figcaption>{html_text(self.caption)}</figcaption>'
            + data_script(data)
            + (f'<div class="tabs" role="tablist">{tabs}</div>' if len(named) > 1 else "")
            + f'<div class="stage" role="img" aria-label="{said}"></div></figure>\n'
        )


def _ticks(values: Sequence[ArrayLike | None]) -> int:
    # Asked for six, Plotly writes nine numbers into each of one or two powers of ten, one over the other; asked for
    # three, those of 1, 2 and 5.
    held = np.concatenate([np.ravel(np.asarray(one, dtype=float)) for one in values])
    held = held[np.isfinite(held) & (held > 0)]
    return 3 if held.size and held.max() < MOST_WITH_FEW * held.min() else 6


def short_names(names: Sequence[str]) -> list[str]:
    """Names without the words that all of them begin or end with: panda_joint1 is joint1, elbow_joint is elbow."""
    if len(names) < 2:
        return list(names)
    short = list(names)
    for cut in (_without_beginning, _without_end):
        found = cut(short)
        # Names that would become empty or equal stay whole.
        if all(found) and len(set(found)) == len(names):
            short = found
    # A bare number says nothing.
    return [f"joint {name}" if name.isdigit() else name for name in short]


def _without_beginning(names: Sequence[str]) -> list[str]:
    first, last = min(names), max(names)
    # What the first and last in order share, all share.
    length = next((k for k, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))
    # Up to a separator: "joint1" and "joint2" share letters, not a word.
    start = max(map(first[:length].rfind, SEPARATORS)) + 1
    return [name[start:] for name in names]


def _without_end(names: Sequence[str]) -> list[str]:
    return [name[::-1] for name in _without_beginning([name[::-1] for name in names])]


def _tab(k: int, name: str, short: str) -> str:
    # One tab stop for the whole list, as ARIA's tabs have it; arrow keys do the rest.
    selected = f'aria-selected="{str(k == 0).lower()}" tabindex="{-min(k, 1)}"'
    return f'<button type="button" role="tab" title="{html_text(name)}" {selected}>{html_text(short)}</button>'


def drawn_line(series: Series, order: int) -> dict[str, Any]:
    """Width and dash of a curve."""
    # By the order alone: who chose a colour chose what sets the curve apart.
    own = {"dash": DASHES[order % 8]} if series.colour is None and series.style in ("", "thin") else {}
    return LINES[series.style] | own


def _described(series: Series, order: int) -> dict[str, Any]:
    # What is None keeps its default in the script, and out of the file.
    given = {name: value for name, value in vars(series).items() if value is not None}
    return given | {"line": drawn_line(series, order), "symbol": SYMBOLS[order % 8]}
