"""adam on JAX: floating-base dynamics, of which the rows of the joints are those of a fixed base."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import tauform as tf
from tools.python_peers import jax_calls
from tools.python_peers.jax_calls import jax
from tools.python_peers.peer import Peer
from tools.python_peers.urdf_text import urdf_text

from adam.jax import KinDynComputations  # isort: skip  # after the settings of JAX


def batched(robot: tf.Robot) -> tuple[str, dict[str, Any]]:
    """Name with version, and functions of arrays (..., n).

    It has no inverse dynamics: M qdd + h; and accelerations by solving, since its aba frees the base.
    """
    gravity = jax.numpy.concatenate([jax.numpy.asarray(robot.gravity), jax.numpy.zeros(3)])
    theirs = KinDynComputations(urdf_text(robot), list(robot.joint_names), gravity=gravity)

    def still(q: Any) -> tuple[Any, Any]:
        """Placement and velocity of the base, for as many states as there are."""
        shape = q.shape[:-1]
        return jax.numpy.broadcast_to(jax.numpy.eye(4), (*shape, 4, 4)), jax.numpy.zeros((*shape, 6))

    def mass_matrix(q: Any) -> Any:
        return theirs.mass_matrix(still(q)[0], q)[..., 6:, 6:]

    def bias(q: Any, qd: Any) -> Any:
        placement, velocity = still(q)
        return theirs.bias_force(placement, q, velocity, qd)[..., 6:]

    def inverse_dynamics(q: Any, qd: Any, qdd: Any) -> Any:
        return (mass_matrix(q) @ qdd[..., None])[..., 0] + bias(q, qd)

    def forward_dynamics(q: Any, qd: Any, tau: Any) -> Any:
        return jax.numpy.linalg.solve(mass_matrix(q), (tau - bias(q, qd))[..., None])[..., 0]

    calls = {
        "inverse_dynamics": inverse_dynamics,
        "mass_matrix": mass_matrix,
        "forward_dynamics": forward_dynamics,
    }
    return f"adam {version('adam-robotics')}, {jax_calls.VERSION}", calls


def peer(robot: tf.Robot) -> Peer:
    """All three, compiled."""
    label, calls = batched(robot)
    # Its functions take batches, and do not work under vmap.
    tasks = {name: jax_calls.compiled(function) for name, function in calls.items()}
    return Peer(label, tasks, tasks)
