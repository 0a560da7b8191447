"""Accuracy against complexity of a closed form: terms left out by contribution.  [Lloyd2021, Figure 7]"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tauform.arrays import Array
from tauform.closedform.bound import BoundModel
from tauform.closedform.contribution import contributions
from tauform.closedform.profile import Profile
from tauform.closedform.reduction import relative_error, with_terms

CONFIDENCES = (0.95, 0.999)
N_POINTS, LEAST_TERMS = 12, 4
# States of the contributions, of the refit, and of the error; enough for a curve, fewer than a promise needs.
CONTRIBUTION_STATES, FIT_STATES, ERROR_STATES = 500, 200, 2000


@dataclass(frozen=True, eq=False)
class Tradeoff:
    """Errors of closed forms with fewer and fewer terms.

    Attributes:
        n_terms: (k,) terms that are left.
        errors: (2, k) relative torque error that CONFIDENCES of the states stay below.
        total: terms of the whole model.
        profile: where the states come from.
    """

    n_terms: Array
    errors: Array
    total: int
    profile: str


def tradeoff(bound: BoundModel, profile: Profile) -> Tradeoff:
    """Leave out terms by their mean contribution, refit theta, and measure the error, on a logarithmic grid."""
    rng = np.random.default_rng(0)
    order = np.argsort(-contributions(bound, profile, CONTRIBUTION_STATES, rng).mean, kind="stable")
    fit, check = profile.sample(FIT_STATES, rng), profile.sample(ERROR_STATES, rng)
    exact = bound.inverse_dynamics(*check)
    # The whole model has no error, which a logarithmic axis cannot show.
    counts = np.unique(np.geomspace(min(LEAST_TERMS, bound.n_terms), bound.n_terms, N_POINTS + 1).astype(int))[:-1]
    left, errors = [], []
    for count in counts:
        kept = np.zeros(bound.n_terms, dtype=bool)
        kept[order[:count]] = True
        smaller = with_terms(bound, kept, fit)
        torques = smaller.inverse_dynamics(*check)
        left.append(smaller.n_terms)
        errors.append([relative_error(torques, exact, confidence) for confidence in CONFIDENCES])
    return Tradeoff(np.array(left), np.array(errors).reshape(-1, len(CONFIDENCES)).T, bound.n_terms, profile.name)
