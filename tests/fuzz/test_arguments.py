"""Command lines put together at random from the options that the verbs declare, with good, odd and absurd values."""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import Any

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st

from fuzz.runs import SCALE, cases, check
from tauform.cli import PANELS, app

COMMANDS: dict[str, Any] = typer.main.get_command(app).commands  # type: ignore[attr-defined]
COMMANDS.pop("studio")  # it serves until it is interrupted; tests/studio tries it
# Verbs whose least work takes seconds would eat the time of all other cases, so their robots never exist.
LONG = {"bench", "model", "reduce", "multirate", "identify", "excite", "simulate", "fleet"}

ROBOTS = ["two_link", "two_link", "two_link", "sr6ia", "parallelogram"]
NOT_ROBOTS = ["kr6", "absent.urdf", "absent.toml", "", ".", "folder.toml", "/", "--", "-1", "two_link.toml", "[bold]"]
NUMBERS = ["0", "1", "-1", "0.5", "1e-5", "1e308", "nan", "inf", "-inf", "1e400", "", "x", "0x1", "1,2", "10"]
WORDS = ["", "joint1", "joint2", "joint1=0", "joint2=1", "joint1=nan", "=", "joint1=", "a=b=c", "link", "rotor", "my_2",
         "Izz_1", "dynamic", "qr", "svd", "gautier", "names", "--help", "é", "\n", "[/red]", "%s", "0 0", "0,0", "1 2",
         "joint1=1 joint2=2", "tool", "link2", "None", "a" * 300]  # fmt: skip
# What a user means, so that many command lines get through to the work.
GOOD = {
    "tip": ["tool", "link2"],
    "lock": ["joint1=0", "joint2=0.5"],
    "snap": ["1e-5"],
    "gravity": ["0", "-9.81"],
    "include": ["link", "viscous", "coulomb"],
    "zero": ["my_2", "my_1"],
    "method": ["qr", "svd", "qr_pivoted"],
    "source": ["dynamic", "energy", "closed_form", "velocity_free"],
    "symbols": ["gautier", "names"],
    "explain": ["my_2", "Izz_1"],
    "order": ["Izz_2", "Ia"],
    "q": ["0.1 0.2", "joint1=1"],
    "qd": ["0 1", "joint2=1"],
    "tau": ["0 0"],
    "dt": ["0.01"],
    "output": ["out", "out.npz"],
    "function": ["gravity_torque", "friction,gravity_torque"],
    "real": ["double", "float"],
    "parameters": ["baked", "runtime"],
    "payload": ["baked", "runtime"],
    "algorithm": ["auto"],
    "logs": ["log.csv"],
    "validate": ["log.csv"],
    "recording": ["log.csv"],
    "column": ["q=q1,q2", "tau=tau"],
    "friction": ["plain", "background", "synchronous"],
    "profile": ["slow", "fast", "1,1,1"],
    "tolerance": ["0.1", "0"],
    "confidence": ["0.9", "1"],
    "criterion": ["condition", "d_optimal"],
    "route": ["terms", "velocity"],
}
# What takes as long as it is told to.
PATIENCE = {
    "seconds": ["0", "-1", "nan", "x", "0.05"],
    "run": ["0", "-1", "nan", "x", "0.01"],
    "figures": ["taken"],
}
FILES = ["out", "out.npz", "out.toml", "absent/out.npz", ".", "taken", "taken/x", ""]


def kinds_of(verb: str) -> dict[str, str]:
    """Parameter -> what its annotation says, in text, since versions of typer keep it in different places."""
    module = verb.replace("-", "_")
    room = next(room for room, names in PANELS.values() if module in names)
    function = getattr(import_module(f"tauform.cli.verbs.{room}.{module}"), module)
    return {name: str(p.annotation) for name, p in inspect.signature(function).parameters.items()}


def values_of(name: str, kind: str) -> st.SearchStrategy[str]:
    if name in PATIENCE:
        return st.sampled_from(PATIENCE[name])
    odd = odd_values(kind)
    return st.one_of(st.sampled_from(GOOD[name]), odd) if name in GOOD else odd


def odd_values(kind: str) -> st.SearchStrategy[str]:
    if "Path" in kind:
        return st.sampled_from(FILES)
    if "float" in kind or "int" in kind.replace("TyperInfo", ""):
        return st.sampled_from(NUMBERS)
    return st.one_of(st.sampled_from(WORDS), st.sampled_from(NUMBERS), st.text(max_size=6))


@st.composite
def options_of(draw: st.DrawFn, verb: str, most: int) -> list[str]:
    """Some of a verb's options, with values."""
    words, kinds = [], kinds_of(verb)
    options = [parameter for parameter in COMMANDS[verb].params if parameter.opts[0].startswith("-")]
    for parameter in draw(st.lists(st.sampled_from(options), max_size=most)):
        words.append(draw(st.sampled_from(parameter.opts)))
        if not parameter.is_flag:
            values = values_of(parameter.name, kinds.get(parameter.name, ""))
            words += [draw(values) for _ in range(max(1, parameter.nargs))]
    return words


@st.composite
def command_lines(draw: st.DrawFn) -> list[str]:
    """A verb, mostly a robot, and up to three of the verb's options."""
    name = draw(st.sampled_from([*sorted(COMMANDS), "sho", ""]))
    line = [name]
    verb = name if name in COMMANDS else "show"
    if any(parameter.name == "robot" for parameter in COMMANDS[verb].params):
        line.append(draw(st.sampled_from(NOT_ROBOTS if name in LONG else [*(5 * ROBOTS), *NOT_ROBOTS])))
    line += draw(options_of(verb, most=3))
    if draw(st.integers(0, 9)) == 0:
        line.append(draw(st.sampled_from(["extra", "--no-such", "-q", "--json"])))
    return line


@cases(150 if SCALE == 1 else 300)
@given(line=command_lines())
def test_any_command_line_ends_well_or_is_refused(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, line: list[str]
) -> None:
    folder = tmp_path_factory.getbasetemp() / "arguments"
    (folder / "folder.toml").mkdir(parents=True, exist_ok=True)
    (folder / "taken").write_text("not ours")
    monkeypatch.chdir(folder)
    check(line, folder)
    assert (folder / "taken").is_dir() or (folder / "taken").exists()
