"""A studio and a browser that tests of its tabs share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tools.browser import chromium, studio


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with studio("two_link") as found:
        yield found


@pytest.fixture(scope="module")
def running() -> Iterator[Any]:
    with chromium() as found:
        yield found


@pytest.fixture
def browser(running: Any) -> Iterator[Any]:
    """The browser; pages that a test opened do not go on drawing beside the next."""
    yield running
    for context in list(running.contexts):
        context.close()
