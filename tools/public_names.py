"""Public names of the package, as its stub lists them."""

from __future__ import annotations

import ast
from pathlib import Path

STUB = Path(__file__).resolve().parents[1] / "src" / "tauform" / "__init__.pyi"


def homes() -> dict[str, str]:
    """Public name -> module below tauform that defines it; a module's own is empty."""
    nodes = [node for node in ast.parse(STUB.read_text(encoding="utf-8")).body if isinstance(node, ast.ImportFrom)]
    return {alias.name: node.module or "" for node in nodes for alias in node.names}
