"""tauform model: one command, one summary, and one sentence on anything typed wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tauform.cli import main

QUICK = ["--tolerance", "0", "--function", "gravity_torque"]


def test_the_summary_says_what_was_verified(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["model", "two_link", "-o", str(tmp_path / "out"), *QUICK]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    for words in ("closed form", "18 terms", "gravity_torque", "Newton-Euler", "report.html"):
        assert words in out
    assert (tmp_path / "out" / "report.html").is_file()


def test_json_alone_on_standard_output(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["model", "sr6ia", "-o", str(tmp_path / "out"), *QUICK, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert (data["n_terms"], data["n_base"]) == (69, 8)  # Lloyd2021, Table 2
    assert {stage["name"] for stage in data["stages"]} >= {"check", "base parameters", "C", "report"}
    assert all(Path(file).is_file() for file in data["files"])


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], "-o"),
        (["-o"], "-o"),
        (["-o", "out", "--tolerance", "much"], "--tolerance"),
        (["-o", "out", "--tolerance", "2"], "tolerance"),
        (["-o", "out", "--tolerance", "-1"], "tolerance"),
        (["-o", "out", "--tolerance", "nan"], "tolerance"),
        (["-o", "out", "--confidence", "1"], "confidence"),
        (["-o", "out", "--function", "dynamics"], "dynamics"),
        (["-o", "out", "--route", "shortest"], "shortest"),
        (["-o", "taken"], "taken"),
        (["-o", "full"], "notes.txt"),
        (["-o", "taken/below"], "taken"),
        (["absent.csv", "-o", "out"], "absent.csv"),
        (["full", "-o", "out"], "full"),
        (["-o", "out", "--validate", "absent.csv"], "--validate"),
        (["-o", "out", "--tip", "nowhere"], "nowhere"),
    ],
)
def test_bad_input_is_one_sentence_and_nothing_is_written(
    arguments: list[str],
    expected: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("taken").write_text("a file")
    Path("full").mkdir()
    Path("full/notes.txt").write_text("mine")
    assert main(["model", "two_link", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert expected in err
    assert "Traceback" not in err
    assert len(err.splitlines()) <= 2
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["full", "notes.txt", "taken"]


def test_force_allows_a_folder_with_other_files(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    assert main(["model", "two_link", "-o", str(tmp_path), *QUICK]) == 2
    assert main(["model", "two_link", "-o", str(tmp_path), *QUICK, "--force"]) == 0
    assert (tmp_path / "notes.txt").read_text() == "mine"
