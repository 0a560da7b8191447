"""What almost aligned frames cost, as the page of mistakes says it."""

from __future__ import annotations

from pathlib import Path

import pytest

import tauform as tf
from real_robots import urdf


@pytest.mark.parametrize("name", ["xarm7", "kinova"])
def test_operations_with_and_without_snapping_are_those_of_the_page(name: str, repository: Path) -> None:
    there, straight = (tf.generate(tf.load(urdf(name), snap=snap)).n_operations for snap in (None, 1e-5))
    assert f"{there} instead of {straight}" in (repository / "docs" / "mistakes.md").read_text()
