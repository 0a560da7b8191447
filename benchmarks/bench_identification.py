"""Identification: held-out errors on real recordings, excitation, and a recording of ten million samples.

Real recordings are looked for in ../shared/data; their rows are left out where they are absent.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import tauform as tf
from tauform.arrays import Array
from tauform.identification.motion.bounds import bounds_of
from tauform.identification.motion.planning import LIMIT_SHARE_AT_SAMPLES, MotionProblem
from tauform.identification.motion.slopes import Columns
from tauform.identification.motion.trajectory import Basis
from tools.measuring.timing import Row
from tools.simulated_logs import write_long_log

TITLE = "One default call: held-out errors by the fixed scorer, planned motion, and a recording longer than memory."
DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
DEGREE = np.pi / 180
# Held-out error [%] of a plain weighted least squares.
PLAIN = {"tx40": 7.63, "panda": 0.74, "lwr4": 2.17, "ur10": 6.74}
N_SAMPLES, RATE = 10_000_000, 1000.0


def rows() -> Iterator[Row]:
    """Real recordings, KR6 excitation, ten million samples."""
    if (DATA / "score.py").exists():
        yield from scores()
    yield from seven_joints()
    yield excitation()
    yield from long_recording()


def scores() -> Iterator[Row]:
    """Free, physically consistent and reduced fits of each real recording."""
    spec = importlib.util.spec_from_file_location("score", DATA / "score.py")
    assert spec is not None
    assert spec.loader is not None
    score: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(score)
    for name, robot in robots().items():
        recordings = [tf.Recording(t, q, tau, qd) for t, q, qd, tau in score.train(name)]
        start = time.perf_counter()
        fit = tf.identify(robot, recordings)
        seconds = time.perf_counter() - start
        small, physical = fit.reduced(), fit.physically_consistent()
        free = score.score(name, fit.predict)
        parts = [f"raw {free['raw_total']:.2f}", f"physical {score.score(name, physical.predict)['total']:.2f}"]
        parts += [f"reduced {score.score(name, small.predict)['total']:.2f} ({len(small.values)} of {len(fit.values)})"]
        note = ", ".join([*parts, f"{seconds:.1f} s"])
        yield Row(f"{name}, held-out error", free["total"], PLAIN[name], "plain weighted least squares", "%", note)


def robots() -> dict[str, tf.Robot]:
    """The robots of the real recordings."""
    from tools.real_robots import urdf

    return {
        "tx40": tf.load(DATA / "tx40" / "tx40_mdh_modified.urdf"),
        "panda": tf.load(urdf("panda"), lock={"panda_finger_joint1": 0.0}),
        "lwr4": tf.load(DATA / "kuka_lwr4" / "kuka_lwr4.urdf"),
        "ur10": tf.load(urdf("ur10_robot")),
    }


def seven_joints() -> Iterator[Row]:
    """A seven-joint arm from a minute at 1 kHz, one default call, and its physically consistent links."""
    from tools.real_robots import urdf

    robot = tf.load(urdf("panda"), lock={"panda_finger_joint1": 0.0})
    rng, n, t = np.random.default_rng(0), robot.n_joints, np.arange(0, 60, 1e-3)
    w = 2 * np.pi * 0.1 * np.arange(1, 6)[:, None]
    amplitude, phase = 0.3 * rng.normal(size=(5, n)) / np.arange(1, 6)[:, None], rng.uniform(0, 2 * np.pi, (5, n))
    angle = w * t[:, None, None] + phase
    q = np.array([0, 0, 0, -1.5, 0, 1.8, 0]) + (amplitude * np.sin(angle)).sum(axis=1)
    qd, qdd = (amplitude * w * np.cos(angle)).sum(axis=1), -(amplitude * w**2 * np.sin(angle)).sum(axis=1)
    friction = 0.5 * qd + 0.8 * np.tanh(qd / 0.02)
    tau = tf.inverse_dynamics(robot, q, qd, qdd) + friction + 0.2 * rng.normal(size=q.shape)
    recording = tf.Recording(t, q + 1e-5 * rng.normal(size=q.shape), tau)
    free = physical = np.inf
    for _ in range(3):
        start = time.process_time()
        fit = tf.identify(robot, recording)
        free = min(free, time.process_time() - start)
        fit.physically_consistent()
        physical = min(physical, time.process_time() - start)
    name = "panda, 60 s at 1 kHz, default call"
    yield Row(name, free, 2.0, "asked for", note="processor time; friction and couplings chosen on held-out blocks")
    yield Row(f"{name}, physical links included", physical, 4.0, "asked for", note="processor time")


def excitation() -> Row:
    """KR6 within its data sheet's limits: condition number against the best of 100 random feasible motions."""
    robot = tf.load("kr6_r700")
    lower, upper = np.array([-170, -190, -120, -185, -120, -350]), np.array([170, 45, 156, 185, 120, 350])
    position, velocity = (lower * DEGREE, upper * DEGREE), np.array([360, 300, 360, 381, 388, 615]) * DEGREE
    start = time.perf_counter()
    found = tf.excite(robot, position=position, velocity=velocity, acceleration=20.0, max_seconds=50)
    seconds = time.perf_counter() - start
    best = {n: _best_random(robot, n, position, velocity) for n in (20, 10, 5)}
    name = "kr6_r700, condition number of a planned motion"
    note = f"{seconds:.0f} s; best random ones of 10 and 5 harmonics {best[10]:.1f} and {best[5]:.1f}"
    return Row(name, found.condition or np.inf, best[20], "best of 100 random motions, 20 harmonics too", "", note)


