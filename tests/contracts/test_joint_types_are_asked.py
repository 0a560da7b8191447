"""Nobody asks what kind a joint is: the joint's type answers (docs/architecture.md)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from source_trees import parsed
from tauform.description.joint_types import BY_LETTER, JOINT_TYPES

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "tauform"
# Types say what they are, and formats spell them.
ROOMS = ("description/joint_types/", "description/formats/")
# What users may ask, and the flag of models that version 1 saved.
ASKED = {"description/joint.py", "closedform/model/storage.py"}
FLAGS = {"is_revolute", "is_prismatic", "revolute", "prismatic"}
CLASSES = {type(own).__name__ for own in JOINT_TYPES.values()}
INSTANCES = {name.upper() for name in JOINT_TYPES}


def faults(source: str) -> list[str]:
    """Lines that ask a joint's kind."""
    tree = parsed(source)
    documented = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    return [f"line {line}: {what}" for node in ast.walk(tree) for line, what in _faults_of(node, documented)]


def _faults_of(node: ast.AST, documented: set[int]) -> Iterator[tuple[int, str]]:
    if isinstance(node, ast.Attribute) and node.attr in FLAGS:
        yield node.lineno, f".{node.attr}"
    if isinstance(node, ast.Constant) and node.value in JOINT_TYPES and id(node) not in documented:
        yield node.lineno, repr(node.value)
    if isinstance(node, ast.Name) and node.id in CLASSES:
        yield node.lineno, node.id
    if isinstance(node, ast.Compare):
        for side in (node.left, *node.comparators):
            if isinstance(side, ast.Name) and side.id in INSTANCES:
                yield node.lineno, f"compares with {side.id}"
            if isinstance(side, ast.Constant) and side.value in BY_LETTER:
                yield node.lineno, f"compares with {side.value!r}"


def test_package_asks_the_type() -> None:
    names = {path.relative_to(PACKAGE).as_posix(): path for path in PACKAGE.rglob("*.py")}
    outside = {name: path for name, path in names.items() if not name.startswith(ROOMS) and name not in ASKED}
    found = {name: faults(path.read_text(encoding="utf-8")) for name, path in outside.items()}
    assert {name: lines for name, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    "line",
    [
        "unit = 'rad' if joint.is_revolute else 'm'",
        "if tree.revolute[i]: pass",
        "turns = joint.kind == 'revolute'",
        "if joint.type.name in ('prismatic',): pass",
        "if isinstance(joint.type, Revolute): pass",
        "if tree.types[i] == REVOLUTE: pass",
        "if joint.type.letter == 'P': pass",
    ],
)
def test_old_ways_are_found(line: str) -> None:
    assert faults(line)
