"""What choices cost on data that has not seen them.

Terms, velocities, the values of a reduced fit and the estimator are chosen by errors on held-out blocks, on all of
them. Errors on the same blocks flatter the choice. So it is repeated without some blocks, and these judge it: where the
others choose otherwise, quoted errors grow by the ratio of what both choices leave there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np

Chosen = TypeVar("Chosen")


def cost_of_choice(
    judges: tuple[Sequence[int], Sequence[int]] | None,
    made: Chosen,
    choose: Callable[[Sequence[int]], Chosen],
    squares_left: Callable[[Sequence[int], Sequence[int], Chosen], float],
) -> float:
    """Growth of errors on blocks that took no part in a choice; at least one, and one where too few are left.

    Args:
        judges: blocks to choose on, and blocks that judge.
        made: what all blocks chose.
        choose: makes the choice on some blocks, and sees nothing else.
        squares_left: what a choice leaves on the judging blocks, with values from those that choose.
    """
    if judges is None:
        return 1.0
    again = choose(judges[0])
    if again == made:
        return 1.0
    before, after = (squares_left(*judges, each) for each in (made, again))
    return float(max(1.0, np.sqrt(after / max(before, 1e-300))))
