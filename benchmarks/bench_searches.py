"""Where searches end: operations that were counted, so the figures are the same on every machine; nothing is timed."""

from __future__ import annotations

from tools.measuring.searches import TITLE, rows

__all__ = ["TITLE", "rows"]
