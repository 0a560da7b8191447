"""Displayed: what users hold shows itself in notebooks."""

from __future__ import annotations

from tauform.deferred import deferred


class Displayed:
    """Base of types that Jupyter displays: a few figures and a table in place of one line."""

    def _repr_html_(self) -> str:
        return deferred("_repr_html_")(self)
