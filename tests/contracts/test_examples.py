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


@pytest.mark.parametrize("script", representatives(SCRIPTS, *(set(SCRIPTS) - set(LONG))), ids=lambda path: path.name)
def test_example_runs(script: Path, tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
