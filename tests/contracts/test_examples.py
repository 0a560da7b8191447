"""Every script in examples/ runs and ends well."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from sampling import representatives

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


SCRIPTS = sorted(EXAMPLES.glob("*.py"))
# Long ones, of what tests of their own run too.
LONG = [EXAMPLES / name for name in ("04_puma260_campaign.py", "09_reduction.py", "10_multirate.py", "12_track_kr6.py")]
# Searches of six joints take most of the demo's time: it runs through all its parts on a smaller arm too.
DEMO = EXAMPLES / "demo.py"


@pytest.mark.parametrize(
    "script", representatives(SCRIPTS, *(set(SCRIPTS) - {*LONG, DEMO})), ids=lambda path: path.name
)
def test_example_runs(script: Path, tmp_path: Path) -> None:
    run(script, folder=tmp_path)


def test_the_demo_takes_another_robot(tmp_path: Path) -> None:
    run(DEMO, "two_link", folder=tmp_path)
    assert (tmp_path / "build" / "demo" / "report.html").exists()


def run(*words: str | Path, folder: Path) -> None:
    """Run a script; it ends well."""
    done = subprocess.run([sys.executable, *map(str, words)], capture_output=True, text=True, check=False, cwd=folder)
    assert done.returncode == 0, done.stderr
