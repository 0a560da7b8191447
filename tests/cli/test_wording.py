"""Sentences are made in the words of the front end that speaks: arguments in Python, flags on the command line."""

from __future__ import annotations

import ast
import pickle
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import tauform
import tauform as tf
from command_flags import flags_of, foreign_flags
from source_trees import parsed
from tauform.cli import VERBS, main
from tauform.cli.wording import FLAGS, VERB_OF_FUNCTION, CommandLine
from tauform.wording import NAMED, argument, call, place, spoken_by

PACKAGE = Path(tauform.__file__).parent
# Arguments that are given without a flag, and those that only Python takes.
POSITIONAL = {"path"}
PYTHON_ONLY = {"absorb_offsets", "stream", "temperature"}


@pytest.mark.parametrize(
    ("verb", "name", "value", "python", "told"),
    [
        ("show", "snap", 1e-11, "snap=1e-11", "--snap 1e-11"),
        ("base", "snap", NAMED, "snap=", "--snap"),
        ("identify", "lock", {"joint1": 0.5}, "lock={'joint1': 0.5}", "--lock joint1=0.5"),
        ("identify", "columns", {"q": ["q_a", ...]}, "columns={'q': ['q_a', ...]}", "--column q=q_a,..."),
        ("identify", "columns", {"tau": "J{}_trq"}, "columns={'tau': 'J{}_trq'}", "--column 'tau=J{}_trq'"),
        ("identify", "columns", {"qd": None}, "columns={'qd': None}", "--column qd=none"),
        ("identify", "columns", NAMED, "columns=", "--column"),
        ("identify", "couplings", None, "couplings=None", "--no-couplings"),
        ("excite", "collisions", False, "collisions=False", "--no-collisions"),
        ("model", "method", "ridge", "method='ridge'", "tauform identify --method ridge"),
        ("model", "physical", True, "physical=True", "--physical"),
        ("model", "time_unit", "ms", "time_unit='ms'", "--time-unit ms"),
        ("derive", "package_dirs", ..., "package_dirs=...", "--package-dir ..."),
        ("identify", "delay", -0.0123, "delay=-0.0123", "--delay -0.0123"),
        ("show", "stream", True, "stream=True", "stream=True"),
        ("", "snap", 1e-5, "snap=1e-05", "tauform identify --snap 1e-05"),
    ],
)
def test_an_argument_is_a_flag_where_the_command_line_speaks(
    verb: str, name: str, value: object, python: str, told: str
) -> None:
    assert argument(name, value) == python
    with spoken_by(CommandLine(verb)):
        assert argument(name, value) == told
    assert argument(name, value) == python


def test_a_call_is_a_verb_or_its_flags_where_the_command_line_speaks() -> None:
    def calls() -> list[str]:
        wanted = [call("load", tip=...), call("base_parameters", "robot"), call("excite"), call("load_model")]
        return [*wanted, place("excite", "count"), place("load", "other"), call("read_recording", degrees=True)]

    python = ["tf.load(..., tip=...)", "tf.base_parameters(robot)", "tf.excite", "tf.load_model", "excite: count"]
    assert calls() == [*python, "load: other", "tf.read_recording(..., degrees=True)"]
    with spoken_by(CommandLine("excite")):
        told = calls()
    typed = ["--tip ...", "`tauform base`", "`tauform excite`", "tf.load_model", "--count", "other"]
    assert told == [*typed, "tauform identify --degrees"]


def docstrings_of(tree: ast.Module) -> set[int]:
    places = [node for node in ast.walk(tree) if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)]
    return {id(node.body[0].value) for node in places if node.body and isinstance(node.body[0], ast.Expr)}


def trees() -> Iterator[tuple[Path, ast.Module]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        yield path.relative_to(PACKAGE), parsed(path.read_text(encoding="utf-8"))


def test_no_sentence_names_an_argument_a_verb_or_a_flag_of_its_own_accord() -> None:
    """Outside of the command line and of the studio, which shows both languages side by side, and of texts that are no
    sentences: C, HTML, remedies for objects of Python."""
    known = {name for options in FLAGS.values() for name in options} | PYTHON_ONLY | {"columns", "filters"}
    verbs = {*FLAGS, *VERB_OF_FUNCTION}
    found = []
    for path, tree in trees():
        if path.parts[0] in ("cli", "studio") or {"backends", "html"} & set(path.parts):
            continue
        documented = docstrings_of(tree)
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documented:
                named = re.findall(r"(?<![\w\"'-])([a-z_]{2,})=(?![=\"])", node.value)
                found += [(path, word) for word in named if word in known]
                found += [(path, word) for word in re.findall(r"(?<!-)--[a-z][\w-]*", node.value)]
                if path.name != "arguments.py":
                    found += [(path, word) for word in re.findall(r"\btf\.(\w+)", node.value) if word in verbs]
    assert found == []


def test_every_argument_that_a_sentence_names_exists() -> None:
    """Flags belong to the verb that speaks, or to the one that the sentence sends to; the rest only Python has."""
    names = {
        node.args[0].value
        for path, tree in trees()
        if path.parts[0] != "cli"
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and getattr(node.func, "id", "") == "argument"
        and isinstance(node.args[0], ast.Constant)
    }
    assert len(names) > 20
    for verb in VERBS:
        for name in names - PYTHON_ONLY - POSITIONAL:
            told = CommandLine(verb).argument(name, NAMED)
            sent_to, flag = (verb, told) if told.startswith("--") else told.removeprefix("tauform ").split()
            assert flag in flags_of(sent_to), (verb, name)


@pytest.mark.parametrize("verb", VERBS)
def test_flags_that_a_verb_writes_out_are_its_own(verb: str) -> None:
    """Every `--word` in the source of a verb, but for `tauform other --word`."""
    (path,) = (PACKAGE / "cli" / "verbs").rglob(f"{verb}.py")
    text = path.read_text(encoding="utf-8")
    assert foreign_flags(text, verb) == []
    assert {flag for pair in FLAGS[verb].values() for flag in pair if flag} <= flags_of(verb)


def test_errors_and_pages_speak_in_flags(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["derive", "four_bar", "--zero", "my_2"]) == 2
    told = capsys.readouterr().err
    assert "tf." not in told
    assert "choose a part with --tip ..., or call `tauform generate` and `tauform base`" in told
    bent = tmp_path / "bent.toml"
    text = (PACKAGE / "description" / "catalogue" / "sr6ia.toml").read_text(encoding="utf-8")
    bent.write_text(re.sub(r"alpha = [^\n]*", "alpha = 1e-6", text, count=1), encoding="utf-8")
    assert main(["show", str(bent)]) == 0
    out = capsys.readouterr().out
    assert "--snap 1e-06" in " ".join(out.split())
    assert "snap=" not in out
    assert "snap=1e-06" in " ".join(map(str, tf.load(bent).check()))


def test_an_error_is_data_too() -> None:
    with pytest.raises(tf.errors.UnknownNameError) as caught:
        tf.generate(tf.load("two_link"), parameters="runtme")
    error = caught.value
    assert (error.argument, error.value) == ("parameters", "runtme")
    assert error.remedy == "choose from 'baked', 'runtime'"
    assert str(error) == f"generate: parameters: no 'runtme'; {error.remedy}"
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.argument, again.value, again.remedy) == (str(error), "parameters", "runtme", error.remedy)
    with pytest.raises(tf.errors.ArgumentError) as refused:
        tf.load("two_link", snap="much")
    assert (refused.value.argument, refused.value.value, refused.value.remedy) == ("snap", "much", None)
