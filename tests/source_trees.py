"""Syntax trees of source texts, each parsed once for all contracts that look through the package."""

from __future__ import annotations

import ast
import gc
from functools import cache


@cache
def parsed(source: str) -> ast.Module:
    """The tree of a text, which is shared: nobody may change it."""
    tree = ast.parse(source)
    gc.freeze()  # half a million nodes that stay: to look through them again and again took longer than to parse
    return tree
