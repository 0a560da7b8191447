"""Settings of the tests of verbs."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def programs_of_this_run(kept_programs: None) -> None:
    """Verbs are run many times with the same small robots."""
