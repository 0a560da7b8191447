"""The fewest terms of a closed form that keep a tolerance, by mean contribution.  [Lloyd2021, section 4.3]"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tauform.arrays import Array
from tauform.closedform.model.bound import BoundModel
from tauform.closedform.model.equations import term_kinds
from tauform.closedform.profile import Profile, States
from tauform.closedform.reduction.contribution import ranked_terms
from tauform.closedform.reduction.reduction import (
    ACCELERATION,
    CONTRIBUTION_STATES,
    FIT_STATES,
    Completed,
    Refit,
    load_gain,
    relative_error,
    relative_errors,
    with_terms,
)
from tauform.messages import Progress
from tauform.portable.factorization import definite_solved

# States for the error while the number of terms is searched.
ERROR_STATES = 4000
# Of these, the hardest, tried first: reductions that leave out too much fail there already.
FIRST_STATES = 500


@dataclass(frozen=True, eq=False)
class TermReduction:
    """A closed form with few terms.

    Attributes:
        bound: the reduced model; its `model` and `base` hold the terms and parameters that are left.
        error: relative error that the given share of states stays below.
        is_least: the error is that or larger, from some of the states: enough to refuse it, not to take it.
    """

    bound: BoundModel
    error: float
    is_least: bool = False


@dataclass(frozen=True, eq=False)
class TermSearch:
    """Closed forms with few terms, each made and measured once, whatever tolerances are asked for.

    Attributes:
        order: (p,) terms of the full model, those that contribute most first.
        check: states at which errors are measured.
        function: "inverse_dynamics", or "forward_dynamics", which divide by the mass matrix, so that all acceleration
            terms stay and theta as it is.
        confidence: share of the profile's states for which a tolerance must hold.
        joints: (n,) weights of the joints' errors, in place of the torque's norm.
    """

    bound: BoundModel
    order: NDArray[np.int64]
    refit: Refit
    check: States
    function: str
    confidence: float
    joints: Array | None
    progress: Progress | None = None
    _made: dict[tuple[int, bool, Completed | None], TermReduction] = field(default_factory=dict)
    # The states by their errors in a reduction that was measured at all of them, the largest first.
    _hardest: list[NDArray[np.int64]] = field(default_factory=list)

    @classmethod
    def over(
        cls,
        bound: BoundModel,
        profile: Profile,
        confidence: float,
        rng: np.random.Generator,
        *,
        function: str = "inverse_dynamics",
        joints: Array | None = None,
        progress: Progress | None = None,
    ) -> TermSearch:
        """Search over the states of a profile."""
        order = ranked_terms(bound, profile, CONTRIBUTION_STATES, rng)
        # Other states for the error than for the fit: theta could hide it on its own.
        fit, check = profile.sample(FIT_STATES, rng), profile.sample(ERROR_STATES, rng)
        return cls(bound, order, Refit.at(bound, fit, joints), check, function, confidence, joints, progress)

    def fewest(
        self, tolerance: float, *, keep_inertia: bool = False, completed: Completed | None = None
    ) -> TermReduction:
        """The fewest terms that keep the error within a tolerance, found by halving on a logarithmic scale.

        Args:
            tolerance: of the relative error of the torque's norm, or of the acceleration's for forward dynamics.
            keep_inertia: leave the mass matrix as it is for inverse dynamics too.
            completed: adds entries that stay with those kept, as in `with_terms`.
        """
        while True:
            n_kept = self._halved(tolerance, keep_inertia, completed)
            found = self._reduced(n_kept, keep_inertia, completed)
            # A few states decided on the way; where all of them refuse the last, its error is known from now on.
            if found.error <= tolerance or n_kept == self.bound.n_terms:
                return found

    def _halved(self, tolerance: float, keep_inertia: bool, completed: Completed | None) -> int:
        """The fewest terms that the states tried first allow, or those tried before."""
        # Rounding alone has an error: nothing can go where none is allowed.
        few, many = 0 if tolerance > 0 else self.bound.n_terms, self.bound.n_terms
        # Within 2 %: the error is not quite monotonous, so that a sharper search would follow noise.
        while many - few > max(1, few // 50):
            # Geometric: whether ten or a hundred terms are enough matters as much as a hundred or a thousand.
            middle = max(few + 1, int(np.sqrt(max(few, 1) * many)))
            error = self._reduced(middle, keep_inertia, completed, tolerance).error
            few, many = (few, middle) if error <= tolerance else (middle, many)
        return many

    def _reduced(
        self, n_kept: int, keep_inertia: bool, completed: Completed | None, tolerance: float | None = None
    ) -> TermReduction:
        """Reduction to so many terms; where a tolerance is given, its error may be a lower bound, from some states."""
        key = (n_kept, keep_inertia, completed)
        made = self._made.get(key)
        if made is None or (made.is_least and tolerance is None):
            if self.progress is not None:
                self.progress(f"leaving out terms: {n_kept} of {self.bound.n_terms} left")
            smaller = made.bound if made else self._smaller(n_kept, keep_inertia or self._M is not None, completed)
            made = self._made[key] = self._measured(smaller, tolerance)
        return made

    def _smaller(self, n_kept: int, keep_inertia: bool, completed: Completed | None) -> BoundModel:
        kept = np.zeros(self.bound.n_terms, dtype=bool)
        kept[self.order[:n_kept]] = True
        # Forward dynamics divide by the mass matrix: leaving entries out could make it singular.
        if keep_inertia:
            kept |= term_kinds(self.bound.exponents) == ACCELERATION
        # A refit would move entries of the mass matrix too.
        return with_terms(self.bound, kept, None if keep_inertia else self.refit, completed)

    def _measured(self, smaller: BoundModel, tolerance: float | None) -> TermReduction:
        if self._M is None:
            return self._by_torques(smaller, tolerance)
        found = smaller.textbook.inverse_dynamics(*self.check)
        # what the missing torque does to the accelerations
        moving = list(self.bound.moving)
        # M dqdd = missing torque, of which load friction takes its part.
        missed = definite_solved(self._M, ((self._exact - found) / self._gain)[:, moving, None])[..., 0]
        accelerations = self.check[2][:, moving]
        return TermReduction(smaller, relative_error(accelerations + missed, accelerations, self.confidence))

    def _by_torques(self, smaller: BoundModel, tolerance: float | None) -> TermReduction:
        """The error over all states, or from the first few: where these decide, or others showed which are hardest."""
        if tolerance is not None:
            order = self._hardest[-1] if self._hardest else np.arange(len(self._exact))
            errors = self._errors(smaller, order[:FIRST_STATES])
            # np.quantile lies at least at this place of the sorted errors
            n_failures = len(self._exact) - int(self.confidence * (len(self._exact) - 1))
            largest = np.sort(errors)[-n_failures:]
            if len(largest) == n_failures and (largest[0] > tolerance or self._hardest):
                return TermReduction(smaller, float(largest[0]), is_least=True)
        errors = self._errors(smaller, slice(None))
        # Stable: states of equal error keep their order on every machine.
        self._hardest.append(np.argsort(-errors, kind="stable"))
        return TermReduction(smaller, float(np.quantile(errors, self.confidence)))

    def _errors(self, smaller: BoundModel, states: NDArray[np.int64] | slice) -> Array:
        found = smaller.textbook.inverse_dynamics(*(x[states] for x in self.check))
        return relative_errors(found, self._exact[states], self.joints)

    @cached_property
    def _exact(self) -> Array:
        return self.bound.textbook.inverse_dynamics(*self.check)

    @cached_property
    def _gain(self) -> Array:
        """Factor of load friction by which a torque is more than what links and rotors take of it."""
        return load_gain(self.bound, self.check)

    @cached_property
    def _M(self) -> Array | None:
        """Mass matrices of the moving joints, which forward dynamics divide by."""
        if self.function != "forward_dynamics":
            return None
        moving = list(self.bound.moving)
        matrices: Array = self.bound.textbook.mass_matrix(self.check[0])[:, moving][..., moving]
        return matrices
