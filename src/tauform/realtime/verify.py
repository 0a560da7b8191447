"""verify: Monte-Carlo verification of a program, over any number of states and on any number of workers.

States come in slices whose random numbers depend on the seed and the slice's number alone, and what is kept of them are
counts and a maximum. So the result is the same, to the bit, however the slices are divided among workers.
"""

from __future__ import annotations

import math
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from tauform.arguments import Natural
from tauform.arrays import Array
from tauform.closedform.profile import VECTORS, Profile, States
from tauform.closedform.reduction.streaming import ErrorCounts
from tauform.codegen.candidates import plain_program
from tauform.codegen.certificate import certified
from tauform.codegen.functions import FUNCTIONS
from tauform.codegen.minimal.problem import problem_of
from tauform.codegen.program.program import Program
from tauform.codegen.runtime.kernel import Kernel
from tauform.description.robot import Robot
from tauform.errors import ModelError
from tauform.messages import Progress
from tauform.realtime.reduction.joints import joint_sizes, joint_weights
from tauform.realtime.reduction.reduce import Reduction
from tauform.realtime.reduction.subject import Subject, function_states
from tauform.realtime.reduction.verification import for_batches, relative_errors
from tauform.scheduler import cluster_if_asked, completed

# States of a slice: they and their torques fit into the cache of one core.
STATES_PER_SLICE = 10_000
# A task is so many slices: half a second of work, beside a millisecond that a scheduler spends on it.
SLICES_PER_TASK = 200
EXACT_TOLERANCE = 1e-9
# Years of work on one core; beyond it, the list of tasks alone would fill the memory.
MOST_STATES = 10**13


@dataclass(frozen=True, eq=False, repr=False)
class ErrorDistribution:
    """Relative errors of a program over random states.

    Attributes:
        program: what was verified.
        reference: what it was compared with, in words.
        profile: where the states lie.
        n_states: how many there were.
        tolerance: of the error.
        n_above: states whose error exceeds it, counted exactly.
        largest: error of the worst state.
        worst: (n,) q, qd, qdd (and temperature) of that state.
        counts: of errors by size.
        seed: of the states.
    """

    program: Program
    reference: str
    profile: Profile
    n_states: int
    tolerance: float
    n_above: int
    largest: float
    worst: tuple[Array, ...]
    counts: ErrorCounts
    seed: int

    def quantile(self, share: float) -> float:
        """The error that this share of the states stays below: at most 0.12 % above the true one, never below it.

        Raises:
            ModelError: no share.
        """
        if not 0 <= share <= 1:
            raise ModelError(f"share: expected a number from 0 to 1, got {share}")
        # The largest is known exactly; the upper edge of its bin would be a little more.
        return min(self.counts.quantile(share), self.largest)

    def __repr__(self) -> str:
        return (
            f"ErrorDistribution({self.program.name} of {self.program.robot}: {self.n_states} states, "
            f"99.9 % within {self.quantile(0.999):.3g}, largest {self.largest:.3g}, {self.n_above} above "
            f"{self.tolerance:.3g})"
        )


