"""Operations of generated programs next to papers and CasADi, the time of generation, and accuracy over many states."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import tauform as tf
from tauform.arrays import Array
from tools.arms import ARMS, REAL, SNAP, arm
from tools.measuring.c_timing import FLAGS
from tools.measuring.timing import Row
from tools.peers.build import casadi_code

TITLE = (
    "Multiplications and additions of a call, one sine-cosine pair per joint not counted; then processor seconds from "
    "a robot to a verified program and a compiled kernel (nothing cached), those of gcc -O3 for the C, and errors "
    "over a million states, relative to each joint's largest torque."
)
# Multiplications + additions: Lloyd2021 Table 2; Izaguirre1992 section 7.1
LLOYD = {"kr6_r700": 10185, "lbr7": 32368, "sr6ia": 210}
IZAGUIRRE = (
    ("coefficients", "baked", 98 + 70),
    ("velocity_torque", "baked", 140 + 110),
    ("coefficients", "runtime", 190 + 150),
    ("velocity_torque", "runtime", 200 + 170),
)
COUNTED = ("inverse_dynamics", "bias_torque", "mass_matrix", "forward_dynamics", "base_regressor", "linearize_inverse")
N_STATES = 1_000_000
PART = 50_000


def rows() -> Iterator[Row]:
    """Counts, times, errors."""
    yield from _counts()
    yield from _almost_aligned()
    yield _generation("lbr7", tf.load("lbr7"), "inverse_dynamics", limit=2.0)
    yield _generation("tree of 30 joints", tf.random_robot(30, seed=0, branching=0.3), "inverse_dynamics", limit=10.0)
    for n in (50, 100):
        yield _generation(f"chain of {n} joints", tf.random_robot("R" * n, seed=0), "inverse_dynamics", limit=None)
    planar = tf.planar_chain(50)
    yield _generation("planar chain of 50 joints", planar, "mass_matrix", limit=None)
    for name in ("kr6_r700", "lbr7", "sr6ia"):
        yield _accuracy(name)


def _counts() -> Iterator[Row]:
    for name in ARMS:
        robot = arm(name)
        with TemporaryDirectory() as folder:
            counts = casadi_code(robot, Path(folder)).counts
        for function in COUNTED:
            program = tf.generate(robot, function)
            if function == "inverse_dynamics" and name in LLOYD:
                yield _count(f"{name}, {function}", program, LLOYD[name], "Lloyd2021 Table 2")
            yield _count(f"{name}, {function}", program, sum(counts[function][:2]), "CasADi from Pinocchio")
    puma = tf.load("puma260_izaguirre")
    for function, payload, paper in IZAGUIRRE:
        program = tf.generate(puma, function, payload=payload)  # type: ignore[arg-type]
        yield _count(f"puma260, {function}, payload {payload}", program, paper, "Izaguirre1992 section 7.1")


def _almost_aligned() -> Iterator[Row]:
    """What frames cost that are off by the digits that a URDF leaves out."""
    for name in REAL:
        exact, rough = (tf.generate(arm(name, snap), "inverse_dynamics") for snap in (SNAP, None))
        yield _count(f"{name}, inverse_dynamics, frames as written", rough, exact.n_operations, "our own, snapped")


def _count(name: str, program: tf.Program, peer: int, peer_name: str) -> Row:
    note = f"{program.n_multiplications} + {program.n_additions}, {program.algorithm}"
    return Row(name, program.n_operations, peer, peer_name, unit="operations", note=note)


def _generation(name: str, robot: tf.Robot, function: str, limit: float | None) -> Row:
    os.environ["TAUFORM_CACHE"] = "off"
    start = time.process_time()
    program = tf.generate(robot, function)
    generated = time.process_time() - start
    kernel = tf.compile(program)
    del os.environ["TAUFORM_CACHE"]
    seconds = time.process_time() - start
    q, *others = np.random.default_rng(0).uniform(-1, 1, (3, 10, robot.n_joints))
    kernel(*(q, *others)[: len(program.inputs)])
    peer_name = "allowed" if limit else "-"
    note = f"{program.n_operations} operations; program {generated:.2g} s{_compiled(program)}"
    return Row(f"{name}, {function}: program and kernel", seconds, limit, peer_name, note=note)


def _compiled(program: tf.Program) -> str:
    if shutil.which("gcc") is None:
        return ""
    with TemporaryDirectory() as folder:
        tf.write_c(program, folder, name="robot", force=True)
        size = (Path(folder) / "robot.c").stat().st_size
        start = os.times().children_user
        subprocess.run(["gcc", *FLAGS, "-c", "robot.c", "-o", "robot.o"], cwd=folder, check=True)
        return f", C of {size / 1e3:.0f} kB compiled by gcc -O3 in {os.times().children_user - start:.2g} s"


def _accuracy(name: str) -> Row:
    robot = tf.load(name)
    kernel = tf.compile(robot, "inverse_dynamics")
    rng = np.random.default_rng(0)
    error, largest = np.zeros(robot.n_joints), np.zeros(robot.n_joints)
    for _ in range(N_STATES // PART):
        states: Array = rng.uniform(-np.pi, np.pi, (3, PART, robot.n_joints))
        tau = tf.textbook.inverse_dynamics(robot, *states)  # the public function would answer by this kernel
        error = np.maximum(error, np.abs(kernel(*states) - tau).max(axis=0))
        largest = np.maximum(largest, np.abs(tau).max(axis=0))
    relative = float((error / largest).max())
    return Row(f"{name}, largest error of {N_STATES:,} states", relative, 1e-13, "allowed", unit="")
