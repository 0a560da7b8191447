"""Outputs under the code of tutorials and targets: blocks run when the site is built, and what they print is shown."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError

ROOT = Path(__file__).resolve().parents[2]
# Tests build the site with a few of them: each page is run by a test of its own.
PAGES = tuple(os.environ.get("PAGES_WITH_OUTPUTS", "tutorials/ targets/").split())
BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)
# Lines of an output that are shown.
MOST_LINES = 45
# Runs in a process and a folder of its own: blocks in the order of the page, as a notebook runs its cells. A page whose
# tool is not installed here shows no output from there on; the tests name these tools and skip.
RUNNER = r"""
import ast, contextlib, io, json, re, shutil, subprocess, sys
names, said = {}, []
TOOLS = "rustc cargo octave-cli node wasm-ld aarch64-linux-gnu-gcc qemu-aarch64".split()
MODULES = ("fmpy", "pyopencl")
blocks = json.load(sys.stdin)
for language, title, text in blocks:
    out = io.StringIO()
    if any(shutil.which(tool) is None for tool in TOOLS if tool in text.split() and language == "sh"):
        break
    if title:
        open(title, "w", encoding="utf-8").write(text)
    elif language == "python":
        tree = ast.parse(text)
        last = ast.Expression(tree.body.pop().value) if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        try:
            with contextlib.redirect_stdout(out):
                exec(compile(tree, "block", "exec"), names)
                value = eval(compile(last, "block", "eval"), names) if last else None
                if value is not None:
                    print(repr(value))
        except ModuleNotFoundError as error:
            if error.name not in MODULES:
                raise
            break
    elif language == "sh":
        for line in text.replace("\\\n", " ").splitlines():
            command = re.sub(r"^tauform\b", sys.executable + " -m tauform", line)
            done = subprocess.run(command, shell=True, stdout=subprocess.PIPE, text=True)
            if done.returncode:
                sys.exit(f"{line} ended with code {done.returncode}")
            out.write(done.stdout)
    said.append(out.getvalue())
json.dump(said + [""] * (len(blocks) - len(said)), sys.stdout)
"""


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Run a page, and put what each block prints below it."""
    if not page.file.src_uri.startswith(PAGES):
        return markdown
    blocks = BLOCK.findall(markdown)
    printed = iter(run(blocks, page.file.src_uri))
    return BLOCK.sub(lambda match: match[0] + shown(next(printed)), markdown)


def run(blocks: list[tuple[str, str, str]], name: str) -> list[str]:
    """What each block prints."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "COLUMNS": "100", "NO_COLOR": "1"}
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-c", RUNNER], input=json.dumps(blocks), capture_output=True, text=True, cwd=folder,
            env=environment, check=False,
        )  # fmt: skip
    if done.returncode:
        raise PluginError(f"{name}: a block failed:\n{done.stderr[-2000:]}")
    # The folder of the run means nothing to a reader.
    said: list[str] = json.loads(done.stdout.replace(folder + "/", "").replace(folder, "."))
    return said


def shown(text: str) -> str:
    """An output as a block below its code; nothing where nothing was printed."""
    lines = [line.rstrip() for line in text.strip("\n").splitlines()]
    if not any(lines):
        return ""
    more = [f"... {len(lines) - MOST_LINES} lines more"] if len(lines) > MOST_LINES else []
    return "\n\n".join(
        [
            "",
            '<div class="printed" markdown>',
            "```text\n" + "\n".join([*lines[:MOST_LINES], *more]) + "\n```",
            "</div>",
        ]
    )
