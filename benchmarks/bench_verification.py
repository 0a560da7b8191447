"""Monte-Carlo verification of the KR6 and of its 1 % reduction over 1e9 states, on two workers of this machine."""

from __future__ import annotations

import time
from collections.abc import Iterator

import tauform as tf
from tools.measuring.timing import Row

TITLE = (
    "`tf.verify(program, n_states=10**9, workers=2)` of the KR6: seconds with the start of the workers, in the slow "
    "profile of Lloyd2021, beside the 1e6 states that a reduction itself is verified on. Quantiles are counts, and the "
    "largest error is exact."
)
STATES, FEW, WORKERS, SEED = 10**9, 10**6, 2, 7


def rows() -> Iterator[Row]:
    """The exact program, then the reduction."""
    robot = tf.load("kr6_r700")
    yield _verified("exact program", tf.generate(robot, "inverse_dynamics"), robot)
    yield _verified("1 % reduction", tf.derive(robot).bind(robot).reduce("slow", tolerance=0.01), None)


def _verified(name: str, subject: tf.Program | tf.Reduction, robot: tf.Robot | None) -> Row:
    start = time.monotonic()
    found = tf.verify(subject, robot, n_states=STATES, workers=WORKERS, seed=SEED)
    seconds = time.monotonic() - start
    few = tf.verify(subject, robot, n_states=FEW, seed=SEED)
    note = (
        f"half below {found.quantile(0.5):.2g}, 99.9 % below {found.quantile(0.999):.3g}, largest {found.largest:.3g} "
        f"(of 1e6: {few.largest:.3g}), {found.n_above} above {found.tolerance:g}"
    )
    return Row(f"KR6, {name}, 1e9 states", seconds, None, "-", note=note)
