"""Robots of 60 and 100 joints: loops in C beside Pinocchio, and beside straight-line code of half the joints."""

from __future__ import annotations

import ctypes
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pinocchio as pin

import tauform as tf
from tauform.arrays import Array
from tauform.cli.comparison.models import pinocchio_model
from tools.measuring.c_timing import FLAGS
from tools.measuring.timing import Row, side_by_side

TITLE = (
    "Random chains of many revolute joints: C of `tf.generate_loops`, one call from Python, beside Pinocchio's wheel "
    "from Python; both calls cost about a microsecond of their own. Time per operation: loops beside the straight line "
    "of a chain with half the joints."
)
JOINTS = (60, 100, 200)
FUNCTIONS = ("inverse_dynamics", "mass_matrix", "forward_dynamics")
PEERS = {"inverse_dynamics": pin.rnea, "mass_matrix": pin.crba, "forward_dynamics": pin.aba}


def rows() -> Iterator[Row]:
    """Each function beside Pinocchio's, the time of the compiler, then time per operation."""
    for n in JOINTS:
        yield from _beside_pinocchio(n)
    for function in FUNCTIONS:
        yield _per_operation(60, function)


def _robot(n: int) -> tf.Robot:
    return tf.random_robot("R" * n, seed=3, drives=False)


def _states(n: int) -> Array:
    return np.random.default_rng(0).uniform(-1, 1, (3, n))


def _compiled(robot: tf.Robot, programs: list[tf.Program | tf.LoopedProgram]) -> tuple[ctypes.CDLL, float]:
    """The functions, and the seconds that the compiler took."""
    with TemporaryDirectory() as folder:
        tf.write_c(programs, Path(folder) / "c", name="arm")
        library = Path(folder) / "arm.so"
        start = time.perf_counter()
        command = ["gcc", *FLAGS, "-shared", "-fPIC", str(Path(folder) / "c" / "arm.c"), "-o", str(library), "-lm"]
        subprocess.run(command, check=True)
        return ctypes.CDLL(str(library)), time.perf_counter() - start


def _call(library: ctypes.CDLL, function: str, *arrays: Array) -> Callable[[], object]:
    run = library[f"arm_{function}"]
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in arrays]

    def call(kept: tuple[Array, ...] = arrays) -> object:
        # The arrays live as long as the function that points at them.
        return run(*pointers)

    return call


def _beside_pinocchio(n: int) -> Iterator[Row]:
    robot, (q, qd, last) = _robot(n), _states(n)
    programs = [tf.generate_loops(robot, function) for function in FUNCTIONS]
    library, seconds = _compiled(robot, list(programs))
    model = pinocchio_model(robot)
    data = model.createData()
    for program in programs:
        given = [q, qd, last][: len(program.inputs)]
        out = np.zeros(program.outputs[0].shape)
        ours = _call(library, program.name, *given, out)
        theirs = PEERS[program.name]
        ours()
        expected = np.array(theirs(model, data, *given))
        if expected.ndim == 2:
            expected = np.triu(expected) + np.triu(expected, 1).T
        apart = np.abs(out - expected).max() / np.abs(expected).max()
        assert apart < 1e-9, (program.name, n, apart)
        best = side_by_side({"ours": ours, "peer": lambda f=theirs, x=given: f(model, data, *x)})  # type: ignore[misc]
        note = f"{program.n_operations} operations; {apart:.0e} apart"
        yield Row(f"{n} joints, {program.name}", best["ours"], best["peer"], f"pinocchio.{theirs.__name__}", note=note)
    yield Row(f"{n} joints, gcc -O3 of all three", seconds, None, "", note="loops")


def _per_operation(n: int, function: str) -> Row:
    """Loops of n joints beside the straight line of n/2, each divided by its own operations."""
    loops, line = tf.generate_loops(_robot(n), function), tf.generate(_robot(n // 2), function)
    times = {}
    for program in (loops, line):
        joints = len(program.about.joints)
        library, _ = _compiled(_robot(joints), [program])
        out = np.zeros(program.outputs[0].shape)
        times[joints] = _call(library, function, *_states(joints)[: len(program.inputs)], out)
    best = side_by_side({str(joints): call for joints, call in times.items()})
    return Row(
        f"{function}, per operation, loops of {n} joints",
        best[str(n)] / loops.n_operations,
        best[str(n // 2)] / line.n_operations,
        f"straight line of {n // 2} joints",
    )
