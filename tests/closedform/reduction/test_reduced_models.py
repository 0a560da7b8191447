"""Closed forms with terms left out are models like any other: minimal, with an echelon form, saved and loaded."""

from __future__ import annotations

import numpy as np
import pytest

import tauform as tf
from random_robots import random_tree
from tauform.closedform.reduction.fewest import TermSearch
from tauform.closedform.reduction.reduction import with_terms

ALL = ("link", "rotor", "viscous", "coulomb", "offset")
LOAD = tf.Inertia.of(2.0, (0.01, -0.02, 0.1), (0.02, 0.03, 0.01, 0.001, 0, 0), inertia_about="com")


def rank(model: tf.ClosedFormModel) -> int:
    """Rank of the coefficients, each row and column in its own unit."""
    W = np.concatenate([part.reshape(-1, model.n_base) for part in (model.reduction, model.joint_terms)])
    largest = np.abs(W).max(axis=1, initial=0.0)
    W = W[largest > 0] / largest[largest > 0][:, None]
    return int(np.linalg.matrix_rank(W / np.linalg.norm(W, axis=0), tol=1e-9 * np.sqrt(len(W))))


@pytest.fixture(scope="module", params=["kr6_r700", "puma560_gautier", "sr6ia", "RPR", "PRRP"])
def bound(request) -> tf.BoundModel:
    robot = tf.random_robot(request.param, seed=2) if request.param.isupper() else tf.load(request.param)
    return tf.derive(robot, include=ALL if request.param.isupper() else None).bind(robot)


@pytest.fixture(scope="module", params=[0.6, 0.2, 0.05])
def kept(request, bound) -> np.ndarray:
    """Random terms, one at least."""
    rng = np.random.default_rng(int(100 * request.param))
    return rng.permutation(bound.n_terms) < max(1, int(request.param * bound.n_terms))


def test_base_parameters_are_as_many_as_the_terms_tell_apart(bound, kept):
    model = with_terms(bound, kept).model
    assert model.n_base == rank(model) <= bound.base.n
    assert set(model.base.pivots) <= set(bound.base.pivots)
    assert len(set(model.base.names)) == model.n_base


def test_coefficients_that_are_left_do_not_change(bound, kept):
    smaller = with_terms(bound, kept)
    place = {tuple(term): k for k, term in enumerate(bound.exponents.T.tolist())}
    at = np.array([place[tuple(term)] for term in smaller.exponents.T.tolist()])
    before = bound.coefficients[:, at]
    size = np.abs(bound.coefficients).max(axis=1, keepdims=True)
    # a term that was not asked for holds only entries of the mass matrix whose mirror image was
    is_left = kept[at] | (np.abs(smaller.coefficients) > 1e-14 * size)
    np.testing.assert_allclose((smaller.coefficients - before * is_left) / size, 0, atol=1e-13)
    assert set(np.flatnonzero(kept)) <= set(at) | set(np.flatnonzero(~bound.model.reduction.any(axis=(0, 2))))
    np.testing.assert_allclose(smaller.joint_coefficients, bound.joint_coefficients, rtol=1e-12, atol=1e-12)


def test_theta_is_made_of_the_robots_parameters(bound, kept):
    smaller, robot = with_terms(bound, kept), bound.base.robot
    np.testing.assert_allclose(smaller.base.values(robot), smaller.theta, rtol=1e-10, atol=1e-12)
    assert all(relation.name == name for relation, name in zip(smaller.base.relations, smaller.base.names, strict=True))


def test_a_load_adds_what_it_added(bound, kept):
    smaller = with_terms(bound, kept)
    loaded = bound.model.bind(bound.base.robot, payload=LOAD)
    expected, found = with_terms(loaded, kept), smaller.model.bind(smaller.base.robot, payload=LOAD)
    np.testing.assert_allclose(
        found.coefficients, expected.coefficients, rtol=0, atol=1e-12 * np.abs(expected.coefficients).max()
    )


def test_echelon_form_gives_the_coefficients(bound, kept):
    model = with_terms(bound, kept).model
    echelon = model.echelon()
    n = model.n_joints
    is_gravity = model.exponents[3 * n :].max(axis=0) == 0
    P = np.where(is_gravity[:, None], echelon.g, 1.0) * echelon.P
    np.testing.assert_allclose(
        P @ echelon.theta_from_base, model.reduction, rtol=0, atol=1e-10 * np.abs(model.reduction).max()
    )


def test_a_reduced_model_survives_a_file_and_further_reduction(bound, kept, tmp_path):
    smaller = with_terms(bound, kept)
    smaller.model.save(tmp_path / "model.npz")
    read = tf.load_model(tmp_path / "model.npz").bind(smaller.theta, friction=smaller.carried)
    np.testing.assert_array_equal(read.coefficients, smaller.coefficients)
    again = with_terms(read, np.arange(read.n_terms) % 2 == 0)
    assert again.model.n_base == rank(again.model)


def test_figures_of_the_papers_arms():
    """l is the rank where it was five or two too many."""
    for name, tolerance in (("puma560_gautier", 0.3), ("kr6_r700", 0.01)):
        robot = tf.load(name)
        bound = tf.derive(robot).bind(robot)
        found = TermSearch.over(bound, tf.Profile.slow(6), 0.999, np.random.default_rng(0)).fewest(tolerance).bound
        Y = found.model.regressor(*tf.Profile.slow(6).sample(500, np.random.default_rng(1)))
        Y = Y.reshape(-1, found.base.n)
        assert np.linalg.matrix_rank(Y / np.linalg.norm(Y, axis=0)) == found.base.n
        assert found.base.condition < 100


def test_small_robots_keep_their_last_term():
    robot = random_tree(1, 0, chain=True, prismatic=0.0, friction=False)
    bound = tf.derive(robot).bind(robot)
    assert with_terms(bound, np.zeros(bound.n_terms, dtype=bool)).n_terms == 0
