"""Tiers: which of three ways computes a function, and who may choose.

1. the textbook algorithm in NumPy;
2. a plain kernel: traced without a search, compiled in parts of a second;
3. the searched kernel that `tf.compile` makes.
"""

from __future__ import annotations

import os
from typing import Any

from tauform.arguments import Tier as Tier
from tauform.errors import ArgumentError

VARIABLE = "TAUFORM_TIER"
CHOICES = "choose 1 (NumPy), 2 (compiled) or 3 (searched and compiled)"


def forced_tier(function: str, tier: Any) -> Tier | None:
    """The tier that the argument or else the environment demands; None leaves the choice to the work done.

    Raises:
        ArgumentError: there is no such tier.
    """
    if tier is not None:
        # True equals 1 in Python, and is no tier.
        if isinstance(tier, bool) or tier not in (1, 2, 3):
            raise ArgumentError(f"{function}: no tier {tier!r:.60}", argument="tier", value=tier, remedy=CHOICES)
        chosen: Tier = tier
        return chosen
    # Read at each call: it may change while the process runs.
    text = os.environ.get(VARIABLE, "")
    if text in ("", "auto"):
        return None
    if text not in ("1", "2", "3"):
        raise ArgumentError(f"{VARIABLE}: no tier {text!r:.60}", argument=VARIABLE, value=text, remedy=CHOICES)
    return {"1": 1, "2": 2, "3": 3}[text]  # type: ignore[return-value]
