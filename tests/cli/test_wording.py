"""Sentences of the API reach a terminal with flags in place of Python's arguments."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import tauform
from tauform.cli import main
from tauform.cli.wording import FLAGS, RENAMED, in_flags

PACKAGE = Path(tauform.__file__).parent
# Arguments that only Python takes, and formulas.
PYTHON_ONLY = {
    "memory_limit",
    "stream",
    "temperature",
    "com",
    "qd",
    "class",
    "max",
    "step",
    "tabindex",
    "link",
    "joint",
    "tau",
}


@pytest.mark.parametrize(
    ("verb", "sentence", "told"),
    [
        ("show", "snap=1e-11 would straighten it", "--snap 1e-11 would straighten it"),
        ("base", "nearly aligned axes (snap=).", "nearly aligned axes (--snap)."),
        ("derive", "Choose one with tf.load(..., tip=...)", "Choose one with --tip ..."),
        ("derive", "call tf.base_parameters(robot)", "call `tauform base`"),
        ("identify", "lock it: lock={'joint1': 0.5}", "lock it: --lock joint1=0.5"),
        ("identify", "with read_recording(..., degrees=True)", "with --degrees"),
        ("identify", "columns={'q': ['q_a', ...]}", "--column q=q_a,..."),
        ("identify", "such as columns={'tau': 'J{}_trq'}", "such as --column tau=J{}_trq"),
        ("identify", "couplings=None", "--no-couplings"),
        ("model", "a prior with method='ridge'", "a prior with tauform identify --method ridge"),
        ("model", "physical=True forbids that", "--physical forbids that"),
        ("identify", "leave them out, columns={'qd': None}", "leave them out, --column qd=none"),
        ("model", "with read_recording(..., time_unit='ms')", "with --time-unit ms"),
        ("show", "for example elbow=0.5", "for example elbow=0.5"),
        ("identify", "read_recording: time_unit: no 'h'; choose from 's'", "--time-unit: no 'h'; choose from 's'"),
        ("excite", "excite: count must be a whole number, not 'x'", "--count must be a whole number, not 'x'"),
        ("show", "load: other: no 'x'; choose from 'a'", "other: no 'x'; choose from 'a'"),
        ("identify", "a.csv: q: no 3 columns", "a.csv: q: no 3 columns"),
        ("", "snap=1e-5", "snap=1e-5".replace("snap=", "tauform identify --snap ")),
    ],
)
def test_arguments_become_flags(verb: str, sentence: str, told: str) -> None:
    assert in_flags(sentence, verb) == told


def docstrings_of(tree: ast.Module) -> set[int]:
    places = [node for node in ast.walk(tree) if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)]
    return {id(node.body[0].value) for node in places if node.body and isinstance(node.body[0], ast.Expr)}


def sentences() -> list[tuple[str, str]]:
    """Texts of the package that name a keyword argument, outside of docstrings and of the command line."""
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.is_relative_to(PACKAGE / "cli") or "backends" in path.parts or "html" in path.parts:
            continue
        tree = ast.parse(path.read_text(encoding="utf-8"))
        documented = docstrings_of(tree)
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documented:
                found += [(path.name, word) for word in re.findall(r"(?<![\w\"'-])([a-z_]{2,})=(?![=\"])", node.value)]
    return found


def test_every_argument_that_a_message_names_has_a_flag() -> None:
    known = {name for options in FLAGS.values() for name in options} | set(RENAMED) | PYTHON_ONLY
    assert [(place, word) for place, word in sentences() if word not in known] == []


def test_errors_and_pages_pass_through(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["derive", "parallelogram"]) == 2
    assert "tf." not in capsys.readouterr().err
    bent = tmp_path / "bent.toml"
    text = (PACKAGE / "description" / "catalogue" / "sr6ia.toml").read_text(encoding="utf-8")
    bent.write_text(re.sub(r"alpha = [^\n]*", "alpha = 1e-6", text, count=1), encoding="utf-8")
    assert main(["show", str(bent)]) == 0
    out = capsys.readouterr().out
    assert "--snap 1e-06" in " ".join(out.split())
    assert "snap=" not in out
