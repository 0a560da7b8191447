"""The table of functions on the page about C holds every function, its arrays and its summary."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

from tauform.codegen.functions import FUNCTIONS

ROOT = Path(__file__).resolve().parents[2]


def hook() -> ModuleType:
    spec = importlib.util.spec_from_file_location("functions", ROOT / "docs" / "hooks" / "functions.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_function_is_in_the_table_that_the_page_asks_for() -> None:
    page = hook().on_page_markdown((ROOT / "docs" / "howto" / "generate.md").read_text(encoding="utf-8"))
    assert "<!-- functions -->" not in page
    for name, function in FUNCTIONS.items():
        row = next(line for line in page.splitlines() if line.startswith(f"| `{name}` |"))
        assert row.endswith(f"| {function.summary} |")
    assert "| `coefficients` | `q` | `M` (n, n), `gravity` |" in page
    assert "| `torque_breakdown` | `q`, `qd`, `qdd` | `inertial`, `velocity`, `gravity`, `friction` |" in page
    assert "| `base_regressor` | `q`, `qd`, `qdd` | `Y` (n, l) |" in page
    assert "| `jacobian` | `q` | `J` (6, n) |" in page
