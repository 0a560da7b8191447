"""Cases of a sweep: a plain run takes representatives, `make nightly` all of them."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product
from typing import Any

import pytest


def representatives(cases: Iterable[Any], *kept: Any) -> list[Any]:
    """All cases for `parametrize`; those that are not kept wait for the night."""
    listed = list(cases)
    assert set(kept) <= set(listed), "a representative is one of the cases"
    return [case if case in kept else pytest.param(case, marks=pytest.mark.nightly) for case in listed]


def in_turns(*factors: Iterable[Any]) -> list[Any]:
    """All combinations for `parametrize`; a plain run takes each value of each factor once, the others wait."""
    values = [list(factor) for factor in factors]
    count = max(map(len, values))
    kept = {tuple(k % len(factor) for factor in values) for k in range(count)}
    places = product(*(range(len(factor)) for factor in values))
    return [
        pytest.param(
            *(factor[k] for factor, k in zip(values, place, strict=True)),
            marks=() if place in kept else pytest.mark.nightly,
        )
        for place in places
    ]
