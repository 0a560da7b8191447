"""Methods of the mass matrix agree, and the one that is taken is the quicker one."""

from __future__ import annotations

import numpy as np
import pytest

import tauform as tf
from random_robots import random_states, random_tree


@pytest.mark.parametrize("n", [5, 30, 100])
def test_gdahj_equals_crba(n):
    robot = random_tree(n, seed=n, chain=True)
    q = random_states(robot, 2, seed=13, n_vectors=1)[0]
    crba, gdahj = tf.mass_matrix(robot, q), tf.mass_matrix(robot, q, method="gdahj")
    # Safeea2018, Eq. 32
    error = np.abs(gdahj - crba).sum(axis=(-1, -2)) / np.abs((gdahj + crba) / 2).max(axis=(-1, -2))
    assert error.max() <= 1e-10


def test_auto_takes_gdahj_for_many_joints():
    for n in (16, 17):
        robot = random_tree(n, seed=n, chain=True)
        q = random_states(robot, 1, seed=2)[0]
        chosen = tf.mass_matrix(robot, q, method="gdahj" if n == 17 else "crba")
        np.testing.assert_array_equal(tf.mass_matrix(robot, q), chosen)
        np.testing.assert_allclose(chosen, tf.mass_matrix(robot, q, method="crba"), rtol=0, atol=1e-12 * chosen.max())
