"""Batched inverse dynamics in NumPy against Pinocchio called from Python."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
import pinocchio

import tauform as tf
from tauform.arrays import Array
from tauform.cli.comparison.models import pinocchio_model
from tools.measuring.timing import Row, side_by_side

TITLE = "Inverse dynamics of 100,000 states from Python, NumPy on our side, one core."
N_STATES = 100_000


def rows() -> Iterator[Row]:
    """Arms of the catalogue, the seven-joint one first, against the two ways Pinocchio has from Python."""
    for name in ("lbr7", "kr6_r700"):
        robot = tf.load(name)
        q, qd, qdd = np.random.default_rng(0).uniform(-np.pi, np.pi, (3, N_STATES, robot.n_joints))
        candidates = {
            "ours": partial(tf.textbook.inverse_dynamics, robot, q, qd, qdd),
            **pinocchio_candidates(robot, q, qd, qdd),
        }
        expected = candidates["ours"]()
        seconds = side_by_side(candidates, repeats=7)
        for peer in list(candidates)[1:]:
            error = np.abs(candidates[peer]() - expected).max() / np.abs(expected).max()
            yield Row(
                f"{name}, {N_STATES:,} states",
                ours=seconds["ours"],
                peer=seconds[peer],
                peer_name=f"{peer}, pin {pinocchio.__version__}",
                note=f"agree to {error:.1e}",
            )


def pinocchio_candidates(robot: tf.Robot, q: Array, qd: Array, qdd: Array) -> dict[str, Callable[[], Array]]:
    """A loop over single states, and the batch call on one thread."""
    model = pinocchio_model(robot)
    data, pool = model.createData(), pinocchio.ModelPool(model)
    columns = [np.asfortranarray(array.T) for array in (q, qd, qdd)]

    def loop() -> Array:
        tau = np.empty_like(q)
        for k in range(len(q)):
            tau[k] = pinocchio.rnea(model, data, q[k], qd[k], qdd[k])
        return tau

    return {
        "loop over pin.rnea": loop,
        "pin.rneaInParallel, one thread": lambda: pinocchio.rneaInParallel(1, pool, *columns).T,
    }
