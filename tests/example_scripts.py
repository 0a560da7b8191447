"""Scripts of examples/ as modules, for tests that check what they compute."""

from __future__ import annotations

import importlib.util
from functools import cache
from pathlib import Path
from typing import Any

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


@cache
def example(name: str) -> Any:
    """The module of a script; loaded once, so that what it caches is computed once."""
    spec = importlib.util.spec_from_file_location(f"example_{name}", EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
