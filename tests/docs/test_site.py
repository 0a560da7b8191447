"""The documentation site builds without a warning and without fetching, and names every public name and verb."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import tauform
from tauform.cli import VERBS

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_a_page(verb: str) -> None:
    page = (DOCS / "howto" / f"{verb}.md").read_text(encoding="utf-8")
    assert f"<!-- help: {verb.replace('_', '-')} -->" in page
    assert "```sh" in page


def test_every_example_is_numbered_once() -> None:
    numbers = [path.name[:2] for path in (ROOT / "examples").glob("[0-9]*.py")]
    assert len(numbers) == len(set(numbers))


def test_pages_are_built_without_warnings_and_fetch_nothing(tmp_path: Path) -> None:
    """Examples are replaced by one that draws nothing much: they are run by tests of their own."""
    pytest.importorskip("material")
    pytest.importorskip("mkdocstrings")
    copy = tmp_path / "project"
    copy.mkdir()
    for name in ("docs", "src", "benchmarks"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("mkdocs.yml", "CHANGELOG.md", "CONTRIBUTING.md"):
        shutil.copy(ROOT / name, copy / name)
    (copy / "examples").mkdir()
    for script in (ROOT / "examples").glob("[0-9]*.py"):
        drawing = '<svg xmlns="http://www.w3.org/2000/svg"/>'
        text = f'"""{script.stem}: a stand-in."""\nimport sys\nopen(sys.argv[2], "w").write({drawing!r})\n'
        (copy / "examples" / script.name).write_text(text)
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet"]
    done = subprocess.run(command, cwd=copy, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    pages = list((copy / "site").rglob("*.html"))
    assert len(pages) > 20
    for page in pages:
        fetched = re.findall(
            r'(?:<script[^>]+src|<link[^>]+href|<img[^>]+src)="(https?:[^"]+)"', page.read_text("utf-8")
        )
        assert fetched == [], page.name
    reference = (copy / "site" / "reference.html").read_text("utf-8")
    for name, module in tauform._HOME.items():
        assert f'id="tauform.{module}.{name}"' in reference, f"{name} is not in the reference"
    rigid = (copy / "site" / "mathematics" / "rigidbody.html").read_text("utf-8")
    assert "<math" in rigid
    assert "$$" not in rigid
    assert "tauformequation" not in rigid
