"""Functions of JAX as tasks: compiled, double precision, one thread, states on the device beforehand."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

# As frax recommends for one processor; read when JAX is imported.
os.environ.setdefault("JAX_ENABLE_X64", "1")
os.environ.setdefault("JAX_PLATFORMS", "cpu")
os.environ.setdefault(
    "XLA_FLAGS",
    "--xla_cpu_multi_thread_eigen=false --xla_cpu_scheduler_type=CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED",
)

import jax
import numpy as np

from tauform.arrays import Array
from tools.python_peers.peer import Prepare, Task

VERSION = f"JAX {jax.__version__}"


def compiled(function: Callable[..., Any]) -> Prepare:
    """One state, or as many as the function takes."""
    ready = jax.jit(function)

    def prepare(*states: Array) -> Task:
        placed = [jax.device_put(vector) for vector in states]
        return lambda: np.asarray(ready(*placed))

    return prepare
