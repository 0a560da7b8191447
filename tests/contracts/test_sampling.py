"""Samples of sweeps: a plain run leaves out combinations, never a value; the night leaves out nothing."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from sampling import in_turns, representatives


def plain(cases: list[Any]) -> list[Any]:
    """What a plain run takes."""
    return [case for case in cases if not getattr(case, "marks", ())]


@pytest.mark.parametrize("factors", [("ab", "xyz"), ("abcd", "xy", "pqr"), ("ab", "xy")], ids=str)
def test_every_value_is_taken_and_every_combination_waits(factors: tuple[str, ...]) -> None:
    cases = in_turns(*factors)
    assert {case.values for case in cases} == set(product(*factors))
    taken = plain(cases)
    assert len(taken) == max(map(len, factors))
    assert [set(values) for values in zip(*(case.values for case in taken), strict=True)] == [*map(set, factors)]


def test_representatives_are_taken_and_the_others_wait() -> None:
    cases = representatives("abc", "b")
    assert plain(cases) == ["b"]
    assert len(cases) == 3
    with pytest.raises(AssertionError, match="one of the cases"):
        representatives("abc", "d")
