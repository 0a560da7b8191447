"""Columns of long batches, which are compiled, against those of short ones."""

from __future__ import annotations

import itertools

import numpy as np

from identification.arms import arm
from tauform.identification.regression.design import KERNEL_STATES, Design


def test_compiled_columns_of_a_robot_with_friction_are_the_plain_ones() -> None:
    design = Design.of(arm())
    n = KERNEL_STATES + 100
    states = np.random.default_rng(0).normal(size=(3, n, design.robot.n_joints))
    edges = np.linspace(0, n, 5).astype(int)
    plain = np.concatenate([design.columns(*states[:, a:b]) for a, b in itertools.pairwise(edges)])
    np.testing.assert_allclose(design.columns(*states), plain, rtol=0, atol=1e-12)
    # A short piece of a long whole is compiled as well.
    np.testing.assert_allclose(design.columns(*states[:, :50], total=n), plain[:50], rtol=0, atol=1e-12)
