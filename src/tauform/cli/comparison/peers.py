"""Peers of `tauform bench`: our kernel and C, and other tools on the same robot."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from typing import Any

import numpy as np

import tauform as tf
from tauform.arrays import Array
from tauform.cli.comparison.models import mujoco_model, pinocchio_model
from tauform.codegen.minimal.problem import has_friction
from tauform.codegen.program.program import Program
from tauform.description.formats.mjcf.warnings import without_warnings
from tauform.description.robot import Robot
from tauform.errors import GenerationError
from tauform.files.file import write_text
from tauform.files.temporaries import scratch_folder

Task = Callable[[], Any]
# -ffp-contract=fast allows fused multiply-add, as -march=native allows vector units.
C_FLAGS = ("-std=c99", "-O3", "-march=native", "-ffp-contract=fast")
# Long beside the clock's resolution, short enough that some samples stay undisturbed.
LEAST_SAMPLE = 0.02  # seconds

TIMER = """
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <time.h>
#include "robot.h"
static double now(void) {{ struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + 1e-9*t.tv_nsec; }}
int main(void) {{
    double {inputs}, tau[{n}], least = 1;
    volatile double sink;
    for (int round = 0; round < 300; round++) {{
        const double start = now();
        for (int k = 0; k < 2000; k++) {{ q[0] += 1e-3; robot_inverse_dynamics({names}, tau); sink = tau[0]; }}
        const double each = (now() - start)/2000;
        if (each < least) least = each;
    }}
    (void)sink;
    printf("%.17g", least);
    return 0;
}}
"""


def candidates(
    robot: Robot, kernel: Any, states: tuple[Array, Array, Array]
) -> tuple[dict[str, Task], dict[str, Task], dict[str, str]]:
    """Tasks of one state, tasks of the whole batch, and the tools that are missing with the reason."""
    q, qd, qdd = states
    first = tuple(array[0].copy() for array in states)
    # Written in place: allocating the result would be timed too.
    out = np.empty_like(q)
    one: dict[str, Task] = {"tauform kernel, from Python": lambda: kernel(*first)}
    batch: dict[str, Task] = {
        "tauform kernel, one thread": lambda: kernel(q, qd, qdd, out=out),
        "tauform textbook algorithm in NumPy": lambda: tf.textbook.inverse_dynamics(robot, q, qd, qdd),
    }
    cores = os.cpu_count() or 1
    if cores > 1:
        batch[f"tauform kernel, {cores} threads"] = lambda: kernel(q, qd, qdd, out=out, threads=cores)
    missing = {}
    for name, add in (("pinocchio", _add_pinocchio), ("casadi", _add_casadi), ("mujoco", _add_mujoco)):
        # Peers here are built as trees; a tree without its loop is another mechanism.
        if robot.closure is not None:
            missing[name] = "the robot has loops"
            continue
        try:
            add(robot, states, one, batch)
        except ImportError as error:
            # wheels of Pinocchio come without pinocchio.casadi, its packages of conda-forge with it
            missing[name] = "needs pinocchio.casadi" if error.name == "pinocchio.casadi" else "not installed"
    return one, batch, missing


def ignored_by_peers(robot: Robot) -> bool:
    """Whether peers leave something out."""
    return has_friction(robot)


def _add_pinocchio(
    robot: Robot, states: tuple[Array, Array, Array], one: dict[str, Task], batch: dict[str, Task]
) -> None:
    import pinocchio

    model = pinocchio_model(robot)
    data, pool = model.createData(), pinocchio.ModelPool(model)
    first = tuple(array[0].copy() for array in states)
    # (n, N) by columns, the layout that it works in: no conversion inside the timed call.
    columns = [np.asfortranarray(array.T) for array in states]
    one[f"pinocchio {pinocchio.__version__} rnea, from Python"] = lambda: pinocchio.rnea(model, data, *first)
    name = f"pinocchio {pinocchio.__version__} rneaInParallel, one thread"
    batch[name] = lambda: pinocchio.rneaInParallel(1, pool, *columns)


def _add_casadi(robot: Robot, states: tuple[Array, Array, Array], one: dict[str, Task], batch: dict[str, Task]) -> None:
    """Pinocchio's rnea traced by CasADi: its C where a compiler is there, else its virtual machine."""
    import casadi

    symbolic = import_module("pinocchio.casadi")
    model = symbolic.Model(pinocchio_model(robot))
    inputs = [casadi.SX.sym(name, robot.n_joints) for name in ("q", "qd", "qdd")]
    function = casadi.Function("rnea", inputs, [symbolic.rnea(model, model.createData(), *inputs)])
    compiler = next(filter(shutil.which, ("gcc", "clang")), None)
    label = f"casadi {version('casadi')} of pinocchio's rnea"
    if compiler is not None:
        function, label = _compiled(function, compiler), f"{label}, C by {compiler}"
    # (1, n): one column of its matrices.
    first = tuple(array[:1].copy() for array in states)
    one[f"{label}, from Python"] = casadi_task(function, first)
    batch[f"{label}, mapped"] = casadi_task(function.map(len(states[0])), states)


