"""Batched inverse dynamics in NumPy against a loop over pin.rnea."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pinocchio

import tauform as tf
from benchmarks.pinocchio_model import pinocchio_model
from benchmarks.timing import Row, side_by_side

TITLE = "Inverse dynamics of 100,000 states from Python, one core (Pinocchio has no batch call without threads)."
N_STATES = 100_000


def rows() -> Iterator[Row]:
    """Arms of the catalogue, the seven-joint one first."""
    for name in ("lbr7", "kr6_r700"):
        robot = tf.load(name)
        model = pinocchio_model(robot)
        data = model.createData()
        rng = np.random.default_rng(0)
        q, qd, qdd = rng.uniform(-np.pi, np.pi, (3, N_STATES, robot.n_joints))

        def loop(model=model, data=data, q=q, qd=qd, qdd=qdd) -> np.ndarray:
            tau = np.empty_like(q)
            for k in range(len(q)):
                tau[k] = pinocchio.rnea(model, data, q[k], qd[k], qdd[k])
            return tau

        def batch(robot=robot, q=q, qd=qd, qdd=qdd) -> np.ndarray:
            return tf.inverse_dynamics(robot, q, qd, qdd)

        expected = loop()
        error = np.abs(batch() - expected).max() / np.abs(expected).max()
        seconds = side_by_side({"batch": batch, "loop": loop}, repeats=7)
        yield Row(
            f"{name}, {N_STATES:,} states",
            ours=seconds["batch"],
            peer=seconds["loop"],
            peer_name=f"loop over pin.rnea, pin {pinocchio.__version__}",
            note=f"agree to {error:.1e}",
        )
