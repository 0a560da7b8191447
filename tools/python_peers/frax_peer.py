"""frax, rigid bodies in JAX."""

from __future__ import annotations

import warnings
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import tauform as tf
from tools.python_peers import jax_calls
from tools.python_peers.peer import Peer
from tools.python_peers.urdf_text import urdf_text

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it advises an older JAX than the Pythons here can have
    import frax


def functions(robot: tf.Robot) -> tuple[str, dict[str, Any]]:
    """Name with version, and functions of one state: rnea with accelerations, crba, forward_dynamics."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "robot.urdf"
        path.write_text(urdf_text(robot), encoding="utf-8")
        theirs = frax.Robot(str(path), joint_ordering=list(robot.joint_names))
    lift = np.concatenate([-robot.gravity, np.zeros(3)])  # as if the base accelerated upwards

    def inverse_dynamics(q: Any, qd: Any, qdd: Any) -> Any:
        return theirs.rnea(q, qd, qdd, lift, None)

    def forward_dynamics(q: Any, qd: Any, tau: Any) -> Any:
        return theirs.forward_dynamics(q, qd, tau, None)

    calls = {
        "inverse_dynamics": inverse_dynamics,
        "mass_matrix": theirs.crba,
        "forward_dynamics": forward_dynamics,
    }
    return f"frax {version('frax')}, {jax_calls.VERSION}", calls


def batched(robot: tf.Robot) -> tuple[str, dict[str, Any]]:
    """The same functions of arrays (N, n)."""
    label, calls = functions(robot)
    return label, {name: jax_calls.jax.vmap(function) for name, function in calls.items()}


def peer(robot: tf.Robot) -> Peer:
    """All three, compiled."""
    label, calls = functions(robot)
    return Peer(
        label,
        {name: jax_calls.compiled(function) for name, function in calls.items()},
        {name: jax_calls.compiled(jax_calls.jax.vmap(function)) for name, function in calls.items()},
    )
