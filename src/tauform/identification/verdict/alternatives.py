"""Free, reduced, ridge or physical: held-out blocks choose where a motion is too short for free values.

Free values are best where the motion shows all of them. Where it does not, they follow noise, and the error on held-out
blocks is well above that of the fit; physically consistent links, values near the description, or fewer values then
predict better.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from tauform.errors import IdentificationError, MissingExtraError
from tauform.identification.fitted.model import FittedModel
from tauform.wording import argument

AnyFit = TypeVar("AnyFit", bound=FittedModel)

# Errors on held-out blocks beyond so many times those of the fit ask for another estimate.
LEAST_OVERFIT = 1.3
# Fits that leave more of their own rows lack something else than motion.
MAX_RESIDUAL = 0.1
# Another estimate is taken where it leaves less than this share of the free one's error; what is left out of a reduced
# fit was chosen on all blocks, so that a little less is no proof.
MAX_SHARE = 0.8
PHYSICAL, REDUCED, RIDGE = "physical", "reduced", "ridge"


def better_on_held_out(fit: AnyFit, others: dict[str, Callable[[], AnyFit]]) -> AnyFit:
    """The first estimate that predicts held-out blocks clearly better than free values, with a finding; else these.

    Physical links come first: where other motions differ more from the recorded one than its blocks do from each other,
    they hold, and fewer values do not.

    Args:
        fit: of free values.
        others: name -> makes another fit, in the order of trial; one that cannot be made is passed over.
    """
    # A large residual means another fault, such as a wrong unit, which fewer values would only hide.
    if fit.held_out.total < LEAST_OVERFIT * fit.residuals.total or fit.residuals.total > MAX_RESIDUAL:
        return fit
    told, is_physical_tried = [f"free {100 * fit.held_out.total:.3g} %"], False
    for name, make in others.items():
        if name == RIDGE and is_physical_tried:  # that knows the description too, in a third of the time
            continue
        try:
            other = make()
        except (IdentificationError, MissingExtraError):
            continue
        told.append(f"{name} {100 * other.held_out.total:.3g} %")
        if other.held_out.total < MAX_SHARE * fit.held_out.total:
            return other.with_findings(
                f"held-out blocks chose {name} values ({', '.join(told)}); {argument('method', 'weighted')} keeps the "
                "free ones"
            )
        is_physical_tried |= name == PHYSICAL
    return fit