def _compiled(function: Any, compiler: str) -> Any:
    """The same function in C, called through CasADi."""
    import casadi

    with scratch_folder() as folder:
        code = casadi.CodeGenerator("rnea.c")
        code.add(function)
        code.generate(f"{folder}/")
        command = [compiler, *C_FLAGS, "-shared", "-fPIC", "rnea.c", "-lm", "-o", "rnea.so"]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
        # Loaded while the folder exists; the library stays mapped after it is gone.
        return casadi.external("rnea", str(folder / "rnea.so"))


@dataclass(frozen=True)
class _CasadiTask:
    """A call of CasADi, with all that it reads but does not keep alive."""

    call: Task
    out: Array
    read: tuple[Any, ...]

    def __call__(self) -> Array:
        self.call()
        return self.out


def casadi_task(function: Any, states: Sequence[Array]) -> Task:
    """A call of a CasADi function in its own buffers: columns of its matrices are rows of the states (N, n)."""
    out = np.empty_like(states[0])
    buffer, call = function.buffer()
    for k, array in enumerate(states):
        # The buffer keeps addresses only: array and result must outlive it.
        buffer.set_arg(k, array.data)
    buffer.set_res(0, out.data)
    return _CasadiTask(call, out, (function, buffer, states))


def _add_mujoco(robot: Robot, states: tuple[Array, Array, Array], one: dict[str, Task], _: dict[str, Task]) -> None:
    import mujoco

    model = mujoco_model(robot)
    data = mujoco.MjData(model)
    # mj_inverse reads state and acceleration from data; no argument is passed.
    data.qpos[:], data.qvel[:], data.qacc[:] = (array[0] for array in states)
    one[f"mujoco {mujoco.__version__} mj_inverse, from Python"] = lambda: mujoco.mj_inverse(model, data)


def least_seconds(tasks: Mapping[str, Task], repeats: int) -> dict[str, float]:
    """Least seconds per call; the tasks take turns, so that a disturbance hits all alike."""
    calls = {}
    best = dict.fromkeys(tasks, float("inf"))
    # A singular mass matrix is no matter here, but MuJoCo would leave a file about it.
    with without_warnings():
        for name, task in tasks.items():
            # The first call pays for pages and caches; it is not timed.
            task()
            # As many calls as fill one sample.
            calls[name] = max(1, round(LEAST_SAMPLE / max(_sample(task, 1), 1e-9)))
        for _ in range(repeats):
            for name, task in tasks.items():
                best[name] = min(best[name], _sample(task, calls[name]))
    return best


def _sample(task: Task, calls: int) -> float:
    start = time.perf_counter()
    for _ in range(calls):
        task()
    return (time.perf_counter() - start) / calls


def time_in_c(program: Program, *state: Array) -> tuple[dict[str, float], dict[str, str]]:
    """Seconds a call of the generated C by each compiler that is there, and compilers that are not."""
    found, missing = {}, {}
    for compiler in ("gcc", "clang"):
        if shutil.which(compiler) is None:
            missing[f"C by {compiler}"] = "not installed"
            continue
        with scratch_folder() as folder:
            tf.write_c(program, folder, name="robot")
            write_text(folder / "timer.c", _timer(program, state), GenerationError)
            command = [compiler, *C_FLAGS, "timer.c", "robot.c", "-lm", "-o", "timer"]
            subprocess.run(command, cwd=folder, check=True, capture_output=True)
            text = subprocess.run(["./timer"], cwd=folder, check=True, capture_output=True, encoding="utf-8").stdout
        found[f"tauform C, {compiler} -O3 -march=native"] = float(text)
    return found, missing


def _timer(program: Program, state: tuple[Array, ...]) -> str:
    arrays = [
        # repr gives digits that C reads back to the same double.
        f"{port.name}[{port.size}] = {{{', '.join(map(repr, array.tolist()))}}}"
        for port, array in zip(program.inputs, state, strict=True)
    ]
    names = ", ".join(port.name for port in program.inputs)
    return TIMER.format(inputs=", ".join(arrays), names=names, n=program.outputs[0].size)
