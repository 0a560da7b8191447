"""Free, reduced, ridge, physical or robust: held-out blocks choose.

Free values are best where the motion shows all of them and residuals are alike. Where it does not, they follow noise,
and the error on held-out blocks is well above that of the fit; physically consistent links, values near the
description, or fewer values then predict better. Where a few rows leave far more than the others (a push, a cable that
catches, friction that no law has), these bend the values; robust ones count them less. What the choice costs on blocks
that it has not seen is part of the error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from tauform.errors import IdentificationError, MissingExtraError
from tauform.identification.fitted.model import FittedModel
from tauform.identification.regression.choices import cost_of_choice
from tauform.identification.regression.outliers import has_heavy_tails
from tauform.identification.verdict.refit import of_blocks
from tauform.wording import argument

AnyFit = TypeVar("AnyFit", bound=FittedModel)
# The fits that stand beside a free one: name -> makes it, in the order of trial.
Alternatives = Callable[[AnyFit], Mapping[str, Callable[[], AnyFit]]]

# Errors on held-out blocks beyond so many times those of the fit ask for another estimate.
LEAST_OVERFIT = 1.3
# Fits that leave more of their own rows lack something else than motion.
MAX_RESIDUAL = 0.1
# Another estimate is taken where it leaves less than this share of the free one's error: a little less is no proof.
MAX_SHARE = 0.8
# Robust values are of the same freedom; rows that they count less are judged in full.
MAX_SHARE_OF_ROBUST = 0.98
FREE, PHYSICAL, REDUCED, RIDGE, ROBUST = "free", "physical", "reduced", "ridge", "robust"


def better_on_held_out(fit: AnyFit, others: Alternatives[AnyFit]) -> AnyFit:
    """The first estimate that predicts held-out blocks clearly better than free values, with a finding; else these.

    Physical links come first: where other motions differ more from the recorded one than its blocks do from each other,
    they hold, and fewer values do not.

    Args:
        fit: of free values.
        others: one that cannot be made is passed over.
    """
    name, made = _chosen(fit, others)
    if len(made) == 1:
        return fit
    cost = _cost_of_choice(fit, name, others)
    best = replace(made[name], choice_cost=cost * fit.choice_cost, held_out=made[name].held_out.enlarged(cost))
    if name == FREE:
        return best
    told = ", ".join(f"{each} {100 * own.held_out.total:.3g} %" for each, own in made.items())
    return best.with_findings(
        f"held-out blocks chose {name} values ({told}); {argument('method', 'weighted')} keeps the free ones"
    )


def _chosen(fit: AnyFit, others: Alternatives[AnyFit]) -> tuple[str, dict[str, AnyFit]]:
    """The name of the best fit, and all that were made."""
    made = {FREE: fit}
    left = float(fit.evidence.residual_squares(fit.values).sum() / max(fit.evidence.torque_squares.sum(), 1e-300))
    # A large residual means another fault, such as a wrong unit, which fewer values would only hide.
    if np.sqrt(left) > MAX_RESIDUAL:
        return FREE, made
    follows_noise = fit.held_out.total >= LEAST_OVERFIT * np.sqrt(left)
    for name, make in others(fit).items():
        if not (has_heavy_tails(fit.residuals) if name == ROBUST else follows_noise):
            continue
        if name == RIDGE and PHYSICAL in made:  # that knows the description too, in a third of the time
            continue
        try:
            made[name] = make()
        except (IdentificationError, MissingExtraError):
            continue
        most = MAX_SHARE_OF_ROBUST if name == ROBUST else MAX_SHARE
        if made[name].held_out.total < most * fit.held_out.total:
            return name, made
    return FREE, made


def _cost_of_choice(fit: AnyFit, chosen: str, others: Alternatives[AnyFit]) -> float:
    """Growth of errors on blocks that took no part, where those that do choose otherwise; at least one."""
    made: dict[str, AnyFit] = {}

    def choose(blocks: Sequence[int]) -> str:
        made[FREE] = of_blocks(fit, blocks)
        name, own = _chosen(made[FREE], others)
        made.update(own)
        return name

    def squares_left(_: Sequence[int], judging: Sequence[int], name: str) -> float:
        own = made[name] if name in made else others(made[FREE])[name]()
        # All columns, of a fit that may hold some of them.
        values = dict(zip(own.names, own.values.tolist(), strict=True))
        all_values = np.array([values.get(each, 0.0) for each in fit.names])
        return float(fit.evidence.blocks(judging).residual_squares(all_values).sum())

    try:
        return cost_of_choice(fit.evidence.judges(), chosen, choose, squares_left)
    except (IdentificationError, MissingExtraError):  # fewer blocks leave values open: they choose nothing
        return 1.0
