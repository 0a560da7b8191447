"""CasADi's C of Pinocchio's algorithms, compiled like ours and called through CasADi's own buffers."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import casadi
import numpy as np

import tauform as tf
from tauform.arrays import Array
from tools.measuring.c_timing import FLAGS
from tools.peers.build import casadi_code
from tools.python_peers.peer import FUNCTIONS, N_VECTORS, Peer, Prepare, Task


def peer(robot: tf.Robot) -> Peer:
    """External functions; a batch is their serial map, which costs no copies."""
    if shutil.which("gcc") is None:
        raise ImportError("no gcc for CasADi's C", name="gcc")
    functions = {}
    with TemporaryDirectory() as folder:
        code = casadi_code(robot, Path(folder))
        for name in FUNCTIONS:
            library = Path(folder) / f"{name}.so"
            command = ["gcc", *FLAGS, "-shared", "-fPIC", str(code.sources[name]), "-lm", "-o", str(library)]
            subprocess.run(command, check=True)
            functions[name] = casadi.external(f"casadi_{name}", str(library))
    tasks = {name: _buffered(function, robot.n_joints, N_VECTORS[name]) for name, function in functions.items()}
    return Peer(f"CasADi {casadi.__version__}, C", tasks, tasks)


def _buffered(function: Any, n: int, n_vectors: int) -> Prepare:
    def prepare(*states: Array) -> Task:
        vectors = [np.ascontiguousarray(vector) for vector in states[:n_vectors]]
        shape = vectors[0].shape[:-1]
        called = function.map(*shape) if shape else function
        result = np.empty(called.numel_out(0))
        buffer, evaluate = called.buffer()
        for k, vector in enumerate(vectors):
            buffer.set_arg(k, memoryview(vector))
        buffer.set_res(0, memoryview(result))
        tail = (n,) if function.numel_out(0) == n else (n, n)
        shaped = result.reshape(*shape, *tail)
        held = (buffer, called)  # evaluate() alone does not keep them alive

        def task() -> Array:
            evaluate()
            return shaped if held else result

        return task

    return prepare
