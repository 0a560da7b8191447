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
# Of these, tried first: most reductions that leave out too much fail there already.
FIRST_STATES = 500


@dataclass(frozen=True, eq=False)
class TermReduction:
    """A closed form with few terms.

    Attributes:
        bound: the reduced model; its `model` and `base` hold the terms and parameters that are left.
        error: relative error that the given share of states stays below.
        is_least: the error is that or larger: enough to refuse it.
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
        few, many, best = 0, self.bound.n_terms, None
        # Within 2 %: the error is not quite monotonous, so that a sharper search would follow noise.
        while many - few > max(1, few // 50):
            # Geometric: whether ten or a hundred terms are enough matters as much as a hundred or a thousand.
            middle = max(few + 1, int(np.sqrt(max(few, 1) * many)))
            trial = self._reduced(middle, keep_inertia, completed, tolerance)
            if trial.error <= tolerance:
                many, best = middle, trial
            else:
                few = middle
        return best if best is not None else self._reduced(self.bound.n_terms, keep_inertia, completed)

    def _reduced(
        self, n_kept: int, keep_inertia: bool, completed: Completed | None, tolerance: float = np.inf
    ) -> TermReduction:
        """Reduction to so many terms; an error beyond the tolerance may be a lower bound, from some of the states."""
        key = (n_kept, keep_inertia, completed)
        made = self._made.get(key)
        if made is None or (made.is_least and made.error <= tolerance):
            if self.progress is not None:
                self.progress(f"leaving out terms: {n_kept} of {self.bound.n_terms} left")
            made = self._made[key] = self._measured(n_kept, keep_inertia or self._M is not None, completed, tolerance)
        return made

    def _measured(
        self, n_kept: int, keep_inertia: bool, completed: Completed | None, tolerance: float
    ) -> TermReduction:
        bound = self.bound
        kept = np.zeros(bound.n_terms, dtype=bool)
        kept[self.order[:n_kept]] = True
        # Forward dynamics divide by the mass matrix: leaving entries out could make it singular.
        if keep_inertia:
            kept |= term_kinds(bound.exponents) == ACCELERATION
        # A refit would move entries of the mass matrix too.
        smaller = with_terms(bound, kept, None if keep_inertia else self.refit, completed)
        if self._M is None:
            return self._by_torques(smaller, tolerance)
        found = smaller.textbook.inverse_dynamics(*self.check)
        # what the missing torque does to the accelerations
        moving = list(bound.moving)
        # M dqdd = missing torque, of which load friction takes its part.
        missed = definite_solved(self._M, ((self._exact - found) / self._gain)[:, moving, None])[..., 0]
        accelerations = self.check[2][:, moving]
        return TermReduction(smaller, relative_error(accelerations + missed, accelerations, self.confidence))

    def _by_torques(self, smaller: BoundModel, tolerance: float) -> TermReduction:
        """The error over all states, unless the first few hold as many failures as all may."""
        exact, errors = self._exact, np.empty(0)
        # np.quantile lies at least at this place of the sorted errors
        n_failures = len(exact) - int(self.confidence * (len(exact) - 1))
        for part in (slice(FIRST_STATES), slice(FIRST_STATES, None)):
            found = smaller.textbook.inverse_dynamics(*(x[part] for x in self.check))
            errors = np.append(errors, relative_errors(found, exact[part], self.joints))
            largest = np.sort(errors)[-n_failures:]
            if part.start is None and len(largest) == n_failures and largest[0] > tolerance:
                return TermReduction(smaller, float(largest[0]), is_least=True)
        return TermReduction(smaller, float(np.quantile(errors, self.confidence)))

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
