"""Old import paths of documented names lead to the same objects as the new ones."""

from __future__ import annotations

from importlib import import_module

import pytest

import tauform  # noqa: F401  (teaches the import system the old paths)
from tauform.moved import MOVED


@pytest.mark.parametrize("old", MOVED)
def test_an_old_path_gives_the_module_of_today(old: str) -> None:
    assert old != MOVED[old]
    module = import_module(MOVED[old])
    assert import_module(old) is module
    assert module.__name__ == MOVED[old]
    assert module.__spec__ is not None
    assert module.__spec__.name == MOVED[old]
