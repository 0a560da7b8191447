"""Gautier1991 Table II and Eq. 25: what decides the rank, and the solutions with the same torques."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tauform as tf
from closedform.base.test_base_tables import ALONE, REGROUPED
from tauform.closedform.base.relations.relations import gautier_name
from tauform.errors import ModelError, ShapeError, UnknownNameError


@pytest.fixture(scope="module")
def puma() -> tf.Robot:
    return tf.load("puma560_gautier")


@pytest.mark.parametrize(("source", "scaled"), [("energy", False), ("energy", True), ("dynamic", True)])
def test_table_2(puma: tf.Robot, source: str, scaled: bool) -> None:
    base = tf.base_parameters(puma, source=source)
    found = base.spectrum(scaled)
    names = [gautier_name(base.layout.parameter(name)) for name in found.names]
    assert (len(names), found.rank) == (55, 40)
    # two groups, and nothing near the threshold between them
    for sizes in (found.T, found.sigma):
        assert sizes[39] > 1e6 * sizes[40]
        assert (np.diff(sizes) <= 1e-12 * sizes[0]).all()
    assert {name for name, size in zip(names, found.R, strict=True) if size < found.threshold} == set(REGROUPED.split())
    assert {name for name, size in zip(names, found.V2, strict=True) if size < 1e-9} == set(ALONE.split())
    assert found.sigma[0] >= found.T[0]  # the largest column is no longer than the largest image of a unit vector
    assert 1 < found.S < 1e14
    assert str(found).splitlines()[1].split()[-1] == "Izz_1"
    assert str(found).endswith(f"rank 40, S {found.S:.1e}")


def test_every_solution_has_the_same_torques(puma: tf.Robot) -> None:
    base = tf.base_parameters(puma)
    theta, motion = base.values(puma), np.random.default_rng(0).normal(size=(3, 4, 6))
    exact = tf.inverse_dynamics(puma, *motion)
    plain, shortest = base.standard(theta), base.standard(theta, "minimum_norm")
    general = plain + base.null_space @ np.random.default_rng(1).normal(size=base.null_space.shape[1])
    Y = tf.regressor(puma, *motion)
    for parameters in (plain, shortest, general):
        np.testing.assert_allclose(Y @ parameters, exact, rtol=0, atol=1e-11 * np.abs(exact).max())
        np.testing.assert_allclose(base.values(parameters), theta, rtol=0, atol=1e-12)
    assert np.count_nonzero(plain) <= base.n
    assert np.linalg.norm(shortest) < min(np.linalg.norm(plain), np.linalg.norm(general))
    # the shortest has no part in the null space
    np.testing.assert_allclose(base.null_space.T @ shortest, 0, atol=1e-12)
    assert base.null_space.shape == (puma.layout.n, 66 - 40)


def test_bad_input_is_one_sentence(puma: tf.Robot) -> None:
    base = tf.base_parameters(puma)
    with pytest.raises(UnknownNameError, match="choice: no 'shortest'"):
        base.standard(base.values(puma), "shortest")  # type: ignore[arg-type]
    with pytest.raises(ShapeError, match="theta: expected"):
        base.standard(np.zeros(3))
    with pytest.raises(ModelError, match="holds no geometry"):
        replace(base, robot=None).spectrum()
