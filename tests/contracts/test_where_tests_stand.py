"""Tests stand where their subject does, and share with benchmarks only what is in tools/."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
PACKAGE = TESTS.parent / "src" / "tauform"
# Tests that cross rooms.
BESIDE = {"contracts", "docs", "faults", "fuzz", "golden", "laws", "machines", "oracles", "tools", "verdicts"}
ROOMS = sorted(path.parent.relative_to(PACKAGE) for path in PACKAGE.rglob("__init__.py") if path.parent != PACKAGE)


def test_every_room_has_tests() -> None:
    """Of the first two levels; rooms within those, such as one language, may be tested by a list of them all."""
    tested = {path.parent.relative_to(TESTS) for path in TESTS.rglob("test_*.py")}
    tested |= {parent for folder in tested for parent in folder.parents}
    assert {room for room in ROOMS if len(room.parts) <= 2} <= tested


def test_every_folder_of_tests_is_a_room() -> None:
    folders = {path.parent.relative_to(TESTS) for path in TESTS.rglob("*.py")} - {Path()}
    assert {folder for folder in folders if folder.parts[0] not in BESIDE} <= set(ROOMS)


@pytest.mark.parametrize("folder", ["tests", "tools", "src"])
def test_only_benchmarks_import_benchmarks(folder: str) -> None:
    for path in (TESTS.parent / folder).rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        # Most files need not be parsed.
        for node in ast.walk(ast.parse(text)) if "benchmarks" in text else ():
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            assert not [name for name in names if name.split(".")[0] == "benchmarks"], path
