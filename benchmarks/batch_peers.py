"""Peers on a batch of states, called from Python: a loop in C++ over Pinocchio's rnea, and CasADi's C mapped."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable
from pathlib import Path

import casadi

import tauform as tf
from tauform.arrays import Array
from tauform.cli.comparison.peers import casadi_task
from tools.measuring.c_timing import FLAGS
from tools.peers.build import casadi_code, numbers, pinocchio_library

Task = Callable[[], Array]


def pinocchio_loop(robot: tf.Robot, states: Array, out: Array) -> Task:
    """A task that fills and returns `out` (N, n), from `states` (3, N, n)."""
    function = ctypes.CDLL(str(pinocchio_library())).pinocchio_inverse_dynamics_loop
    table = numbers(robot)
    given = (ctypes.c_double * len(table))(*table)
    arrays = [ctypes.c_void_p(array.ctypes.data) for array in (*states, out)]

    def task() -> Array:
        function(given, ctypes.c_long(len(out)), *arrays)
        return out

    return task


def casadi_map(robot: tf.Robot, states: Array, folder: Path) -> Task:
    """The same by CasADi's C of Pinocchio's rnea, compiled like ours and mapped over the batch in CasADi's buffers."""
    source = casadi_code(robot, folder).sources["inverse_dynamics"]
    library = source.with_suffix(".so")
    subprocess.run(["gcc", *FLAGS, "-shared", "-fPIC", str(source), "-lm", "-o", str(library)], check=True)
    return casadi_task(casadi.external("casadi_inverse_dynamics", str(library)).map(states.shape[1]), list(states))
