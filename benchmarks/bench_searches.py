"""Where searches end: operations that were counted, so the figures are the same on every machine; nothing is timed."""

from __future__ import annotations

from collections.abc import Iterator

import tauform as tf
from tools.measuring.timing import Row
from tools.real_robots import urdf

TITLE = "Operations that searches end with. Nothing here is timed: the figures are the same on every machine."
TOLERANCE, CONFIDENCE = 0.01, 0.999


def rows() -> Iterator[Row]:
    """Reduced programs with and without a condition, factored closed forms, frames as written."""
    robot = tf.load("kr6_r700")
    profile = tf.Profile.slow(robot.n_joints)
    for definite in (True, False):
        found = tf.reduce(robot, profile, TOLERANCE, CONFIDENCE, definite=definite)
        what = f"kr6_r700, slow, 1.0%, 99.9%, {'definite' if definite else 'any'} mass matrix"
        yield _counted(what, found.program, found.exact, "our exact program")
    for name in ("kr6_r700", "lbr7"):
        robot = tf.load(name)
        factored = tf.generate(robot, algorithm="factored")
        yield _counted(f"{name}, closed form", factored, tf.generate(robot), "our recursive program")
    rough, exact = (tf.generate(tf.load(urdf("xarm7"), tip="link7", snap=snap)) for snap in (None, 1e-5))
    yield _counted("xarm7 with friction, frames as written", rough, exact, "our own, snapped")


def _counted(what: str, program: tf.Program, other: tf.Program, peer: str) -> Row:
    note = f"{program.n_multiplications} + {program.n_additions}, {program.algorithm}"
    return Row(what, program.n_operations, other.n_operations, peer, unit="operations", note=note)
