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
from importlib.util import find_spec
from pathlib import Path

import pytest

from fuzz.readers import READERS
from fuzz.runs import SCALE

TESTS = Path(__file__).resolve().parents[1]
# Cases of each in CI: many where one takes a millisecond, few where it starts a process.
CASES = {
    "urdf": 200,
    "xacro": 120,
    "mjcf": 120,
    "toml_saved": 160,
    "toml_by_hand": 160,
    "csv": 120,
    "npz": 400,
    "npz_arrays": 300,
    "mat": 3,
    "hdf5": 30,
    "parquet": 80,
    "bag_db3": 20,
    "bag_mcap": 20,
    "bag_metadata": 30,
    "bag_ros1": 25,
    "model": 160,
    "fit": 50,
    "fit_json": 40,
    "motion": 250,
    "manifest": 12,
    "program": 120,
    "cache": 500,
    "fleet_checkpoint": 40,
    "fleet_settings": 100,
    "studio_robot": 50,
    "studio_log": 60,
    "mesh": 60,
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
    "bag_ros1": "rosbags",
    "studio_robot": "nicegui",
    "studio_log": "nicegui",
    "mesh": "trimesh",
}
# A case has its number for ever; a campaign starts where no other day's does.
FIRST = 0 if SCALE == 1 else int(os.environ.get("FUZZ_FIRST", int(time.time() // 86_400) * 1_000_000))


# Readers that take turns in one process, for to start one takes as long as a hundred cases.
GROUPS = {
    "XML": ("urdf", "xacro", "mjcf"),
    "TOML and tables": ("toml_saved", "toml_by_hand", "csv", "motion", "parquet"),
    "archives": ("npz", "npz_arrays", "mat", "hdf5", "bag_db3", "bag_mcap", "bag_metadata", "bag_ros1"),
    "fleet and studio": ("fleet_checkpoint", "fleet_settings", "studio_robot", "studio_log", "mesh"),
    "own": ("model", "fit", "fit_json", "manifest", "program", "cache"),
}


def test_there_are_as_many_cases_as_are_guaranteed() -> None:
    assert set(CASES) == set(READERS)
    assert sorted(name for group in GROUPS.values() for name in group) == sorted(READERS)
    assert sum(CASES.values()) >= 3000
    assert 8 * sum(CASES.values()) >= 20_000


@pytest.mark.parametrize("group", GROUPS)
def test_damaged_files_are_refused_or_read_as_they_are(group: str) -> None:
    names = [name for name in GROUPS[group] if name not in EXTRAS or find_spec(EXTRAS[name])]
    if not names:
        pytest.skip("no reader of these files is installed")
    cases = [word for name in names for word in (name, str(FIRST), str(SCALE * CASES[name]))]
    done = subprocess.run(
        [sys.executable, "-m", "fuzz.campaign", *cases],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), str(TESTS.parent / "src")])},
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    # MuJoCo prints warnings in between
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith(("{", "["))]
    findings = [line for line in lines if "case" in line]
    assert not findings, "\n".join(f"{found['case']}: {found['what']}" for found in findings)
    counted = {counts.pop("reader"): counts for counts in lines}
    assert list(counted) == names
    for name, counts in counted.items():
        assert sum(counts.values()) == SCALE * CASES[name]
        # Damage that is all refused at the first byte, or all read, tests little.
        assert counts["refused"] > 0.2 * CASES[name], name
        assert counts.get("read", 0) > 0.01 * CASES[name] or name == "cache", name
