"""keep_terms: a closed form with a stated number of its terms."""

from __future__ import annotations

from tauform.closedform.model.bound import BoundModel
from tauform.closedform.profile import Profile
from tauform.closedform.reduction.contribution import Speed
from tauform.closedform.reduction.reduction import largest_terms
from tauform.codegen.factored.factored import companions


def keep_terms(
    bound: BoundModel,
    n_terms: int,
    profile: Profile | Speed | None = None,
    refit: bool = True,
    seed: int = 0,
    whole_sums: bool = False,
) -> BoundModel:
    """The model with the terms that contribute most; see `BoundModel.with_terms`.

    Raises:
        ModelError: a number of terms that the model does not have.
    """
    # Which sums are shared is a matter of the program, which closed forms know nothing of.
    return largest_terms(bound, n_terms, profile, refit, seed, companions(bound) if whole_sums else None)
