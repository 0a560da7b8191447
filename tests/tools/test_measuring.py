"""The benchmark harness: what it measures, and that it keeps what it did not measure."""

from __future__ import annotations

import shutil
import time
from pathlib import Path

import numpy as np
import pytest

from tools.measuring import drawing, machine, quoted, results, sections
from tools.measuring.c_timing import CFunction, time_c
from tools.measuring.instruction_counts import count_c, missing
from tools.measuring.timing import Row, side_by_side


def test_the_slower_candidate_takes_longer() -> None:
    seconds = side_by_side({"slow": lambda: time.sleep(0.004), "fast": lambda: None}, repeats=3, least_sample=1e-3)
    assert 0.004 <= seconds["slow"] < 0.1
    assert seconds["fast"] < 1e-4


def test_candidates_take_turns() -> None:
    calls: list[str] = []
    side_by_side({"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}, repeats=2, least_sample=0.0)
    assert calls == ["a", "a", "b", "b", "a", "b", "b", "a"]  # two calls each to size the sample, then a b, b a


@pytest.mark.skipif(shutil.which("gcc") is None, reason="no gcc on this machine")
def test_c_functions_are_called_on_every_state(tmp_path: Path) -> None:
    source = tmp_path / "twice.c"
    source.write_text("void twice(const double *x, double *y) { for (int i = 0; i < 3; ++i) y[i] = 2 * x[i]; }")
    inputs = np.random.default_rng(0).normal(size=(50, 3))
    linked = CFunction("linked", (source,), "void twice(const double *, double *);", "twice(in, out);")
    inline = CFunction("inline", (), "", "for (int i = 0; i < 3; ++i) out[i] = -in[i];")
    timed = time_c([linked, inline], inputs, n_outputs=3, rounds=5)
    np.testing.assert_array_equal(timed["linked"].outputs, 2 * inputs)
    np.testing.assert_array_equal(timed["inline"].outputs, -inputs)
    assert all(0 < timing.seconds < 1e-3 for timing in timed.values())
    assert all(timing.text_bytes > 0 for timing in timed.values())


def test_ratio_is_above_one_where_ours_takes_less() -> None:
    assert Row("x", ours=2.0, peer=6.0, peer_name="y").ratio == 3.0
    assert Row("x", ours=2.0, peer=None, peer_name="not installed").ratio is None


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (1.5, "s", "1.5 s"),
        (2.34e-7, "s", "234 ns"),
        (9.997e-7, "s", "1 us"),
        (2234, "s", "2234 s"),
        (460, "operations", "460 operations"),
        (None, "s", "-"),
    ],
)
def test_figures(value: float | None, unit: str, text: str) -> None:
    assert results.figure(value, unit) == text


def test_sections_that_were_not_run_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "RESULTS.md"
    first = results.section("first", "One.", "machine A", [Row("a", 1.0, 2.0, "peer")])
    second = results.section("second", "Two.", "machine A", [Row("b", 1.0, 2.0, "peer")])
    results.rewrite(path, {"second": second})
    results.rewrite(path, {"first": first})
    assert path.read_text() == "\n".join([results.PREAMBLE, first, second])
    results.rewrite(path, {"second": second.replace("machine A", "machine B")})
    assert path.read_text() == "\n".join([results.PREAMBLE, first, second.replace("machine A", "machine B")])


@pytest.mark.parametrize("name", sections.names())
def test_every_benchmark_has_a_title_and_rows(name: str) -> None:
    text = (sections.FOLDER / f"bench_{name}.py").read_text(encoding="utf-8")
    assert "\nTITLE = " in text
    assert "\ndef rows() -> " in text


def write_section(folder: Path, name: str, body: str) -> str:
    lines = [
        "import time",
        "from tools.measuring.timing import Row",
        "TITLE = 'A title.'",
        "def rows():",
        f"    {body}",
    ]
    (folder / f"{name}.py").write_text("\n".join(lines))
    (folder / "measured").mkdir(exist_ok=True)
    (folder / f"{name}.py").rename(folder / "measured" / f"{name}.py")
    return f"measured.{name}"


def test_rows_come_from_another_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    title, rows = sections.measure(write_section(tmp_path, "good", "yield Row('a', 1.0, 2.0, 'peer')"), budget=60)
    assert title == "A title."
    assert list(rows) == [Row("a", 1.0, 2.0, "peer")]


@pytest.mark.parametrize(
    ("body", "budget", "message"),
    [
        ("raise ValueError('no such arm'); yield", 60, "ValueError: no such arm"),
        ("import os; os._exit(7); yield", 60, "ended with code 7"),
        ("time.sleep(60); yield", 0, "not finished within 0 s"),
    ],
)
def test_a_section_that_fails_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, budget: float, message: str
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    title, rows = sections.measure(write_section(tmp_path, "bad", body), budget)
    assert title == "A title."
    with pytest.raises(sections.SectionError, match=message):
        list(rows)


def test_tables_are_read_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "RESULTS.md"
    rows = [Row("a", 1.5e-7, 2e-3, "peer", note="x, y"), Row("b", 12, None, "none", unit="operations")]
    results.rewrite(path, {"name": results.section("name", "Title.", "machine", rows, plot=True)})
    first, second = results.read(path)["name"]
    assert (first["what"], first["note"], results.number(first["ours"])) == ("a", "x, y", pytest.approx(1.5e-7))
    assert (results.number(second["ours"]), results.number(second["peer"]), second["note"]) == (12, None, "")


def test_plots_show_the_tables(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    path = tmp_path / "RESULTS.md"
    path.write_text((sections.FOLDER / "RESULTS.md").read_text(encoding="utf-8"), encoding="utf-8")
    drawn = drawing.draw_all(path)
    assert {file.stem for file in drawn} == set(drawing.DRAWN) & set(results.read(path))
    assert "panda" in next(file for file in drawn if file.stem == "speed").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("figure", "text"), [("69.2 ns", "69 ns"), ("4.63 ms", "4.6 ms"), ("848 operations", "848"), ("5.3 s", "5.3 s")]
)
def test_figures_are_quoted_rounded(figure: str, text: str) -> None:
    assert quoted.rounded(figure) == text


def test_the_stamp_names_commit_and_machine() -> None:
    stamp = machine.stamp()
    assert stamp.startswith("commit ")
    assert f"NumPy {np.__version__}" in stamp


@pytest.mark.skipif(shutil.which("gcc") is None or bool(missing()), reason="no gcc or valgrind on this machine")
def test_instructions_do_not_depend_on_the_machine() -> None:
    inputs = np.ones((10, 4))
    few = CFunction("few", (), "", "out[0] = in[0];")
    many = CFunction("many", (), "", "for (volatile int i = 0; i < 100; ++i) out[0] += in[0];")
    counts = count_c([few, many], inputs, n_outputs=1, flags=("-O1", "-std=c99"))
    assert 2 <= counts["few"] <= 10
    assert 300 <= counts["many"] <= 1500
    assert counts == count_c([few, many], inputs, n_outputs=1, flags=("-O1", "-std=c99"))
