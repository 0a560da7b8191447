"""Ports are named by people (a frame is a port of its wrench): a name that stands in the text already gives way."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

import tauform as tf
from codegen.backends.test_targets import SMALL, for_target
from tauform.codegen.backends.registry import backend
from tauform.codegen.program.graph import Graph
from tauform.codegen.program.lower import lower
from tauform.codegen.program.program import Program
from written_checks import run_check

SOURCES = {".c", ".h", ".hpp", ".cpp", ".rs", ".mjs", ".js", ".m", ".cl", ".cu"}
PRINTING = ("cpp", "javascript", "rust", "opencl", "cuda")
BY_WAY_OF_C = ("c", "wasm")
# What self-tests make of the name of a port, and words that a language's libraries bring along.
MADE = [f"x{end}" for end in ("_all", "_expected", "_scale", "_computed", "_body", "_batch", "_")]
BROUGHT = ["main", "printf", "fabs", "NULL", "errno", "INFINITY", "std", "assert", "console", "Number", "ones", "size"]


# Self-tests call each function with every input as every output.
PORTS_AT_ONCE = 8


def programs_of(names: Sequence[str]) -> list[Program]:
    """Functions of which all inputs, or all outputs, have such names."""
    groups = [names[k : k + PORTS_AT_ONCE] for k in range(0, len(names), PORTS_AT_ONCE)]
    return [make(f"{make.__name__}{k}", group) for k, group in enumerate(groups) for make in (reading, writing)]


def reading(title: str, names: Sequence[str]) -> Program:
    """The sum of inputs of these names."""
    graph = Graph()
    return lower(graph, title, {"y": [sum(graph.input(name, 1)[0] * (k + 1.0) for k, name in enumerate(names))]})


def writing(title: str, names: Sequence[str]) -> Program:
    """Multiples of an input, as outputs of these names."""
    graph = Graph()
    x = graph.input("x", 1)[0]
    return lower(graph, title, {name: [x.sin() * (k + 1.0)] for k, name in enumerate(names)})


def written(target: str, names: Sequence[str], folder: Path) -> str:
    """Write both kinds; the text without comments."""
    programs = for_target(target, programs_of(names), SMALL)
    tf.write(programs, folder, target=target, name="arm", **({"batch": True} if backend(target).has_batch else {}))
    texts = [path.read_text(encoding="utf-8") for path in sorted(folder.rglob("*")) if path.suffix in SOURCES]
    return re.sub(r"/\*.*?\*/|//[^\n]*|%[^\n]*", "", "\n".join(texts), flags=re.DOTALL)


def hostile(target: str, folder: Path) -> None:
    """Write a folder whose ports have the names of all words in it."""
    words = set(re.findall(r"[A-Za-z]\w*", written(target, ["x", "z"], folder / "plain")))
    written(target, sorted({*words, *MADE, *BROUGHT}), folder / "out")


# Self-tests in C call every function in every way, and are compiled for long.
@pytest.mark.parametrize("target", [*PRINTING, *(pytest.param(t, marks=pytest.mark.nightly) for t in BY_WAY_OF_C)])
def test_a_port_may_be_named_like_any_word_of_the_text(target: str, tmp_path: Path) -> None:
    hostile(target, tmp_path)
    assert "reading0" in run_check(tmp_path / "out", target, "arm")


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
def test_c_with_such_ports_is_c(tmp_path: Path) -> None:
    hostile("c", tmp_path)
    command = ["gcc", "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", "arm.c", "test_arm.c"]
    subprocess.run(command, cwd=tmp_path / "out", check=True)
