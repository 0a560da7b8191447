"""C in single precision: what rounding costs, as a share of each joint's largest torque."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from real_robots import all_urdfs

N_STATES = 20_000
LARGEST_SHARE = 2e-6


def compiled(folder: Path, prefix: str) -> ctypes.CDLL:
    """The folder's C as a shared library."""
    library = folder / f"{prefix}.so"
    command = ["gcc", "-O2", "-shared", "-fPIC", f"{prefix}.c", "-lm", "-o", library.name]
    subprocess.run(command, cwd=folder, check=True)
    return ctypes.CDLL(str(library))


@pytest.mark.parametrize("snap", [None, 1e-4])
def test_almost_aligned_frames_cost_no_digits(tmp_path: Path, snap: float | None) -> None:
    # The angles of this file are pi/2 to six digits: frames that are almost, not exactly, perpendicular.
    robot = tf.load(next(path for path in all_urdfs() if path.stem == "xarm7"), snap=snap)
    tf.write_c([tf.generate(robot, "inverse_dynamics")], tmp_path / "c", real="float", name="arm")
    function = compiled(tmp_path / "c", "arm").arm_inverse_dynamics
    rng = np.random.default_rng(0)
    scale = np.array([np.pi, 2.0, 5.0])[:, None, None]
    states = (scale * rng.uniform(-1, 1, (3, N_STATES, robot.n_joints))).astype(np.float32)
    tau = np.empty((N_STATES, robot.n_joints), dtype=np.float32)
    size = ctypes.sizeof(ctypes.c_float) * robot.n_joints
    places = [array.ctypes.data for array in (*states, tau)]
    for k in range(N_STATES):
        function(*(ctypes.c_void_p(place + k * size) for place in places))
    exact = tf.inverse_dynamics(robot, *states.astype(np.float64))
    share = np.abs(tau - exact).max(axis=0) / np.abs(exact).max(axis=0)
    assert share.max() < LARGEST_SHARE
