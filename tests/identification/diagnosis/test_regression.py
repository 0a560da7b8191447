"""Regressions of hypotheses: shared products and held-out folds agree with plain least squares of all rows."""

from __future__ import annotations

import numpy as np
import pytest

from tauform.arrays import Array
from tauform.identification.diagnosis.regression import N_PASSES, NormalProducts

FOLDS = np.arange(90) * 3 // 90


def columns(k: int, seed: int) -> Array:
    return np.random.default_rng(seed).normal(size=(90, 2, k))


def by_rows(A: Array, tau: Array) -> Array:
    """Weighted least squares of stacked rows, weights of joints from what they leave."""
    left = (tau**2).sum(axis=0)
    for _ in range(N_PASSES):
        w = 1 / np.sqrt(left)
        values: Array = np.linalg.lstsq((A * w[:, None]).reshape(-1, A.shape[-1]), (tau * w).ravel(), rcond=None)[0]
        left = ((tau - A @ values) ** 2).sum(axis=0)
    return values


def test_further_columns_beside_known_ones_are_those_of_all_columns() -> None:
    A, further, tau = columns(4, 0), columns(2, 1), columns(1, 2)[..., 0]
    beside = NormalProducts.of(A, tau, FOLDS).beside(A, further, tau, FOLDS)
    both = np.concatenate([A, further], axis=-1)
    assert beside.values == pytest.approx(by_rows(both, tau), rel=1e-4)
    for k in range(3):
        kept = k != FOLDS
        assert beside.left_out[k] == pytest.approx(by_rows(both[kept], tau[kept]), rel=1e-4)
    assert beside.first(4).values == pytest.approx(by_rows(A, tau), rel=1e-4)


def test_held_out_shares_are_of_rows_that_the_values_have_not_seen() -> None:
    A, tau = columns(4, 0), columns(1, 2)[..., 0]
    left = np.zeros(2)
    for k in range(3):
        own = k == FOLDS
        left += ((tau[own] - A[own] @ by_rows(A[~own], tau[~own])) ** 2).sum(axis=0)
    assert NormalProducts.of(A, tau, FOLDS).held_out == pytest.approx(left / (tau**2).sum(axis=0), rel=1e-4)


def test_a_column_of_one_fold_alone_has_no_value_without_it() -> None:
    A, tau = columns(4, 0), columns(1, 2)[..., 0]
    A[FOLDS != 1, :, 3] = 0.0
    assert NormalProducts.of(A, tau, FOLDS).left_out[1, 3] == 0.0
