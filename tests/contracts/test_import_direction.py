"""A folder imports only from those before it in this list (docs/architecture.md)."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import tauform
from source_trees import parsed
from tauform.deferred import DEFERRED, deferred
from tools.metrics import cycles, import_graph

LEVELS = (
    *(
        "version",
        "moved",
        "deferred",
        "escaping",
        "errors",
        "hints",
        "wording",
        "annotations",
        "arguments",
        "arrays",
        "archives",
        "documents",
        "files",
        "messages",
        "scheduler",
        "notebook",
        "portable",
        "description",
        "rigidbody",
        "closedform",
        "textbook",
    ),
    *(
        "codegen",
        "fast",
        "identification",
        "fleet",
        "realtime",
        "simulation",
        "pipeline",
        "report",
        "studio",
        "cli",
        "__main__",
    ),
)
# Types of arguments and results of methods whose work is deferred (`tauform.deferred`); only type checkers import them.
TYPES = {
    Path("description/robot.py"): {("closedform", "base", "baseset"), ("report", "notebook", "view")},
    Path("closedform/model/bound.py"): {("realtime", "reduction", "reduce")},
    Path("pipeline/robot_model.py"): {("report", "delivery")},
}
PACKAGE = Path(__file__).resolve().parents[2] / "src" / "tauform"
imported = cache(import_graph)
MODULES = sorted(path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py"))


def level_of(parts: tuple[str, ...]) -> int:
    """Place of a dotted name below tauform; the package itself re-exports everything, so it stands with the top."""
    return LEVELS.index(parts[0]) if parts else LEVELS.index("cli")


def imports_of(source: str) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Line and dotted name (without tauform) of each import from the project, wherever it stands in the file."""
    for node in ast.walk(parsed(source)):
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
        if level_of(parts) > own and parts not in TYPES.get(module, set())
    ]


def test_modules_import_only_from_their_level_or_below() -> None:
    modules = [module for module in MODULES if module != Path("__init__.py")]
    found = [line for m in modules for line in violations(m, (PACKAGE / m).read_text(encoding="utf-8"))]
    assert found == []


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


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert cycles(imported(PACKAGE.parent)) == []


def test_no_rooms_import_each_other_in_a_circle() -> None:
    """Between rooms there is one direction; only a room and the folder it stands in may use each other."""
    rooms: dict[str, set[str]] = defaultdict(set)
    for module, targets in imported(PACKAGE.parent).items():
        for target in targets:
            own, other = (name.rpartition(".")[0] for name in (module, target))
            if not f"{own}.".startswith(f"{other}.") and not f"{other}.".startswith(f"{own}."):
                rooms[own] |= {other}
                rooms[other] |= set()
    assert cycles(rooms) == []


def test_circles_are_found() -> None:
    assert cycles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == [["a", "b", "c"]]


def test_every_folder_has_a_level() -> None:
    assert {module.parts[0].removesuffix(".py") for module in MODULES} - {"__init__"} <= set(LEVELS)


@pytest.mark.parametrize("module", TYPES, ids=str)
def test_types_from_above_are_imported_by_type_checkers_only(module: Path) -> None:
    tree = ast.parse((PACKAGE / module).read_text(encoding="utf-8"))
    guarded = [node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    rest = ast.Module([node for node in tree.body if node not in guarded], [])
    assert not [parts for _, parts in imports_of(ast.unparse(rest)) if parts in TYPES[module]]


@pytest.mark.parametrize("method", DEFERRED)
def test_deferred_work_is_a_function(method: str) -> None:
    assert callable(deferred(method))
    owner, _, name = method.partition(".")
    assert not name or hasattr(getattr(tauform, owner), name)


def test_every_deferred_function_is_used() -> None:
    used = {
        node.args[0].value
        for module in MODULES
        if "deferred(" in (text := (PACKAGE / module).read_text(encoding="utf-8"))
        for node in ast.walk(parsed(text))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "deferred" and node.args
    }
    assert used == set(DEFERRED)
