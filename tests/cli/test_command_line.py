"""What holds for every verb: help, JSON alone on stdout, one sentence and exit code 2 on bad input."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tauform
from tauform.cli import VERBS, main, page
from tauform.cli.verb import parse_locks, verb
from tauform.errors import DescriptionError


class Run:
    """Exit code, standard output and standard error of one command line, run in process."""

    def __init__(self, capsys: pytest.CaptureFixture[str], *arguments: str) -> None:
        self.code = main(list(arguments))
        self.out, self.err = capsys.readouterr()


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert Run(capsys, "--version").out == f"tauform {tauform.__version__}\n"


@pytest.mark.parametrize("name", VERBS)
def test_every_verb_has_help_and_json(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    run = Run(capsys, name.replace("_", "-"), "--help")
    assert run.code == 0
    assert "--json" in run.out


def test_no_arguments_show_the_verbs(capsys: pytest.CaptureFixture[str]) -> None:
    run = Run(capsys)
    assert run.code == 0
    assert all(name.replace("_", "-") in run.out for name in VERBS)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["no-such-verb"], "no-such-verb"),
        (["show"], "ROBOT"),
        (["show", "kr6_r700", "--no-such-option"], "--no-such-option"),
        (["show", "kr6_r7000"], "kr6_r700"),
        (["show", "absent.urdf"], "absent.urdf"),
        (["show", "kr6_r700", "--lock", "joint1"], "JOINT=VALUE"),
        (["show", "kr6_r700", "--lock", "joint1=stiff"], "JOINT=VALUE"),
        (["show", "kr6_r700", "--lock", "=1"], "JOINT=VALUE"),
        (["show", "kr6_r700", "--lock", "elbow=0"], "elbow"),
        (["show", "kr6_r700", "--tip", "nowhere"], "nowhere"),
        (["show", "kr6_r700", "--gravity", "0", "0"], "--gravity"),
        (["show", "kr6_r700", "--gravity", "0", "0", "nan"], "gravity"),
        (["show", "kr6_r700", "--snap", "much"], "--snap"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(
    arguments: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run = Run(capsys, *arguments)
    assert run.code == 2
    assert run.out == ""
    assert expected in run.err
    assert "Traceback" not in run.err
    assert len(run.err.splitlines()) <= 2  # the sentence, and a hint for usage errors


def test_a_file_that_cannot_be_read_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", "arm.toml")

    monkeypatch.setattr(tauform, "load", denied, raising=False)
    run = Run(capsys, "show", "arm.toml")
    assert run.code == 2
    assert run.err == "arm.toml: Permission denied\n"


@pytest.mark.parametrize(("interruption", "code"), [(KeyboardInterrupt, 130)])
def test_interruption_is_quiet(
    interruption: type[BaseException], code: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise interruption

    monkeypatch.setattr(tauform, "load", interrupted, raising=False)
    run = Run(capsys, "show", "kr6_r700")
    assert (run.code, run.out, run.err) == (code, "", "")


def test_a_defect_of_ours_is_not_hidden(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tauform, "load", lambda *_, **__: 1 / 0, raising=False)
    with pytest.raises(ZeroDivisionError):
        main(["show", "kr6_r700"])


def test_a_message_of_several_lines_is_printed_as_one(capsys: pytest.CaptureFixture[str]) -> None:
    page.complain(str(DescriptionError("line 3:\n  not [red]XML[/red]")))
    assert capsys.readouterr().err == "line 3: not [red]XML[/red]\n"


def test_locks_are_parsed_from_the_last_equals_sign() -> None:
    assert parse_locks(["a=1", "b=c=-2e-1"]) == {"a": 1.0, "b=c": -0.2}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.array([[1.0, np.inf]]), [[1.0, None]]),
        ({"a": np.float64(2), 3: (np.nan, True)}, {"a": 2.0, "3": [None, True]}),
        (Path("a/b"), "a/b"),
        (np.int64(4), 4),
    ],
)
def test_values_become_json(value: Any, expected: Any) -> None:
    assert page.plain(value) == expected
    json.dumps(page.plain(value), allow_nan=False)


def test_a_verb_gets_its_robot_loaded_with_the_options(capsys: pytest.CaptureFixture[str]) -> None:
    seen = []

    @verb
    def look(robot: tauform.Robot) -> page.Page:
        """Look."""
        seen.append(robot)
        return page.Page({"n": robot.n_joints})

    look(robot="kr6_r700", tip=None, lock=["joint1=0"], snap=None, gravity=(0.0, 0.0, 1.0), as_json=True)
    assert json.loads(capsys.readouterr().out) == {"n": 5}
    assert seen[0].gravity.tolist() == [0, 0, 1]


def test_the_command_line_starts_without_the_heavy_packages() -> None:
    heavy = ["numpy", "scipy", "llvmlite", "xacro", "mujoco", "clarabel", "matplotlib"]
    code = f"import sys, tauform.cli; print([name for name in {heavy} if name in sys.modules])"
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert output.strip() == "[]"


def test_python_dash_m_runs_the_command_line() -> None:
    done = subprocess.run([sys.executable, "-m", "tauform", "show"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "ROBOT" in done.stderr


@pytest.mark.parametrize(
    ("words", "offered"),
    [("tauform sh", "show"), ("tauform show kr6", "kr6_r700"), ("tauform show kr6_r700 --sn", "--snap")],
)
def test_a_shell_completes_verbs_robots_and_options(words: str, offered: str) -> None:
    environment = {
        **os.environ,
        "_TAUFORM_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(words.count(" ")),
    }
    command = [sys.executable, "-c", "import sys; from tauform.cli import main; sys.exit(main())"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert offered in done.stdout.split()


@pytest.mark.parametrize("name", VERBS)
def test_help_has_the_same_order_everywhere(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    shown = Run(capsys, name.replace("_", "-"), "--help").out
    places = [shown.find(f"{flag} ") for flag in ("--output", "--force", "--json", "--tip", "--lock", "--snap")]
    found = [place for place in places if place >= 0]
    assert found == sorted(found)


@pytest.mark.parametrize("name", VERBS)
def test_help_has_no_words_of_python_and_none_that_is_cut(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    shown = Run(capsys, name.replace("_", "-"), "--help").out
    assert not re.search(r"<\w|list\[|\{[A-Z]|\.\.\.\.|…", shown)
