"""The one place that holds the version."""

from __future__ import annotations

import re

__version__ = "0.1.0"


def release() -> str:
    """The version as build systems take it: numbers only, without what marks one before its release."""
    numbers = re.match(r"\d+(\.\d+)*", __version__)
    return numbers[0] if numbers else "0"
