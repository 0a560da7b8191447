"""Cases of a sweep: a plain run takes representatives, `make nightly` all of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def representatives(cases: Iterable[Any], *kept: Any) -> list[Any]:
    """All cases for `parametrize`; those that are not kept wait for the night."""
    listed = list(cases)
    assert set(kept) <= set(listed), "a representative is one of the cases"
    return [case if case in kept else pytest.param(case, marks=pytest.mark.nightly) for case in listed]
