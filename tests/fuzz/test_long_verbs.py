"""Verbs that work for seconds: whole runs with odd values, on a small robot and with the least work they take."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzz import originals
from fuzz.runs import cases, check
from fuzz.test_arguments import options_of

# The least work of each; options that are drawn come later and win.
QUICK = {
    "excite": ["two_link", "--seconds", "0.05", "--duration", "2", "--harmonics", "2", "--rate", "20"],
    "identify": ["two_link", "log.csv", "--friction", "plain", "--no-couplings"],
    "model": ["two_link", "-o", "out", "--tolerance", "0", "--function", "gravity_torque"],
    "multirate": ["two_link"],
    "reduce": ["two_link", "--samples", "500", "--tolerance", "0.1"],
}


@st.composite
def long_lines(draw: st.DrawFn) -> list[str]:
    """A verb with its least work and up to two of its options."""
    verb = draw(st.sampled_from(sorted(QUICK)))
    return [verb, *QUICK[verb], *draw(options_of(verb, most=2))]


@cases(10)
@given(line=long_lines())
def test_a_long_verb_ends_well_or_is_refused(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, line: list[str]
) -> None:
    folder = tmp_path_factory.mktemp("long")
    prepare(folder, monkeypatch)
    check(line, folder)
    assert (folder / "taken").read_text() == "not ours"


def prepare(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "folder.toml").mkdir()
    (folder / "taken").write_text("not ours")
    (folder / "log.csv").write_bytes(originals.logs()[0])
    monkeypatch.chdir(folder)


def test_a_log_in_other_units_ends_with_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prepare(tmp_path, monkeypatch)
    assert check(["identify", *QUICK["identify"], "--degrees"], tmp_path).code == 1


# Each with what is odd about it.
LONG_LINES = [
    ["multirate", "two_link", "--background", "1e308"],
    ["multirate", "two_link", "--latency", "-1"],
    ["multirate", "two_link", "--control", "nan"],
    ["reduce", "two_link", "--tolerance", "0"],
    ["reduce", "two_link", "--confidence", "2"],
    ["identify", "two_link", "absent.csv"],
    ["identify", "two_link", "folder.toml"],
    ["identify", "two_link", "taken"],
    ["model", "two_link", "-o", "taken"],
    ["model", "two_link", "-o", "."],
    ["model", "two_link", "absent.csv", "-o", "out"],
    ["bench", "two_link", "--states", "0"],
    ["simulate", "two_link", "--step", "-1"],
    ["simulate", "two_link", "--integrator", "euler"],
    ["simulate", "two_link", "--control", "follow"],
    ["simulate", "two_link", "--control", "torques", "--input", "absent.csv"],
]


@pytest.mark.parametrize("line", LONG_LINES, ids=" ".join)
def test_odd_arguments_of_long_verbs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: list[str]) -> None:
    prepare(tmp_path, monkeypatch)
    assert check(line, tmp_path).code == 2
