"""All pairs: few cases in which every two values of different factors meet, in place of the full product."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product
from typing import Any


def all_pairs(*factors: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Cases chosen one by one, each with the most pairs that have not met; of equals the first."""
    places = list(combinations(range(len(factors)), 2))
    cases = [(case, {(i, j, case[i], case[j]) for i, j in places}) for case in product(*factors)]
    missing = set().union(*(pairs for _, pairs in cases))
    chosen = []
    while missing:
        case, pairs = max(cases, key=lambda own: len(own[1] & missing))
        chosen.append(case)
        missing -= pairs
    return chosen
