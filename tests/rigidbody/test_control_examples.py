"""The control examples stabilise from their stated initial errors."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def example(name: str) -> ModuleType:
    specification = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.mark.parametrize(("name", "seconds"), [("08_balance_two_link", 2.0), ("12_track_kr6", 0.7)])
def test_closed_loop_is_stable(
    name: str,
    seconds: float,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.syspath_prepend(EXAMPLES)  # what examples share stands beside them
    picture = tmp_path / "loop.svg"
    assert example(name).main(seconds=seconds, plot_file=str(picture)) == 0
    assert "feedback" in capsys.readouterr().out
    assert picture.stat().st_size > 1000
