"""A folder imports only from those before it in this list (docs/architecture.md)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

LEVELS = (
    *(
        "version",
        "moved",
        "escaping",
        "errors",
        "hints",
        "arguments",
        "arrays",
        "archives",
        "documents",
        "files",
        "messages",
        "portable",
        "description",
        "rigidbody",
        "closedform",
    ),
    *("codegen", "identification", "realtime", "pipeline", "report", "cli", "__main__"),
)
# Users expect these as methods, though a higher folder does the work; they look it up when called.
DELEGATED = {
    Path("description/robot.py"): {
        ("rigidbody", "check"),
        ("closedform", "base", "parameters"),
        ("closedform", "base", "baseset"),
    },
    # the reader of MJCF compares what it read with MuJoCo's torques
    Path("description/formats/mjcf/comparison.py"): {("rigidbody", "inverse_dynamics")},
    # bound.reduce compares routes by counted operations
    Path("closedform/model/bound.py"): {("realtime", "reduction", "reduce")},
    Path("identification/fit.py"): {("report", "sections", "identification")},
    Path("pipeline/model_robot.py"): {("report", "delivery")},
    Path("identification/motion/trajectory.py"): {("report", "figures", "motion")},
}
PACKAGE = Path(__file__).resolve().parents[2] / "src" / "tauform"
MODULES = sorted(path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py"))


def level_of(parts: tuple[str, ...]) -> int:
    """Place of a dotted name below tauform; the package itself re-exports everything, so it stands with the top."""
    return LEVELS.index(parts[0]) if parts else LEVELS.index("cli")


def imports_of(source: str) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Line and dotted name (without tauform) of each import from the project, wherever it stands in the file."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: imports are written in full"
            names = [f"tauform.{alias.name}" for alias in node.names] if node.module == "tauform" else [node.module]
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "import_module":
            names = [arg.value for arg in node.args if isinstance(arg, ast.Constant)]
        else:
            continue
        for name in names:
            first, *rest = str(name).split(".")
            if first == "tauform":
                yield node.lineno, tuple(rest) if not rest or rest[0] in LEVELS else ()


def violations(module: Path, source: str) -> list[str]:
    """What a module imports from above its own level."""
    own = level_of((module.parts[0].removesuffix(".py"),))
    return [
        f"{module}:{line} imports tauform.{'.'.join(parts)}"
        for line, parts in imports_of(source)
        if level_of(parts) > own and parts not in DELEGATED.get(module, set())
    ]


@pytest.mark.parametrize("module", [m for m in MODULES if m != Path("__init__.py")], ids=str)
def test_module_imports_only_from_its_level_or_below(module: Path) -> None:
    assert violations(module, (PACKAGE / module).read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "statement",
    [
        "import tauform",
        "from tauform import load",
        "import tauform.closedform.model.model",
        "def f():\n    from tauform.codegen.program.program import Program",
        "import_module('tauform.cli')",
    ],
)
def test_an_import_from_above_is_seen(statement: str) -> None:
    assert violations(Path("rigidbody/some.py"), statement)


@pytest.mark.parametrize("statement", ["import numpy", "from tauform.errors import TauformError"])
def test_an_import_from_below_is_allowed(statement: str) -> None:
    assert not violations(Path("rigidbody/some.py"), statement)


def test_every_folder_has_a_level() -> None:
    assert {module.parts[0].removesuffix(".py") for module in MODULES} - {"__init__"} <= set(LEVELS)


def test_what_a_robot_delegates_is_looked_up_when_called_not_imported_on_loading() -> None:
    for module in DELEGATED:
        tree = ast.parse((PACKAGE / module).read_text(encoding="utf-8"))
        top = ast.Module([node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)], [])
        assert not [parts for _, parts in imports_of(ast.unparse(top)) if parts in DELEGATED[module]]