def verify(
    program: Program | Reduction,
    robot: Robot | None = None,
    profile: Profile | Literal["slow", "fast"] | None = None,
    n_states: int = 1_000_000,
    *,
    tolerance: float | None = None,
    reference: Program | None = None,
    seed: Natural = 0,
    client: Any = None,
    scheduler: str | None = None,
    workers: Natural = 0,
    progress: Progress | None = None,
) -> ErrorDistribution:
    """Compare a program with the textbook algorithm at many random states.  [Lloyd2021, section 4.3]

    Both are compiled. The reference is the usual algorithm as it stands, traced without a search and without anything
    left out, and is itself compared with the textbook function in NumPy first. Memory does not grow with the number of
    states, and the result depends on neither the workers nor how states are divided among them.

    Args:
        program: of inverse_dynamics, forward_dynamics, gravity_torque or mass_matrix; or a reduction.
        robot: what the program was made of; a reduction knows its own.
        profile: where states lie; that of the reduction, else the slow one of Lloyd2021 within joint limits.
        n_states: how many.
        tolerance: states with larger relative errors are counted; that of the reduction, else 1e-9.
        reference: another program to compare with.
        seed: of the states; another one than a reduction was made with draws states that it has not seen.
        client: a `distributed.Client`.
        scheduler: address of a scheduler of Dask.
        workers: processes of this machine; 0 works in this one.
        progress: called with a few words.

    Raises:
        ModelError: a program with other inputs, a profile outside joint limits, or a reduction of a closed form that is
            no robot's, without a reference.
        VerificationError: the compiled reference deviates from the textbook function.
        IdentificationError: the scheduler does not answer.
    """
    if not 1 <= n_states <= MOST_STATES:
        raise ModelError(f"n_states: expected 1 to {MOST_STATES:.0e}, got {n_states}")
    # Nothing is above NaN, so every program would pass.
    if tolerance is not None and not 0 < tolerance < math.inf:
        raise ModelError(f"tolerance: expected a positive number, got {tolerance}")
    comparison = _comparison(program, robot, profile, tolerance, reference, seed)
    # Rounded up: the last slice may be a part of one.
    n_slices = -(-n_states // STATES_PER_SLICE)
    firsts = range(0, n_slices, SLICES_PER_TASK)
    tasks = {k: (k, min(k + SLICES_PER_TASK, n_slices), n_states) for k in firsts}
    total = _Errors()

    def done(_: int, found: _Errors) -> None:
        # In any order: counts add up, and of equal maxima the first state counts.
        total.merge(found)
        if progress:
            progress(f"{comparison.program.name}: errors at {total.counts.n_states} of {n_states} states")

    with cluster_if_asked(scheduler, workers) if client is None else nullcontext(client) as own:
        completed(_counted, comparison, tasks, own, done)
    return ErrorDistribution(
        program=comparison.program,
        reference=comparison.described,
        profile=comparison.profile,
        n_states=n_states,
        tolerance=comparison.tolerance,
        n_above=total.n_above,
        largest=total.largest,
        # Drawn again: its place is kept, not the states, which would be gigabytes.
        worst=tuple(vector[total.place[1]] for vector in comparison.states(total.place[0], n_states)),
        counts=total.counts,
        seed=seed,
    )


class _Errors:
    """What is kept of errors: counts, and where the largest is."""

    def __init__(self) -> None:
        self.counts, self.n_above = ErrorCounts(), 0
        # Slice, and state within it.
        self.largest, self.place = -1.0, (0, 0)

    def add(self, errors: Array, tolerance: float, k: int) -> None:
        self.counts.add(errors)
        self.n_above += int((errors > tolerance).sum())
        worst = int(np.argmax(errors))
        self._take(float(errors[worst]), (k, worst))

    def merge(self, other: _Errors) -> None:
        self.counts.merge(other.counts)
        self.n_above += other.n_above
        self._take(other.largest, other.place)

    def _take(self, error: float, place: tuple[int, int]) -> None:
        # Of equals the first, whichever worker came first.
        if (-error, place) < (-self.largest, self.place):
            self.largest, self.place = error, place


@dataclass(frozen=True, eq=False)
class _Comparison:
    """What every worker needs; kernels are made where they are used, once per worker."""

    subject: Subject
    program: Program
    reference: Program
    described: str
    profile: Profile
    tolerance: float
    joints: Array | None
    seed: int

    @cached_property
    def kernels(self) -> tuple[Kernel, Kernel]:
        return for_batches(self.program), for_batches(self.reference)

    def states(self, k: int, n_states: int) -> States:
        """States of a slice; its random numbers are its own."""
        # Of the seed and the slice's number alone, so that workers share no generator.
        rng = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(k,)))
        return self.profile.sample(min(STATES_PER_SLICE, n_states - k * STATES_PER_SLICE), rng)

    def errors(self, states: States) -> Array:
        """(N,) relative errors."""
        return relative_errors(*self.kernels, function_states(self.subject, self.program, states), self.joints)


