"""Compiled kernels called from Python: one state, large batches, two threads, and the share of the machine's peak."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pinocchio

import tauform as tf
from benchmarks import fma_peak
from benchmarks.batch_peers import casadi_map, pinocchio_loop
from tauform.arrays import Array
from tauform.cli.comparison.models import pinocchio_model
from tauform.codegen.program.program import Op, Program
from tools.arms import ARMS, arm
from tools.measuring.timing import Row, side_by_side

TITLE = (
    "Inverse dynamics from Python, arms without friction and rotors: compiled kernels on (N, n) arrays against "
    "Pinocchio and CasADi; C and C++ of the peers compiled with -O3 -march=native."
)
N_STATES = 100_000
# What a pair of sine and cosine counts for, in operations.
SINE_COSINE = 36
CALLS = 200


def rows() -> Iterator[Row]:
    """Each robot: one state, a batch on one thread, on two, and the operations per second next to the peak."""
    for name in ARMS:
        robot = arm(name)
        kernel = tf.compile(robot, "inverse_dynamics")
        states = np.random.default_rng(0).uniform(-np.pi, np.pi, (3, N_STATES, robot.n_joints))
        yield _one_state(name, robot, kernel, states[:, 0].copy())
        yield from _batches(name, robot, kernel, states)


def _one_state(name: str, robot: tf.Robot, kernel: Any, state: Array) -> Row:
    model = pinocchio_model(robot)
    data = model.createData()
    q, qd, qdd = state

    def ours() -> None:
        for _ in range(CALLS):
            kernel(q, qd, qdd)

    def theirs() -> None:
        for _ in range(CALLS):
            pinocchio.rnea(model, data, q, qd, qdd)

    seconds = side_by_side({"ours": ours, "theirs": theirs}, repeats=300)
    return Row(
        f"{name}, one state",
        ours=seconds["ours"] / CALLS,
        peer=seconds["theirs"] / CALLS,
        peer_name=f"pin.rnea from Python, pin {pinocchio.__version__}",
    )


def _batches(name: str, robot: tf.Robot, kernel: Any, states: Array) -> Iterator[Row]:
    pool = pinocchio.ModelPool(pinocchio_model(robot))
    columns = [np.asfortranarray(array.T) for array in states]
    out, theirs = np.empty_like(states[0]), np.empty_like(states[0])
    ours = partial(kernel, *states, out=out)
    peak = fma_peak.measure()
    with TemporaryDirectory() as folder:
        peers: dict[str, Callable[[], Array]] = {
            "loop in C++ over pinocchio::rnea": pinocchio_loop(robot, states, theirs),
            "CasADi C mapped from Python": casadi_map(robot, states, Path(folder)),
            "pin.rneaInParallel, one thread": lambda: pinocchio.rneaInParallel(1, pool, *columns).T,
        }
        seconds = side_by_side({"ours": ours, **peers}, repeats=20)
        share = N_STATES * _operations(kernel.program) / seconds["ours"] / peak
        speed = f"{N_STATES / seconds['ours'] / 1e6:.0f} M states/s, {share:.0%} of {peak / 1e9:.0f} Gflop/s"
        for label, peer in peers.items():
            error = np.abs(ours() - peer()).max() / np.abs(out).max()
            yield Row(
                f"{name}, {N_STATES:,} states, one thread",
                ours=seconds["ours"],
                peer=seconds[label],
                peer_name=label,
                note=f"{speed}, agree to {error:.1e}",
            )
    if (os.cpu_count() or 1) > 1:
        yield _threads(name, kernel, states)


def _threads(name: str, kernel: Any, states: Array) -> Row:
    """Scaling on a batch that outlasts the start of a thread."""
    many = np.tile(states, (1, 20, 1))
    out = np.empty_like(many[0])
    one, two = partial(kernel, *many, out=out), partial(kernel, *many, out=out, threads=2)
    seconds = side_by_side({"one": one, "two": two}, repeats=10)
    return Row(
        f"{name}, {len(out):,} states, two threads",
        ours=seconds["two"],
        peer=seconds["one"],
        peer_name="one thread",
        note=f"{len(out) / seconds['two'] / 1e6:.0f} M states/s",
    )


def _operations(program: Program) -> int:
    """Operations of a state, sines and cosines included."""
    pairs = {i.args[0] for i in program.instructions if i.op in (Op.SIN, Op.COS)}
    return program.n_operations + SINE_COSINE * len(pairs)
