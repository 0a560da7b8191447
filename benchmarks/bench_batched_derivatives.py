"""Batched derivatives and mass matrices in NumPy against loops over Pinocchio."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pinocchio

import tauform as tf
from tauform.cli.comparison.models import pinocchio_model
from tools.measuring.timing import Row, side_by_side

TITLE = "Quantities of 10,000 states from Python, one core, NumPy batch against a loop over Pinocchio's C++."
N_STATES = 10_000


def rows() -> Iterator[Row]:
    """The seven-joint arm of the catalogue."""
    robot = tf.load("lbr7")
    model = pinocchio_model(robot)
    data = model.createData()
    states = np.random.default_rng(0).uniform(-np.pi, np.pi, (3, N_STATES, robot.n_joints))

    def loop(function: Callable[..., object], n_vectors: int) -> Callable[[], None]:
        def run() -> None:
            for k in range(N_STATES):
                function(model, data, *states[:n_vectors, k])

        return run

    pairs: dict[str, tuple[Callable[..., object], Callable[..., object], int]] = {
        "mass_matrix": (tf.textbook.mass_matrix, pinocchio.crba, 1),
        "forward_dynamics": (tf.textbook.forward_dynamics, pinocchio.aba, 3),
        "regressor": (tf.textbook.regressor, pinocchio.computeJointTorqueRegressor, 3),
        "linearize_inverse": (tf.textbook.linearize_inverse, pinocchio.computeRNEADerivatives, 3),
        "linearize_forward": (tf.textbook.linearize_forward, pinocchio.computeABADerivatives, 3),
    }
    for name, (ours, theirs, n_vectors) in pairs.items():

        def batch(ours: Callable[..., object] = ours, n_vectors: int = n_vectors) -> object:
            return ours(robot, *states[:n_vectors])

        seconds = side_by_side({"batch": batch, "loop": loop(theirs, n_vectors)}, repeats=5)
        peer = f"loop over pin.{theirs.__name__}, pin {pinocchio.__version__}"
        yield Row(f"lbr7 {name}, {N_STATES:,} states", ours=seconds["batch"], peer=seconds["loop"], peer_name=peer)
