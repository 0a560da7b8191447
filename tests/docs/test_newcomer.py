"""What the README tells a newcomer: from a URDF to C that compiles and passes its own test, in two commands."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tauform.cli import main

real_robots = pytest.importorskip("real_robots", reason="example-robot-data is not installed")


# so101 has frames that are off by 4e-15, 4e-6 and 2e-7 m beside lengths of a decimetre: one of the hardest to scale.
@pytest.mark.parametrize(
    ("name", "tip"),
    [
        ("z1", "link06"),
        pytest.param("so101", "wrist_link", marks=pytest.mark.nightly),
        pytest.param("so101", "gripper_link", marks=pytest.mark.nightly),
    ],
)
def test_urdf_becomes_c_that_passes_its_own_test(
    name: str, tip: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if shutil.which("cc") is None or shutil.which("make") is None:
        pytest.skip("no C compiler")
    monkeypatch.chdir(tmp_path)
    robot = str(real_robots.urdf(name))
    assert main(["generate", robot, "--tip", tip, "-o", "c", "--function", "inverse_dynamics,gravity_torque"]) == 0
    done = subprocess.run(["make", "-C", "c", "check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "inverse_dynamics" in done.stdout
