"""Damaged files of every kind that is read: only clean errors, nothing that is not finite, no cut file, no hang.

Make's target `fuzz` runs eight times as many cases, new ones every day; a finding names its case, and

    python -m fuzz.campaign urdf 1234 1

in this folder's parent repeats it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fuzz.readers import READERS
from fuzz.runs import SCALE

TESTS = Path(__file__).resolve().parents[1]
# Cases of each in CI; what starts a process for every file gets few.
CASES = {
    "urdf": 400,
    "xacro": 250,
    "mjcf": 200,
    "toml_saved": 250,
    "toml_by_hand": 250,
    "csv": 350,
    "npz": 150,
    "npz_arrays": 150,
    "mat": 12,
    "hdf5": 80,
    "parquet": 120,
    "bag_db3": 60,
    "bag_mcap": 60,
    "bag_metadata": 60,
    "model": 200,
    "fit": 200,
    "fit_json": 150,
    "motion": 100,
    "manifest": 60,
    "cache": 100,
}
# Modules without which a reader refuses every file; the extra of tests brings all of them.
EXTRAS = {
    "xacro": "xacro",
    "mjcf": "mujoco",
    "hdf5": "h5py",
    "parquet": "pyarrow",
    "bag_db3": "rosbags",
    "bag_mcap": "rosbags",
    "bag_metadata": "rosbags",
}
# A case has its number for ever; a campaign starts where no other day's does.
FIRST = 0 if SCALE == 1 else int(os.environ.get("FUZZ_FIRST", int(time.time() // 86_400) * 1_000_000))


def test_there_are_as_many_cases_as_are_promised() -> None:
    assert set(CASES) == set(READERS)
    assert sum(CASES.values()) >= 3000
    assert 8 * sum(CASES.values()) >= 20_000


@pytest.mark.parametrize("name", READERS)
def test_damaged_files_are_refused_or_read_as_they_are(name: str) -> None:
    if name in EXTRAS:
        pytest.importorskip(EXTRAS[name])
    done = subprocess.run(
        [sys.executable, "-m", "fuzz.campaign", name, str(FIRST), str(SCALE * CASES[name])],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), str(TESTS.parent / "src")])},
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    # MuJoCo prints warnings in between
    *findings, counts = (json.loads(line) for line in done.stdout.splitlines() if line.startswith(("{", "[")))
    assert not findings, "\n".join(f"{found['case']}: {found['what']}" for found in findings)
    assert sum(counts.values()) == SCALE * CASES[name]
    # Damage that is all refused at the first byte, or all read, tests little.
    assert counts["refused"] > 0.2 * CASES[name]
    assert counts.get("read", 0) > 0.01 * CASES[name] or name == "cache"
