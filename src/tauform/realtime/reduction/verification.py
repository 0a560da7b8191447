"""Verification of a reduced program on states that were not used to make it, through compiled kernels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tauform.arrays import Array
from tauform.closedform.profile import Profile, States
from tauform.closedform.reduction.streaming import ErrorCounts, over_states
from tauform.codegen.program.program import Program
from tauform.codegen.pruning.prune import weighed
from tauform.codegen.runtime.kernel import Kernel, compile_program
from tauform.errors import ModelError
from tauform.realtime.reduction.guards import is_definite, is_sound, result_weights
from tauform.realtime.reduction.subject import Subject, function_states

# Standard deviations of the count to spare with which the guarantee must hold, so that it holds on other states too.
DEVIATIONS_TO_SPARE = 2.5
# With this many too much, a part of the states is enough to refuse.
DEVIATIONS_TO_REFUSE = 5.0
GUARD_STATES = 10_000
# So many states of ranges show whether a function is anything but zero.
FEW_STATES = 1000


@dataclass(frozen=True)
class Verification:
    """Verification on states that were not used to make a program.

    Attributes:
        n_states: how many they were; fewer than asked for where the outcome was clear before.
        error: relative error that the given share of them stays below.
        share: of the states within the tolerance.
        holds: whether the guarantee holds with something to spare.
        definite: whether the mass matrix in it is positive definite over the profile; None for a function without.
    """

    n_states: int
    error: float
    share: float
    holds: bool
    definite: bool | None = None


@dataclass(frozen=True, eq=False)
class Verifier:
    """Compares programs with the exact one.

    Attributes:
        unseen: states that no program was fitted to: fresh ones of ranges, held-out blocks of a recording.
        whole: a recording with all its states, on which the guarantee must hold too; None for ranges.
        n_states: fresh states to take of ranges.
        definite: whether the mass matrix in a program must be positive definite.
        joints: (n,) weights of the joints' errors, where each has a tolerance of its own; None for the vector's norm.
    """

    exact: Program
    subject: Subject
    unseen: Profile
    whole: Profile | None
    tolerance: float
    confidence: float
    n_states: int
    rng: np.random.Generator
    definite: bool = False
    threads: int = 1
    joints: Array | None = None

    @cached_property
    def _kernel(self) -> Kernel:
        return for_batches(self.exact)

    def joint_errors(self, program: Program, sizes: Array) -> tuple[float, ...]:
        """Error of each joint at the confidence, relative to the size of that joint's own results."""
        states = self._guarded
        missed = np.abs(for_batches(program)(*states) - self._kernel(*states)) / sizes
        return tuple(np.quantile(missed, self.confidence, axis=0).tolist())

    def exactly(self) -> Verification:
        """Error of the exact program."""
        n_states = self.n_states if self.unseen.recorded is None else self.unseen.recorded.shape[1]
        return Verification(n_states, 0.0, 1.0, True, self._definite(self._kernel))

    def __call__(self, program: Program) -> Verification:
        """Errors on the unseen states, and for a recording on all of it."""
        kernels = for_batches(program), self._kernel
        definite = self._definite(kernels[0])
        sound = is_sound(program, self.exact.name, self._guarded, definite, self.definite)
        n_done, error, n_failed, holds = self._counted(self.unseen, *kernels)
        if self.whole is not None and holds:
            # A held-out half may be easier than the rest of a recording.
            holds = self._counted(self.whole, *kernels)[-1]
        return Verification(n_done, error, 1 - n_failed / n_done, sound and holds, definite)

    def _counted(self, profile: Profile, kernel: Kernel, exact: Kernel) -> tuple[int, float, int, bool]:
        """States done, the error at the confidence, states beyond the tolerance, and whether the guarantee holds."""
        fresh = profile.recorded is None
        counts, n_failed, allowed = ErrorCounts(), 0, 0.0

        def errors(states: States) -> Array:
            return relative_errors(kernel, exact, function_states(self.subject, self.exact, states), self.joints)

        for found in over_states(errors, profile, self.n_states, self.rng, self.threads, in_order=True):
            counts.add(found)
            n_failed += int((found > self.tolerance).sum())
            allowed = (1 - self.confidence) * counts.n_states
            if fresh and n_failed > allowed + DEVIATIONS_TO_REFUSE * np.sqrt(allowed):
                break  # more states would not save it
        # recorded states hang together, so their number says nothing about chance
        spare = DEVIATIONS_TO_SPARE * np.sqrt(allowed) if fresh else 0.0
        # A binomial count: its deviation is about sqrt(allowed), which must be to spare.
        holds = n_failed <= max(allowed - spare, 0.0)
        return counts.n_states, counts.quantile(self.confidence), n_failed, bool(holds)

    @cached_property
    def _guarded(self) -> list[Array]:
        # The same states for every program: verdicts on definiteness can be compared.
        states = self.unseen.sample(GUARD_STATES, np.random.default_rng(0))
        return function_states(self.subject, self.exact, states)

    def _definite(self, kernel: Kernel) -> bool | None:
        return is_definite(kernel, self.exact.name, self._guarded, self.subject.moving)


def for_batches(program: Program) -> Kernel:
    """The program compiled for many states: no verification asks for one alone."""
    return compile_program(program, single=False)


def refuse_nothing(subject: Subject, exact: Program, profile: Profile) -> None:
    """Refuse states at which a function is zero throughout: no error is relative to that.

    Raises:
        ModelError: the message says what would help.
    """
    forward = exact.name == "forward_dynamics"

    def is_something(states: States) -> bool:
        if forward:  # the accelerations of the states; computed back from torques they would be rounding
            return bool(states[2][:, list(subject.moving)].any())
        return bool(_flat(exact(*function_states(subject, exact, states)), len(states[0])).any())

    if not any(over_states(is_something, profile, FEW_STATES, np.random.default_rng(0), in_order=True)):
        remedy = "let it accelerate" if forward else "let it move, or give the robot gravity"
        raise ModelError(
            f"{profile.name}: {exact.name} of {subject.robot.name} is zero at all states that programs would be fitted "
            f"to or verified on, so no error is relative to anything; {remedy}"
        )


def relative_errors(kernel: Kernel, exact: Kernel, states: list[Array], joints: Array | None) -> Array:
    """(N,) errors of a kernel at states, relative to what the exact one gives there."""
    expected = _flat(exact(*states), len(states[0]))
    found = _flat(kernel(*states), len(states[0]))
    return weighed(found, expected, result_weights(exact.program.name, expected, joints))


def _flat(outputs: Array | tuple[Array, ...], n_states: int) -> Array:
    listed = outputs if isinstance(outputs, tuple) else (outputs,)
    return np.concatenate([array.reshape(n_states, -1) for array in listed], axis=1)
