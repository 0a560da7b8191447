"""NotebookFigure: a figure of Plotly that says what is missing where it cannot be drawn."""

from __future__ import annotations

from plotly import graph_objects

from tauform.report.html.plot import OFFLINE

PLOTLY = "application/vnd.plotly.v1+json"
# JupyterLab draws figures by an extension in Plotly's wheel; neither a kernel's own environment nor an exported page
# brings it.
SENTENCE = (
    "This plot needs Plotly beside JupyterLab: <code>pip install plotly</code> in the environment that starts it, "
    'then restart it. <code>.write_html("plot.html")</code> saves the plot. '
    'Before a notebook is exported as HTML, run it with <code>plotly.io.renderers.default = "notebook"</code>.'
)


class NotebookFigure(graph_objects.Figure):  # type: ignore[misc]
    """A `plotly.graph_objects.Figure` whose display holds a sentence for notebooks that cannot draw it."""

    def _ipython_display_(self) -> None:
        from IPython.display import display

        bundle = self._repr_mimebundle_()
        # Other renderers, which a user may have chosen, bring their own page, picture or window.
        if set(bundle) == {PLOTLY}:
            shown = {**bundle[PLOTLY], "config": bundle[PLOTLY].get("config", {}) | OFFLINE}
            display({PLOTLY: shown, "text/html": SENTENCE}, raw=True)
        else:
            super()._ipython_display_()
