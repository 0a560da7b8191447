"""plotly_figure: a plot of the reports as a figure of Plotly, which notebooks display and scripts save."""

from __future__ import annotations

from typing import Any

import numpy as np

from tauform.escaping.markup import html_text
from tauform.report.html.elements import rounded
from tauform.report.html.plot import SYMBOLS, Panel, Plot, Series, drawn_line

# The colours of the reports, in their order; the last stands back.
COLOURS = ("#1f63c4", "#d1571a", "#18855d", "#9b3fa5", "#a97b00", "#c22f55", "#2f8fa8", "#5b6470", "#8a949e")

# Pixels of a figure that is half as high again; Plotly's own is 450.
TALL = 680


def plotly_figure(plot: Plot) -> Any:
    """A `plotly.graph_objects.Figure` with a menu of the panels where there are several."""
    from tauform.report.notebook.figure import NotebookFigure

    # Plotly has no tabs: all panels are traces of one figure, and a menu shows those of one.
    traces, owners = [], []
    if plot.heat:
        return NotebookFigure([_matrix(plot)], _layout(plot))
    for k, panel in enumerate(plot.panels):
        for order, series in enumerate(panel.series):
            traces.append(_trace(plot, series, order) | {"visible": _visible(series) if k == 0 else False})
            owners.append(k)
    figure = NotebookFigure(traces, _layout(plot))
    if len(plot.panels) > 1:
        shown = [series for panel in plot.panels for series in panel.series]
        buttons = [_button(plot, k, panel, owners, shown) for k, panel in enumerate(plot.panels)]
        figure.update_layout(
            updatemenus=[{"buttons": buttons, "x": 1, "y": 1.16, "xanchor": "right", "yanchor": "top"}]
        )
    return figure


def _visible(series: Series) -> bool | str:
    return "legendonly" if series.hidden else True


def _button(plot: Plot, k: int, panel: Panel, owners: list[int], shown: list[Series]) -> dict[str, Any]:
    # A trace hidden by its panel is gone; one that the user may call stays in the legend.
    visible = [_visible(series) if owner == k else False for owner, series in zip(owners, shown, strict=True)]
    # Texts are escaped: Plotly reads a subset of HTML in labels.
    label = {"yaxis.title.text": html_text(panel.ylabel or plot.ylabel)}
    label["xaxis.title.text"] = html_text(panel.xlabel or plot.xlabel)
    return {"label": html_text(panel.name), "method": "update", "args": [{"visible": visible}, label]}


def _layout(plot: Plot) -> dict[str, Any]:
    def axis(label: str, nticks: int) -> dict[str, Any]:
        # Whole numbers at every tick: digits between powers of ten are too small to read, and 10000 is no 0.1×10⁵.
        shown = {"title": {"text": html_text(label), "standoff": 6}, "tickformat": "~g", "automargin": True}
        return shown | ({"type": "log", "nticks": nticks} if nticks else {})

    across = axis(plot.panels[0].xlabel or plot.xlabel, plot.xticks)
    upright = axis(plot.panels[0].ylabel or plot.ylabel, plot.yticks)
    # Without "category" joints called 1, 2, 3 would become numbers; the first name stands on top.
    names = {"type": "category", "autorange": "reversed", "automargin": True}
    if plot.bars:
        # Bars lie, beside their names.
        across, upright = upright, names
    elif plot.heat:
        across, upright = {"type": "category"}, names
    return {
        "title": {"text": html_text(plot.caption)},
        "xaxis": across,
        "yaxis": upright,
        "hovermode": "closest" if plot.bars or plot.heat else "x unified",
        # Below, where it may take several lines: above it would grow over the title and the menu.
        "legend": {"orientation": "h", "yref": "container", "y": 0, "yanchor": "bottom", "x": 0},
        "margin": {"t": 70, "r": 20},
        "height": TALL if plot.tall else None,
    }


def _matrix(plot: Plot) -> dict[str, Any]:
    """A matrix from -1 to 1, as pale as it is small."""
    series = plot.panels[0].series
    names = [html_text(row.name) for row in series]
    scale = [[0.0, COLOURS[1]], [0.5, "#ffffff"], [1.0, COLOURS[0]]]
    about = {"type": "heatmap", "z": [rounded(row.y) for row in series], "x": names, "y": names}
    return about | {"zmin": -1, "zmax": 1, "colorscale": scale}


def _trace(plot: Plot, series: Series, order: int) -> dict[str, Any]:
    # Eight colours in turn; the ninth is kept for what stands back.
    colour = COLOURS[series.colour if series.colour is not None else order % 8]
    x = series.x if series.x is not None else plot.x
    about = {"name": html_text(series.name), "x": rounded(x), "y": rounded(series.y)}
    about["text"] = None if series.notes is None else [html_text(note) for note in series.notes]
    if series.spread is not None:
        about["error_y"] = {"type": "data", "array": rounded(series.spread)}
    if plot.bars:
        # Patterns beside colours: pairs of bars stay apart in grey.
        marker = {"color": colour, "pattern": {"shape": ("", "/")[order % 2]}}
        words = {"texttemplate": "%{x:.2~r}", "textposition": "outside", "cliponaxis": False}
        # Plotly would shrink numbers with their bars until nobody can read them.
        words |= {"constraintext": "none", "textfont": {"size": 10}}
        lying = {"orientation": "h", "x": about["y"], "y": about["x"]}
        return about | lying | words | {"type": "bar", "marker": marker}
    mode = "markers" if series.style == "points" else "lines+markers" if plot.points else "lines"
    line = drawn_line(series, order) | {"color": colour}
    # A point alone has to be seen; many would cover each other.
    points = {"color": colour, "symbol": SYMBOLS[order % 8], "size": 4 if np.size(series.y) > 1 else 9}
    return about | {"type": "scatter", "mode": mode, "line": line, "marker": points}
