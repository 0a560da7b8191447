"""Where searches end: operations that were counted, so the figures are the same on every machine; nothing is timed."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import tauform as tf
from tauform.closedform.reduction.contribution import contributions
from tauform.closedform.reduction.reduction import with_terms
from tauform.codegen.factored.factored import companions
from tauform.codegen.factored.model_program import factored_program
from tools.measuring.timing import Row
from tools.real_robots import urdf

TITLE = "Operations that searches end with. Nothing here is timed: the figures are the same on every machine."
TOLERANCE, CONFIDENCE = 0.01, 0.999
# Of the terms of a closed form, by contribution.
SHARES = (1.0, 0.5, 0.2, 0.05, 0.02)
RANKING_STATES = 500


def rows() -> Iterator[Row]:
    """Reduced programs with and without a condition, closed forms with fewer and fewer terms, frames as written."""
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
    yield from fewer_terms()
    rough, exact = (tf.generate(tf.load(urdf("xarm7"), tip="link7", snap=snap)) for snap in (None, 1e-5))
    yield _counted("xarm7 with friction, frames as written", rough, exact, "our own, snapped")


def fewer_terms() -> Iterator[Row]:
    """Programs of the KR6's terms that contribute most, with those that cost nothing more, and alone."""
    robot = tf.load("kr6_r700")
    bound, profile = tf.derive(robot).bind(robot), tf.Profile.slow(robot.n_joints)
    order = contributions(bound, profile, RANKING_STATES, np.random.default_rng(0)).order
    for share in SHARES:
        kept = np.zeros(bound.n_terms, dtype=bool)
        kept[order[: int(share * bound.n_terms)]] = True
        models = with_terms(bound, kept, completed=companions(bound)), with_terms(bound, kept)
        together, alone = (factored_program(model, "inverse_dynamics") for model in models)
        yield _counted(f"kr6_r700, slow, {share:.0%} of the terms", together, alone, "these terms alone")


def _counted(what: str, program: tf.Program, other: tf.Program, peer: str) -> Row:
    note = f"{program.n_multiplications} + {program.n_additions}, {program.algorithm}"
    return Row(what, program.n_operations, other.n_operations, peer, unit="operations", note=note)