def _counted(comparison: _Comparison, first: int, last: int, n_states: int) -> _Errors:
    """A task: errors of some slices."""
    found = _Errors()
    for k in range(first, last):
        found.add(comparison.errors(comparison.states(k, n_states)), comparison.tolerance, k)
    return found


def _comparison(
    given: Program | Reduction,
    robot: Robot | None,
    profile: Profile | Literal["slow", "fast"] | None,
    tolerance: float | None,
    reference: Program | None,
    seed: int,
) -> _Comparison:
    reduction = given if isinstance(given, Reduction) else None
    program = given if isinstance(given, Program) else given.program
    robot = robot or (None if reduction is None else reduction.robot)
    if robot is None:
        raise ModelError("robot: a program does not hold the robot it was made of; give it too")
    # Before a reference is made, which takes seconds.
    _check_inputs(program)
    profile = profile or (None if reduction is None else reduction.profile) or "slow"
    lying = profile.suited(robot) if isinstance(profile, Profile) else Profile.within(robot, profile)
    # Loops may not close outside of the limits, and torques there mean nothing.
    lying.check_limits(robot)
    if lying.recorded is not None:
        raise ModelError(
            f"{lying.name}: recorded states are few, and reductions compare all of them; give ranges, such as "
            "Profile.within(robot), to draw fresh ones"
        )
    subject, described = Subject.of(robot), f"{program.name} that was given"
    if reference is None:
        reference, described = textbook_program(robot, program.name), f"textbook {program.name}, compiled"
        if reduction is not None:
            _check_robot(reduction, reference, subject, lying)
    # A program that leaves nothing out differs by rounding alone.
    within = tolerance if tolerance is not None else EXACT_TOLERANCE if reduction is None else reduction.tolerance
    joints = None
    if reduction is not None and reduction.joint_tolerances is not None:
        # The half that the reduction was not made on, as its own verification does.
        unseen = lying.halves()[1]
        joints = joint_weights(joint_sizes(subject, reduction.exact, unseen), np.array(reduction.joint_tolerances))
    return _Comparison(subject, program, reference, described, lying, within, joints, seed)


def textbook_program(robot: Robot, function: str) -> Program:
    """The usual algorithm of a function as it stands, its compiled code compared with the textbook function."""
    plain = plain_program(robot, FUNCTIONS[function])
    # The compiled code itself is judged, as it is what others are compared with.
    checked = certified(plain, FUNCTIONS[function], problem_of(robot), run=for_batches(plain))
    return replace(plain, certificate=checked.certificate)


def _check_inputs(program: Program) -> None:
    known = (*VECTORS, "tau")
    strange = [port.name for port in program.inputs if port.name not in known]
    if program.name not in FUNCTIONS or strange or program.setup is not None:
        raise ModelError(
            f"{program.name} of {program.robot}: programs of q, qd, qdd, tau and temperature alone can be verified; "
            f"this one takes {'parameters at run time' if program.setup is not None else ', '.join(strange)}"
        )


def _check_robot(reduction: Reduction, reference: Program, subject: Subject, profile: Profile) -> None:
    """Refuse a closed form with fixed joints or terms left out: no robot's textbook functions are its truth."""
    states = function_states(subject, reference, profile.sample(STATES_PER_SLICE, np.random.default_rng(0)))
    # The median: single states near zero torque have large relative errors in any program.
    errors = relative_errors(for_batches(reduction.exact), for_batches(reference), states, None)
    if float(np.median(errors)) > EXACT_TOLERANCE:
        raise ModelError(
            f"{reduction.robot.name}: the closed form that was reduced has fixed joints or terms left out, so that no "
            "textbook function is its truth; give reference=reduction.exact"
        )
