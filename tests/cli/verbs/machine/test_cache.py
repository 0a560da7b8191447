"""tauform cache: shows what is kept, and clears it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tauform.cli import main
from tauform.codegen.runtime.cache import cached


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    assert main(["cache", "--json", *arguments]) == 0
    return json.loads(capsys.readouterr().out)


def test_entries_are_counted_and_cleared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TAUFORM_CACHE", str(tmp_path / "cache"))
    assert said(capsys)["kernels"] == {"entries": 0, "bytes": 0}
    cached("a", lambda: bytes(10))
    cached("b", lambda: bytes(10), "program")
    of_others = tmp_path / "cache" / "thesis.program"
    of_others.write_text("not ours")
    assert said(capsys)["programs"] == {"entries": 1, "bytes": 42}
    assert main(["cache"]) == 0
    assert "kernels" in capsys.readouterr().out
    assert said(capsys, "--clear")["removed"] == 2
    assert list((tmp_path / "cache").iterdir()) == [of_others]


def test_a_cache_that_is_off_says_so(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("TAUFORM_CACHE", "off")
    assert said(capsys) == {"folder": None}
