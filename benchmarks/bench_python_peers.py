"""Called from Python: our kernels beside every tool that computes the same, one state and batches."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import tauform as tf
from tauform.arrays import Array
from tools.arms import arm
from tools.measuring.timing import Row, one_processor, side_by_side
from tools.python_peers.peer import FUNCTIONS, N_VECTORS, Peer, Task, peers_of

TITLE = (
    "From Python, seconds of one processor, arms without friction and rotors: our compiled kernels beside other tools, "
    "which get their states beforehand in the layout that suits them. CasADi's C is that of Pinocchio's algorithms, "
    "compiled like ours and called through its own buffers; MuJoCo, and what has no batch call, loops; adam has no "
    "inverse dynamics, so it is M qdd + h there. JAX functions are compiled, in double precision."
)
# Batches of everything on one arm; compilation in JAX takes up to a minute per function.
ARMS = {"panda": FUNCTIONS, "kr6_r700": ("inverse_dynamics",), "ur5": ("inverse_dynamics",)}
N_STATES = 20_000
# Accelerations are known up to the condition of the mass matrix.
AGREEMENT = 1e-10


def rows() -> Iterator[Row]:
    """Each arm and function, one state and a batch, all tools."""
    with one_processor():
        for name, functions in ARMS.items():
            robot = arm(name)
            peers, missing = peers_of(robot)
            for function in functions:
                states = np.random.default_rng(0).uniform(-np.pi, np.pi, (3, N_STATES, robot.n_joints))
                yield from _compared(f"{name}, {function}", robot, function, states, peers, missing)


def _compared(
    what: str, robot: tf.Robot, function: str, states: Array, peers: list[Peer], missing: dict[str, str]
) -> Iterator[Row]:
    kernel: Any = tf.compile(robot, function)
    vectors = states[: N_VECTORS[function]]
    first = [vector[0].copy() for vector in vectors]
    single = {peer.name: peer.one[function](*first) for peer in peers}
    batched = {peer.name: peer.batch[function](*vectors) for peer in peers}
    yield from _rows(f"{what}, one state", partial(kernel, *first), single, missing, 1)
    out = np.empty_like(kernel(*vectors))
    label = f"{what}, {N_STATES:,} states"
    yield from _rows(label, partial(kernel, *vectors, out=out), batched, missing, N_STATES)


def _rows(
    what: str, ours: Callable[[], Any], theirs: dict[str, Task], missing: dict[str, str], n_states: int
) -> Iterator[Row]:
    agreement = {name: _disagreement(np.array(ours()), np.array(task())) for name, task in theirs.items()}
    repeats = 25 if n_states == 1 else 5
    seconds = side_by_side({"ours": ours, **theirs}, repeats=repeats, clock=time.process_time)
    for name in theirs:
        rate = f"{n_states / seconds[name] / 1e6:.3g} M states/s, " if n_states > 1 else ""
        yield Row(what, seconds["ours"], seconds[name], name, note=f"{rate}agree to {agreement[name]:.0e}")
    for name, why in missing.items():
        yield Row(what, seconds["ours"], None, name, note=why)


def _disagreement(ours: Array, theirs: Array) -> float:
    """Largest difference relative to the output; Pinocchio leaves the lower triangle of mass matrices empty."""
    if ours.shape[-1:] == ours.shape[-2:-1]:
        ours, theirs = np.triu(ours), np.triu(theirs)
    error = float(np.abs(ours - theirs).max() / np.abs(ours).max())
    if error > AGREEMENT:
        raise RuntimeError(f"the peer disagrees by {error:.1e}; its time means nothing")
    return error
