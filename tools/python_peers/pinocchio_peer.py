"""Pinocchio's wheel: its C++ behind Python, and its batch calls where it has one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pinocchio

import tauform as tf
from tauform.arrays import Array
from tauform.cli.comparison.models import pinocchio_model
from tools.python_peers.peer import Peer, Prepare, Task, direct, looped


def peer(robot: tf.Robot) -> Peer:
    """rnea, crba and aba; rneaInParallel and abaInParallel with one thread."""
    model = pinocchio_model(robot)
    data, pool = model.createData(), pinocchio.ModelPool(model)
    calls: dict[str, Callable[..., Array]] = {
        "inverse_dynamics": lambda *state: pinocchio.rnea(model, data, *state),
        "mass_matrix": lambda q: pinocchio.crba(model, data, q),
        "forward_dynamics": lambda *state: pinocchio.aba(model, data, *state),
    }

    def parallel(function: Callable[..., Array]) -> Prepare:
        def prepare(*states: Array) -> Task:
            columns = [np.asfortranarray(vector.T) for vector in states]
            return lambda: function(1, pool, *columns).T

        return prepare

    batch = {
        "inverse_dynamics": parallel(pinocchio.rneaInParallel),
        "mass_matrix": looped(calls["mass_matrix"]),
        "forward_dynamics": parallel(pinocchio.abaInParallel),
    }
    one = {name: direct(function) for name, function in calls.items()}
    return Peer(f"Pinocchio {pinocchio.__version__}", one, batch)
