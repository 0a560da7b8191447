"""keep_terms: a closed form with a stated number of its terms."""

from __future__ import annotations

from tauform.closedform.model.bound import BoundModel
from tauform.closedform.profile import Profile
from tauform.closedform.reduction.contribution import Speed
from tauform.closedform.reduction.reduction import largest_terms
from tauform.codegen.factored.factored import companions
from tauform.codegen.factored.model_program import cheapest_factored


def keep_terms(
    bound: BoundModel,
    n_terms: int,
    profile: Profile | Speed | None = None,
    refit: bool = True,
    seed: int = 0,
    whole_sums: bool | None = None,
) -> BoundModel:
    """The model with the terms that contribute most; see `BoundModel.with_terms`.

    Raises:
        ModelError: a number of terms that the model does not have.
    """
    # Which sums are shared is a matter of the program, which closed forms know nothing of.
    kinds = (False, True) if whole_sums is None else (whole_sums,)
    found = [largest_terms(bound, n_terms, profile, refit, seed, companions(bound) if kind else None) for kind in kinds]
    # Terms that go one by one break up what factors together: whichever model is cheaper to compute.
    return found[0] if len(found) == 1 else cheapest_factored(found, "inverse_dynamics")[0]
