"""Generated files against those in tests/golden/c; after a wanted change, run pytest with --update-golden."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import tauform as tf
from tauform.codegen.backends.backend import PrintOptions, Request
from tauform.codegen.backends.c.project import project_files
from tauform.version import __version__
from traced_programs import every_kind, inverse_dynamics

CASES = {
    "double": lambda: project_files(Request((inverse_dynamics(tf.load("two_link")),), "two_link")),
    "float_batch": lambda: project_files(Request((every_kind(),), "example", PrintOptions("float", batch=True))),
}


@pytest.mark.parametrize("case", CASES)
def test_generated_files(case: str, repository: Path, request: pytest.FixtureRequest) -> None:
    golden = repository / "tests" / "golden" / "c" / case
    files = {name: text.replace(__version__, "VERSION") for name, text in CASES[case]().items()}
    if request.config.getoption("--update-golden"):
        shutil.rmtree(golden, ignore_errors=True)
        for name, text in files.items():
            (golden / name).parent.mkdir(parents=True, exist_ok=True)
            (golden / name).write_text(text, newline="\n")
    found = [path for path in golden.rglob("*") if path.is_file()]
    assert {path.relative_to(golden).as_posix(): path.read_text() for path in found} == files
