"""Nobody counts columns of parameters or rows of E, or reads names: the layout is asked (docs/architecture.md)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from source_trees import parsed

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "tauform"
# The one module that may count.
LAYOUT = Path("description/layout.py")
# Parameters of a link and of a link with its joint, times a number of bodies or the place of one.
SIZES = (10, 14)
BODIES = {"n", "n_bodies", "n_joints", "n_links", "i", "j", "k", "body", "bodies", "link", "parent", "joint"}
# Rows of E, which `Generators` of closedform/generators.py knows.
EXPONENTS = {"exponents", "E"}
# Ways to take a name such as IzzR_2 apart.
TAKEN_APART = {"split": "_", "rsplit": "_", "partition": "_", "rpartition": "_", "rstrip": "R", "removesuffix": "R"}
KINDS = ("m", "I", "F", "K")


def faults(source: str) -> list[str]:
    """Lines that count columns or parse names."""
    return [f"line {line}: {what}" for node in ast.walk(parsed(source)) for line, what in _faults_of(node)]


def _faults_of(node: ast.AST) -> Iterator[tuple[int, str]]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        for one, other in ((node.left, node.right), (node.right, node.left)):
            if isinstance(one, ast.Constant) and one.value in SIZES and _name(other) in BODIES:
                yield node.lineno, f"{one.value} * {_name(other)}"
    if isinstance(node, ast.Subscript) and _name(node.value) in EXPONENTS:
        for product in ast.walk(node.slice):
            if isinstance(product, ast.BinOp) and isinstance(product.op, ast.Mult):
                yield node.lineno, ast.unparse(node)
    if isinstance(node, ast.Call):
        function = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        given = [arg.value for arg in node.args if isinstance(arg, ast.Constant)]
        if function in TAKEN_APART and given[:1] == [TAKEN_APART[function]]:
            yield node.lineno, f'.{function}("{given[0]}")'
        if function == "divmod" and given[-1:] == [4]:
            yield node.lineno, "divmod(..., 4)"
        if function == "startswith" and given and str(given[0]).startswith(KINDS) and str(given[0]).endswith("_"):
            yield node.lineno, f'.startswith("{given[0]}")'


def _name(node: ast.AST) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def test_package_asks_the_layout() -> None:
    modules = (path for path in PACKAGE.rglob("*.py") if path.relative_to(PACKAGE) != LAYOUT)
    found = {str(path.relative_to(PACKAGE)): faults(path.read_text(encoding="utf-8")) for path in modules}
    assert {module: lines for module, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    "line",
    [
        "column = 10 * robot.n_bodies + 4 * j + 2",
        "values = np.zeros(14 * n)",
        "own = slice(10 * j, 10 * j + 10)",
        "body, kind = divmod(pivot - n_link, 4)",
        'kind, number = name.rsplit("_", 1)',
        'kinds = {name.split("_")[0].rstrip("R") for name in names}',
        'viscous = name.startswith("Fv_")',
        "rates = model.exponents[3 * n :]",
        "E[[i, n + i, 2 * n + i]] = powers",
    ],
)
def test_old_ways_are_found(line: str) -> None:
    assert faults(line)
