"""Verification of a reduced program on fresh states, through compiled kernels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tauform.arrays import Array
from tauform.closedform.profile import Profile, States
from tauform.codegen.compile import Kernel, compile_program
from tauform.codegen.program import Program
from tauform.codegen.pruning.prune import weighed
from tauform.description.robot import Robot
from tauform.realtime.guards import guard, result_weights
from tauform.rigidbody.inverse_dynamics import inverse_dynamics

STATES_PER_SLICE = 50_000
# The promise must hold with this many standard deviations of the count to spare, so that it holds on other states too.
SPARE = 2.5
# With this many too much, a part of the states is enough to refuse.
HOPELESS = 5.0
GUARD_STATES = 10_000


@dataclass(frozen=True)
class Verification:
    """What fresh states showed.

    Attributes:
        error: relative error that the given share of them stays below.
        share: of the states within the tolerance.
        holds: whether the promise holds with something to spare.
    """

    n_states: int
    error: float
    share: float
    holds: bool

    @classmethod
    def exact(cls, n_states: int) -> Verification:
        """Of the exact program."""
        return cls(n_states, 0.0, 1.0, True)


def function_states(robot: Robot, program: Program, states: States) -> list[Array]:
    """Inputs of a program at states of a profile; torques are those that the accelerations need."""
    known = dict(zip(("q", "qd", "qdd"), states, strict=True))
    if any(port.name == "tau" for port in program.inputs):
        known["tau"] = inverse_dynamics(robot, *states)
    return [known[port.name] for port in program.inputs]


def verify(
    program: Program,
    exact: Program,
    robot: Robot,
    profile: Profile,
    tolerance: float,
    confidence: float,
    n_states: int,
    rng: np.random.Generator,
) -> Verification:
    """Compare a program with the exact one on fresh states of a profile, or on all recorded ones."""
    fresh = profile.recorded is None
    if profile.recorded is not None:
        n_states = profile.recorded.shape[1]
    sound = guard(exact.name, function_states(robot, exact, profile.sample(GUARD_STATES, rng)))(program)
    kernels = compile_program(program), compile_program(exact)
    errors: list[Array] = []
    n_failed = n_done = 0
    for states in _slices(profile, n_states, rng):
        errors.append(_errors(*kernels, function_states(robot, exact, states)))
        n_failed, n_done = n_failed + int((errors[-1] > tolerance).sum()), n_done + len(errors[-1])
        allowed = (1 - confidence) * n_done
        if not sound or (fresh and n_failed > allowed + HOPELESS * np.sqrt(allowed)):
            break  # more states would not save it
    # recorded states are all there are; others stand for those to come
    spare = SPARE * np.sqrt(allowed) if fresh else 0.0
    quantile = float(np.quantile(np.concatenate(errors), confidence))
    holds = bool(sound and n_done == n_states and n_failed <= max(allowed - spare, 0.0))
    return Verification(n_done, quantile, 1 - n_failed / n_done, holds)


def _slices(profile: Profile, n_states: int, rng: np.random.Generator) -> Iterator[States]:
    for first in range(0, n_states, STATES_PER_SLICE):
        size = min(STATES_PER_SLICE, n_states - first)
        if profile.recorded is None:
            yield profile.sample(size, rng)
        else:
            q, qd, qdd = profile.recorded[:, first : first + size]
            yield q, qd, qdd


def _errors(kernel: Kernel, exact: Kernel, states: list[Array]) -> Array:
    expected = _flat(exact(*states), len(states[0]))
    found = _flat(kernel(*states), len(states[0]))
    return weighed(found, expected, result_weights(exact.program.name, expected))


def _flat(outputs: Array | tuple[Array, ...], n_states: int) -> Array:
    listed = outputs if isinstance(outputs, tuple) else (outputs,)
    return np.concatenate([array.reshape(n_states, -1) for array in listed], axis=1)
