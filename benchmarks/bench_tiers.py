"""Public functions as they are called, each tier, beside Pinocchio called from Python in a loop."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pinocchio

import tauform as tf
from tauform.arrays import Array
from tauform.cli.comparison.models import pinocchio_model
from tools.arms import arm
from tools.measuring.timing import Row, side_by_side

TITLE = (
    "Public functions as users call them, one thread, arms without friction and rotors: `tf.inverse_dynamics` and its "
    "siblings in each tier (1 NumPy, 2 compiled, 3 searched and compiled; results allocated by the call), beside a "
    "loop in Python over Pinocchio."
)
ARMS = ("kr6_r700", "panda")
CALLS = 200
# States of each function; regressors of a Panda take 5 kB per state.
BATCHES = {
    "inverse_dynamics": 100_000,
    "forward_dynamics": 10_000,
    "mass_matrix": 10_000,
    "linearize_inverse": 10_000,
    "linearize_forward": 10_000,
    "regressor": 10_000,
    "base_regressor": 10_000,
}
VECTORS = {"mass_matrix": 1}
PINOCCHIO = {
    "inverse_dynamics": pinocchio.rnea,
    "forward_dynamics": pinocchio.aba,
    "mass_matrix": pinocchio.crba,
    "linearize_inverse": pinocchio.computeRNEADerivatives,
    "linearize_forward": pinocchio.computeABADerivatives,
    "regressor": pinocchio.computeJointTorqueRegressor,
    "base_regressor": pinocchio.computeJointTorqueRegressor,
}
SECOND = "import tauform as tf, tauform.codegen.compile, time; robot = tf.load('kr6_r700')\n"
TIMED = "start = time.process_time(); tf.compile(robot); print(time.process_time() - start)"
ALLOWED = 0.02  # seconds


def rows() -> Iterator[Row]:
    """One state and batches of each function and tier; then the second process."""
    for name in ARMS:
        robot = arm(name)
        model = pinocchio_model(robot)
        yield from _one_state(name, robot, model)
        for function, n_states in BATCHES.items():
            yield from _batch(name, robot, model, function, n_states)
    yield from _second_process()


def _states(robot: tf.Robot, n_states: int, function: str) -> list[Array]:
    drawn = np.random.default_rng(0).uniform(-np.pi, np.pi, (3, n_states, robot.n_joints))
    return list(drawn[: VECTORS.get(function, 3)])


def _one_state(name: str, robot: tf.Robot, model: Any) -> Iterator[Row]:
    q, qd, qdd = (vector[0].copy() for vector in _states(robot, 1, "inverse_dynamics"))
    data = model.createData()
    tf.inverse_dynamics(robot, q, qd, qdd, tier=2)

    def ours() -> None:
        for _ in range(CALLS):
            tf.inverse_dynamics(robot, q, qd, qdd)

    def theirs() -> None:
        for _ in range(CALLS):
            pinocchio.rnea(model, data, q, qd, qdd)

    seconds = side_by_side({"ours": ours, "theirs": theirs}, repeats=300)
    yield Row(
        f"{name}, inverse_dynamics, one state, warm",
        ours=seconds["ours"] / CALLS,
        peer=seconds["theirs"] / CALLS,
        peer_name="pin.rnea",
    )


def _batch(name: str, robot: tf.Robot, model: Any, function: str, n_states: int) -> Iterator[Row]:
    states, data, peer = _states(robot, n_states, function), model.createData(), PINOCCHIO[function]

    def loop() -> None:
        for state in zip(*states, strict=True):
            peer(model, data, *state)

    public = getattr(tf, function)
    tiers: dict[int, Callable[[], Any]] = {tier: partial(public, robot, *states, tier=tier) for tier in (1, 2, 3)}
    exact = _arrays(tiers[1]())
    for task in (tiers[2], tiers[3]):  # compiled, and compared before anything is timed
        for found, expected in zip(_arrays(task()), exact, strict=True):
            assert np.abs(found - expected).max() <= 1e-9 * np.abs(expected).max()
    written = sum(array.nbytes for array in exact)
    del exact
    seconds = side_by_side({"loop": loop, **{str(tier): task for tier, task in tiers.items()}}, repeats=5)
    speed = _memory_speed(written) if "regressor" in function else None
    for tier in tiers:
        own = seconds[str(tier)]
        share = "" if speed is None else f", writes at {written / own / speed:.0%} of what np.full does"
        yield Row(
            f"{name}, {function}, {n_states:,} states, tier {tier}",
            ours=own,
            peer=seconds["loop"],
            peer_name=f"loop over pin.{peer.__name__}",
            note=f"{n_states / own / 1e6:.3g} M states/s{share}",
        )


def _arrays(result: Any) -> list[Array]:
    return [result] if isinstance(result, np.ndarray) else list(vars(result).values())


def _memory_speed(n_bytes: int) -> float:
    """Bytes per second that fresh memory takes."""
    seconds = side_by_side({"fill": lambda: np.full(n_bytes // 8, 1.0)}, repeats=5)
    return n_bytes / seconds["fill"]


def _second_process() -> Iterator[Row]:
    with TemporaryDirectory() as folder:
        environment = {**os.environ, "TAUFORM_CACHE": folder}

        def seconds() -> float:
            command = [sys.executable, "-c", SECOND + TIMED]
            done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
            return float(done.stdout)

        first = seconds()
        again = min(seconds() for _ in range(5))
    yield Row("kr6_r700, tf.compile in a fresh process, after imports", first, None, "-", note="nothing kept")
    yield Row("kr6_r700, the same in a second process", again, ALLOWED, "allowed", note="program and code kept")
