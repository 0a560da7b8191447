"""What a tool computes, and how the benchmark asks for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module

import numpy as np

import tauform as tf
from tauform.arrays import Array

FUNCTIONS = ("inverse_dynamics", "mass_matrix", "forward_dynamics")
# How many of q, qd and qdd (or tau) a function takes.
N_VECTORS = {"inverse_dynamics": 3, "mass_matrix": 1, "forward_dynamics": 3}
MODULES = ("pinocchio", "casadi", "mujoco", "roboticstoolbox", "frax", "adam")

Task = Callable[[], Array]
# States -> a task that computes them; whatever is done before the task is returned is not timed.
Prepare = Callable[..., Task]


@dataclass(frozen=True)
class Peer:
    """One tool.

    Attributes:
        name: with its version, and how it is called where there are several ways.
        one: function -> prepare(q, qd, qdd), arrays (n,); the task returns (n,) or (n, n).
        batch: the same on arrays (N, n), on one thread; a tool without batches loops.
    """

    name: str
    one: Mapping[str, Prepare]
    batch: Mapping[str, Prepare]


def peers_of(robot: tf.Robot) -> tuple[list[Peer], dict[str, str]]:
    """The tools that are installed, and those that are not with the reason."""
    found, missing = [], {}
    for module in MODULES:
        try:
            found.append(import_module(f"tools.python_peers.{module}_peer").peer(robot))
        except ImportError as error:
            missing[module] = f"not installed ({error.name})"
    return found, missing


def looped(function: Callable[..., Array]) -> Prepare:
    """A batch by a loop over single states, into one array."""

    def prepare(*states: Array) -> Task:
        first = function(*(vector[0] for vector in states))

        def task() -> Array:
            result = np.empty((len(states[0]), *first.shape))
            for k, state in enumerate(zip(*states, strict=True)):
                result[k] = function(*state)
            return result

        return task

    return prepare


def direct(function: Callable[..., Array]) -> Prepare:
    """A function that takes states as they are."""
    return lambda *states: lambda: function(*states)
