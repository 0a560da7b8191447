"""Every fenced block of the README and of the docs runs, in the order of the page; links and pointers lead somewhere.

A block with a title is a file of that name (```c title="main.c"); python is executed; of sh, `tauform` runs in process
and anything else in a shell. Commands that a reader runs but the tests should not are indented, without a fence.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import tauform as tf
from tauform.cli import main
from written_checks import installed

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```(\w*)(?: title=\"([\w./-]+)\")?[ \t]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
RUN = ("python", "sh")
FOLDERS = sorted(path.name for path in (ROOT / "src" / "tauform").iterdir() if path.is_dir())
LONGEST_LINE = 109  # in characters: what a window of 1280 px shows without scrolling
# By shell blocks that build what was generated, and by blocks of Python.
BUILDERS = ("cc", "c++", "make", "cmake", "wasm-ld", "rustc", "cargo", "aarch64-linux-gnu-gcc")
TOOLS = (*BUILDERS, "node", "octave-cli", "qemu-aarch64")
MODULES = ("fmpy", "pyopencl")
# Pages of targets print the torques that hold the KR6 there; these print how far they are from stored results instead.
POSTURE = (0.1, -1.0, 1.2, 0.0, 0.5, 0.0)
WITHOUT_TORQUES = ("fmu", "ros2", "simulink")


class Block(NamedTuple):
    """A fenced block; `file` is its title."""

    language: str
    file: str
    text: str


def blocks_of(page: Path) -> list[Block]:
    return [Block(*found) for found in BLOCK.findall(page.read_text(encoding="utf-8"))]


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def run_python(text: str, page: Path, namespace: dict[str, object]) -> None:
    try:
        exec(compile(text, str(page), "exec"), namespace)
    except ModuleNotFoundError as error:
        if error.name not in MODULES:
            raise
        pytest.skip(f"{error.name} is not installed")


def run_shell(text: str) -> None:
    for command in text.replace("\\\n", " ").splitlines():
        words = shlex.split(command, comments=True)
        if not words:
            continue
        if words[0] == "tauform" and not {"|", ">", "&&"} & set(words):
            assert main(words[1:]) == 0, command
            continue
        missing = [tool for tool in TOOLS if tool in words and not installed(tool)]
        if missing:
            pytest.skip(f"{missing[0]} is not installed")
        command = re.sub(r"^tauform\b", f"{sys.executable} -m tauform", command)
        if "-O0" in os.environ.get("CFLAGS", ""):  # by day, as all C (conftest.py)
            command = command.replace(" -O2 ", " -O0 ")
        done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
        print(done.stdout)


@pytest.mark.usefixtures("kept_programs")
@pytest.mark.parametrize("page", [page for page in PAGES if blocks_of(page)], ids=name_of)
def test_blocks_run(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    namespace: dict[str, object] = {}
    for block in blocks_of(page):
        if block.file:
            (tmp_path / block.file).write_text(block.text, encoding="utf-8")
        elif block.language == "python":
            run_python(block.text, page, namespace)
        elif block.language == "sh":
            run_shell(block.text)
    if page.parent.name == "targets" and page.stem not in WITHOUT_TORQUES:
        assert times_printed(capsys.readouterr().out) == (4 if page.stem == "frameworks" else 1)


def times_printed(text: str) -> int:
    """How often the torques of the posture stand in what a page printed."""
    numbers = [float(word) for word in re.findall(r"-?\d+\.?\d*(?:e[-+]\d+)?", text)]
    expected = tf.textbook.gravity_torque(tf.load("kr6_r700"), POSTURE)
    return sum(np.allclose(numbers[k : k + 6], expected, rtol=0, atol=1e-4) for k in range(len(numbers) - 5))


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_fence_says_what_it_holds(page: Path) -> None:
    """A language that is not run would be a block that nobody checks; plain output is text."""
    for block in blocks_of(page):
        assert block.file or block.language in (*RUN, "text"), block.text[:60]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_lines_of_code_fit_the_page(page: Path) -> None:
    for block in blocks_of(page):
        long = [line for line in block.text.splitlines() if len(line) > LONGEST_LINE and block.language != "text"]
        assert long == []


def test_readme_shows_code() -> None:
    assert blocks_of(ROOT / "README.md")


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_to_files_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#\s]+)", page.read_text(encoding="utf-8")):
        if not target.startswith(("http:", "https:", "mailto:")):
            assert (page.parent / target).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_pointers_into_the_repository_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    pages = re.findall(r"`((?:src|tests|examples|docs|benchmarks|tools)/[\w./-]+\.\w+)`", text)
    modules = re.findall(rf"`((?:{'|'.join(FOLDERS)})/[\w./]+\.py)`", text)
    for path in (*pages, *(f"src/tauform/{module}" for module in modules)):
        assert (ROOT / path).is_file(), path
