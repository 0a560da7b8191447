"""Every public name is documented, annotated and registered, and no module has a name that says nothing."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import tauform
from source_trees import parsed
from tools.public_names import STUB, homes

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "tauform"
EMPTY_NAMES = {"utils", "util", "helpers", "helper", "manager", "common", "misc", "tools"}

Function = ast.FunctionDef | ast.AsyncFunctionDef


@cache
def trees() -> dict[str, ast.Module]:
    """Every module of the package."""
    paths = sorted(PACKAGE.rglob("*.py"))
    return {str(path.relative_to(PACKAGE)): parsed(path.read_text(encoding="utf-8")) for path in paths}


def public(nodes: list[ast.stmt], kinds: tuple[type, ...]) -> list[ast.stmt]:
    return [node for node in nodes if isinstance(node, kinds) and not node.name.startswith("_")]  # type: ignore[attr-defined]


def functions_of(tree: ast.Module) -> list[Function]:
    """Public functions of a module and public methods of its public classes."""
    classes = public(tree.body, (ast.ClassDef,))
    nodes = public(tree.body, (ast.FunctionDef,))
    return [*nodes, *(m for c in classes for m in public(c.body, (ast.FunctionDef,)))]  # type: ignore[list-item,attr-defined]


def explains_itself(function: Function) -> bool:
    """A property, or a method of one statement: there the name may say it all."""
    is_method = any(argument.arg in ("self", "cls") for argument in function.args.args[:1])
    is_property = any("property" in ast.unparse(decorator) for decorator in function.decorator_list)
    return is_property or (is_method and len(function.body) == 1)


def arguments_of(function: Function) -> list[ast.arg]:
    listed = function.args
    return [*listed.posonlyargs, *listed.args, *listed.kwonlyargs, *filter(None, (listed.vararg, listed.kwarg))]


def undocumented(tree: ast.Module) -> Iterator[str]:
    """What a module does not say of its public names."""
    if tree.body and not ast.get_docstring(tree):
        yield "the module says in a docstring what it is for"
    for node in public(tree.body, (ast.ClassDef,)):
        if not ast.get_docstring(node):  # type: ignore[arg-type]
            yield f"class {node.name} has no docstring"  # type: ignore[attr-defined]
    for function in functions_of(tree):
        if not ast.get_docstring(function) and not explains_itself(function):
            yield f"{function.name} has no docstring"
        if function.returns is None:
            yield f"{function.name} does not say what it returns"
        bare = [a.arg for a in arguments_of(function) if a.annotation is None and a.arg not in ("self", "cls")]
        if bare:
            yield f"{function.name}: {bare} not annotated"


def invented(tree: ast.Module) -> Iterator[str]:
    """Arguments that docstrings describe and functions do not take."""
    for function in functions_of(tree):
        docstring = ast.get_docstring(function) or ""
        section = re.search(r"^Args:\n((?:[ ]+.*\n?|\n)+)", docstring, re.MULTILINE)
        known = {argument.arg for argument in arguments_of(function)}
        for names in re.findall(r"^ {4}(\w+(?:, \w+)*):", section.group(1), re.MULTILINE) if section else ():
            missing = set(names.split(", ")) - known
            if missing:
                yield f"{function.name}: documents {missing}, takes {known}"


def test_public_functions_are_documented_and_annotated() -> None:
    assert [f"{path}: {fault}" for path, tree in trees().items() for fault in undocumented(tree)] == []


def test_documented_arguments_exist() -> None:
    assert [f"{path}: {fault}" for path, tree in trees().items() for fault in invented(tree)] == []


def test_what_is_not_documented_is_found() -> None:
    function = 'def f(x: int, y):\n    """Do it.\n\n    Args:\n        z: none.\n    """\n'
    tree = ast.parse(f"{function}\nclass A:\n    pass")
    assert len(list(undocumented(tree))) == 4
    assert len(list(invented(tree))) == 1


def test_the_stub_lists_every_name_once() -> None:
    names = [
        alias
        for node in ast.parse(STUB.read_text("utf-8")).body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    ]
    assert len(names) == len(homes())
    assert sorted(tauform.__all__) == sorted([*homes(), "__version__"])


@pytest.mark.parametrize("name", sorted(homes()))
def test_public_name_loads_and_is_documented(name: str) -> None:
    value = getattr(tauform, name)
    assert inspect.getdoc(value)


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = tauform.no_such_name


def test_no_module_has_a_name_that_says_nothing() -> None:
    folders = [ROOT / folder for folder in ("src", "tests", "benchmarks", "tools", "examples")]
    found = [path for folder in folders for path in folder.rglob("*.py") if path.stem in EMPTY_NAMES]
    assert not found
