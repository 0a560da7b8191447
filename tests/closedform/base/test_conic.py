"""Programs over cones, beside what linear algebra says of their solutions."""

from __future__ import annotations

import numpy as np
import pytest

from tauform.closedform.base.conic import Condition, least

pytest.importorskip("clarabel")


def test_the_nearest_semidefinite_matrix_has_no_negative_eigenvalues_and_the_others_as_they_were() -> None:
    """Unknowns are the six entries of a change; squares of off-diagonal ones count twice (Higham 1988)."""
    rng = np.random.default_rng(0)
    given = rng.normal(size=(3, 3))
    given += given.T
    entries = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)]
    A = np.zeros((9, 6))
    for k, (i, j) in enumerate(entries):
        A[3 * i + j, k] = A[3 * j + i, k] = 1.0
    found = least(np.array([1.0 + (i != j) for i, j in entries]), [Condition("semidefinite", A, given.ravel())])
    assert found is not None
    assert found.is_accurate
    values, vectors = np.linalg.eigh(given)
    assert values[0] < 0
    clipped = vectors @ np.diag(np.maximum(values, 0.0)) @ vectors.T
    np.testing.assert_allclose(given.ravel() + A @ found.z, clipped.ravel(), rtol=0, atol=1e-6)


def test_the_point_of_a_ball_nearest_to_the_origin_lies_towards_it() -> None:
    centre = np.array([3.0, 4.0])
    ball = Condition("second order", np.vstack([np.zeros(2), np.eye(2)]), np.array([1.0, *-centre]))
    found = least(np.ones(2), [ball])
    assert found is not None
    np.testing.assert_allclose(found.z, 0.8 * centre, rtol=0, atol=1e-6)


def test_unknowns_beyond_the_columns_of_a_condition_take_no_part_in_it() -> None:
    first = Condition("zero", np.eye(1), np.array([-2.0]))
    other = Condition("nonnegative", np.array([[0.0, 1.0]]), np.array([-3.0]))
    found = least(np.zeros(2), [first, other], slope=np.ones(2))
    assert found is not None
    np.testing.assert_allclose(found.z, [2.0, 3.0], rtol=0, atol=1e-6)


def test_conditions_that_nothing_meets_have_no_solution() -> None:
    bounds = Condition("nonnegative", np.array([[1.0], [-1.0]]), np.array([-2.0, 1.0]))
    assert least(np.ones(1), [bounds]) is None
