"""Every script in examples/ runs and ends well."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from sampling import representatives

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


SCRIPTS = sorted(EXAMPLES.glob("*.py"))
# Long ones, mostly of what tests of their own run too.
NAMES = ("04_puma260_campaign", "09_reduction", "10_multirate", "12_track_kr6", "14_puma260_open_loop")
LONG = [EXAMPLES / f"{name}.py" for name in (*NAMES, "15_low_cost_servos")]
# Searches of six joints take most of the demo's time: it runs through all its parts on a smaller arm too.
DEMO = EXAMPLES / "demo.py"


@pytest.mark.parametrize(
    "script", representatives(SCRIPTS, *(set(SCRIPTS) - {*LONG, DEMO})), ids=lambda path: path.name
)
def test_example_runs(script: Path, in_its_folder: None) -> None:
    run(script)


def test_the_demo_takes_another_robot(in_its_folder: None, tmp_path: Path) -> None:
    run(DEMO, "two_link")
    assert (tmp_path / "build" / "demo" / "report.html").exists()


@pytest.fixture
def in_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Its folder comes first where modules are looked for, as when Python runs a script."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(EXAMPLES)
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


def run(*words: str | Path) -> None:
    """Run a script; it ends well."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", [str(word) for word in words])
        try:
            runpy.run_path(str(words[0]), run_name="__main__")
        except SystemExit as ended:
            if ended.code:
                pytest.fail(f"exit code {ended.code}")
