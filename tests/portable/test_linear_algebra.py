"""Portable linear algebra against LAPACK, and against definitions."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse

from tauform.portable.factorization import (
    are_positive_definite,
    by_size,
    condition,
    definite_solved,
    in_order,
    inverse,
    least_squares,
    singular_values,
    solved,
)
from tauform.portable.products import chain, gram_matrix, norm, product, sparse_product

RNG = np.random.default_rng(0)


def dependent_matrix(rows: int, rank: int, columns: int) -> np.ndarray:
    """Unit columns of which the last follow from the first."""
    A = RNG.normal(size=(rows, rank)) @ np.hstack([np.eye(rank), RNG.normal(size=(rank, columns - rank))])
    return A / np.linalg.norm(A, axis=0)


@pytest.mark.parametrize(
    ("left", "right"),
    [((3, 4), (4, 5)), ((3, 4), (4,)), ((4,), (4, 5)), ((4,), (4,)), ((6, 3, 4), (4, 5)), ((60, 70), (70, 80))],
)
def test_products(left: tuple[int, ...], right: tuple[int, ...]) -> None:
    A, B = RNG.normal(size=left), RNG.normal(size=right)
    assert np.allclose(product(A, B), A @ B, rtol=1e-14, atol=1e-14)
    assert np.allclose(chain(np.eye(left[-1]), np.eye(left[-1]), B), B, atol=0)


def test_norms_and_sparse_products() -> None:
    x, S = RNG.normal(size=40), scipy.sparse.random_array((30, 40), density=0.2, rng=RNG, format="csr")
    assert norm(x) == pytest.approx(np.linalg.norm(x), rel=1e-15)
    assert np.allclose(sparse_product(S, x), S @ x, rtol=1e-14, atol=1e-15)


def test_gram_matrix_does_not_depend_on_the_order_of_its_sums() -> None:
    A = RNG.normal(size=(5000, 12)) * 10.0 ** np.arange(-6, 6)
    sizes = np.linalg.norm(A, axis=0)
    found = gram_matrix(A)
    assert np.abs((found - A.T @ A) / np.outer(sizes, sizes)).max() < 1e-11
    assert np.array_equal(found, gram_matrix(A[::-1]))
    assert not np.array_equal(A.T @ A, A[::-1].T @ A[::-1])  # which is what BLAS makes of them


@pytest.mark.parametrize(("rows", "rank", "columns"), [(50, 9, 14), (14, 14, 14), (6, 6, 10)])
def test_triangles_tell_the_rank_and_the_weights(rows: int, rank: int, columns: int) -> None:
    A = dependent_matrix(rows, rank, columns)
    for triangle in (by_size(A, 1e-10), in_order(A, 1e-10)):
        assert len(triangle.chosen) == rank
        assert np.allclose(A[:, triangle.chosen] @ triangle.weights(), A[:, triangle.others], atol=1e-12)
        # R has the scalar products of A
        assert np.allclose(triangle.R.T @ triangle.R, A.T @ A, atol=1e-13)
        basis = triangle.null_space()
        assert np.allclose(A @ basis, 0, atol=1e-13)
        assert np.allclose(basis.T @ basis, np.eye(columns - rank), atol=1e-13)
    assert in_order(A, 1e-10).chosen == list(range(rank))


def test_of_equal_columns_the_first_is_chosen() -> None:
    A = np.tile(RNG.normal(size=(20, 1)), (1, 4)) * (1 + 1e-15 * np.arange(4))
    assert by_size(A, 1e-8).chosen == [0]


@pytest.mark.parametrize(("rows", "columns"), [(30, 8), (8, 8), (5, 8), (1, 1)])
def test_singular_values(rows: int, columns: int) -> None:
    A = RNG.normal(size=(rows, columns)) * 10.0 ** np.arange(columns)
    expected = np.zeros(columns)
    expected[: min(rows, columns)] = np.linalg.svd(A, compute_uv=False)
    assert np.allclose(singular_values(A), expected, rtol=1e-12, atol=1e-14 * expected[0])
    if rows >= columns:
        assert condition(A) == pytest.approx(np.linalg.cond(A), rel=1e-7)


def test_solutions() -> None:
    A, B, tall = RNG.normal(size=(7, 7)), RNG.normal(size=(7, 3)), RNG.normal(size=(40, 7))
    b = RNG.normal(size=40)
    assert np.allclose(solved(A, B), np.linalg.solve(A, B), rtol=1e-11)
    assert np.allclose(inverse(A) @ A, np.eye(7), atol=1e-12)
    assert np.allclose(least_squares(tall, b, 1e-9), np.linalg.lstsq(tall, b, rcond=None)[0], rtol=1e-11)
    doubled = np.hstack([tall, tall[:, :2]])
    assert np.allclose(doubled @ least_squares(doubled, b, 1e-9), tall @ least_squares(tall, b, 1e-9), atol=1e-11)


def test_definite_matrices() -> None:
    A = RNG.normal(size=(6, 5, 5))
    M, B = A @ np.swapaxes(A, -1, -2), RNG.normal(size=(6, 5, 2))
    assert np.allclose(definite_solved(M, B), np.linalg.solve(M, B), rtol=1e-9)
    assert are_positive_definite(M)
    M[3] -= 2 * np.linalg.eigvalsh(M[3])[0] * np.eye(5)
    assert not are_positive_definite(M)