def _best_random(robot: tf.Robot, harmonics: int, position: tuple[Array, Array], velocity: Array) -> float:
    """The best of 100 motions of random amplitudes, each joint scaled until it touches a limit."""
    bounds = bounds_of(robot, position, velocity, 20.0)
    problem = MotionProblem(Columns.of(robot, None), bounds, Basis.fourier(10, harmonics, 50.0), "condition")
    rng = np.random.default_rng(1)
    return float(np.exp(min(problem.score(problem.random(rng, LIMIT_SHARE_AT_SAMPLES)) for _ in range(100))))


def long_recording() -> Iterator[Row]:
    """Ten million samples of a file that stays on disk, identified by a process of its own, against real time."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "long.npz"
        write_long_log(tf.load("kr6_r700"), path, N_SAMPLES, RATE)
        answer = subprocess.run(
            [sys.executable, "-c", IDENTIFY_LONG, str(path)], check=True, capture_output=True, text=True
        ).stdout
    reading, busy, wall, grown, error = (float(number) for number in answer.split())
    note = f"processor time of one thread; {wall:.3g} s by the clock; held-out error {error:.2%}, 100 states per second"
    yield Row(f"kr6_r700, {N_SAMPLES} samples", busy, N_SAMPLES / RATE, "real time", note=note)
    note = f"largest memory above that of the loaded library; the file has {13 * 8 * N_SAMPLES / 1e6:.0f} MB"
    yield Row("memory of that", grown, 1000.0, "asked for", "MB", note)
    yield Row("reading that file", reading, N_SAMPLES / RATE, "real time", note="processor time, into temporary files")


# The process that is measured: peak memory counts from when everything is imported. Its own, from /proc: the usage
# that the system reports for a child begins with its parent's.
IDENTIFY_LONG = """
import re, sys, time
import tauform as tf
import tauform.identification.identify, tauform.identification.logs.read
robot = tf.load("kr6_r700")
peak = lambda: int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) / 1024
before, start = peak(), time.process_time()
recording = tf.read_recording(sys.argv[1], robot, stream=True)
read = time.process_time() - start
wall = busy = float("inf")
for _ in range(3):
    begin, start = time.perf_counter(), time.process_time()
    fit = tf.identify(robot, recording, friction="plain", couplings=None)
    wall, busy = min(wall, time.perf_counter() - begin), min(busy, time.process_time() - start)
print(read, busy, wall, peak() - before, fit.held_out.total)
"""
