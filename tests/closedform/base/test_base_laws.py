"""Laws of base parameters on random chains, trees and aligned chains."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tauform as tf
from random_robots import random_states, random_tree
from tauform.closedform.base.parameters import SOURCES
from tauform.description.robot import Robot

GROUPS = (None, ("link",), ("link", "rotor"), ("link", "rotor", "viscous", "coulomb", "offset"))
seeds = st.integers(0, 10_000)


def aligned_chain(seed: int) -> Robot:
    """Axes parallel or perpendicular, lengths often zero: where special cases of regrouping live."""
    rng = np.random.default_rng(seed)
    rows = [
        {
            "joint": "prismatic" if rng.random() < 0.3 else "revolute",
            "a": rng.choice([0.0, 0.3, 0.5]),
            "alpha": rng.choice([0.0, np.pi / 2, -np.pi / 2, np.pi]),
            "d": rng.choice([0.0, 0.2, -0.4]),
            "theta": rng.choice([0.0, np.pi / 2]),
            "mass": rng.uniform(1, 2),
            "com": rng.normal(size=3),
            "rotor_inertia": 0.1,
        }
        for _ in range(rng.integers(1, 6))
    ]
    gravity = [(0, 0, -9.81), (9.81, 0, 0), (0, -9.81, 0)][rng.integers(3)]
    return Robot.from_dh(rows, rng.choice(["standard", "modified"]), gravity=gravity)


def torques(robot: Robot, seed: int, columns: tuple[int, ...]) -> np.ndarray:
    q, qd, qdd = random_states(robot, 40, seed)
    return tf.regressor(robot, q, qd, qdd)[..., list(columns)].reshape(-1, len(columns))


def independent_rank(W: np.ndarray) -> int:
    norms = np.linalg.norm(W, axis=0)
    present = norms > 1e-12 * norms.max()
    sizes = np.linalg.svd(W[:, present] / norms[present], compute_uv=False)
    return int((sizes > 1e-10 * sizes[0]).sum())


def any_robot(seed: int, kind: str) -> Robot:
    return aligned_chain(seed) if kind == "aligned" else random_tree(1 + seed % 6, seed, chain=kind == "chain")


@pytest.mark.parametrize("kind", ["chain", "tree", "aligned"])
@given(seed=seeds, include=st.sampled_from(GROUPS))
@settings(max_examples=12, deadline=None)
def test_count_and_torque_are_those_of_the_regressor(kind: str, seed: int, include: tuple[str, ...] | None) -> None:
    robot = any_robot(seed, kind)
    base = tf.base_parameters(robot, include=include)
    W = torques(robot, seed, base.columns)
    assert base.n == independent_rank(W)
    at = [base.columns.index(pivot) for pivot in base.pivots]
    tau = W @ robot.parameters[list(base.columns)]
    assert np.abs(W[:, at] @ base.values(robot) - tau).max() <= 1e-12 * np.abs(W).max() * np.abs(robot.parameters).sum()


@pytest.mark.parametrize("kind", ["chain", "tree", "aligned"])
@given(seed=seeds, include=st.sampled_from(GROUPS))
@settings(max_examples=4, deadline=None)
def test_sources_and_methods_span_the_same_space(kind: str, seed: int, include: tuple[str, ...] | None) -> None:
    robot = any_robot(seed, kind)
    reference = tf.base_parameters(robot, include=include)
    for source in SOURCES if robot.is_chain else SOURCES[:3]:
        for method in ("qr", "svd", "qr_pivoted"):
            base = tf.base_parameters(robot, method=method, source=source, include=include)
            assert base.n == reference.n, (source, method)
            # Each set follows from the other, so both determine the same dynamics.
            onto = reference.grouping[:, list(base.pivots)]
            np.testing.assert_allclose(onto @ base.grouping, reference.grouping, rtol=0, atol=1e-9)


@pytest.mark.parametrize("kind", ["chain", "tree", "aligned"])
@given(seed=seeds)
@settings(max_examples=12, deadline=None)
def test_relations_are_symbolic_and_have_the_lengths_as_names(kind: str, seed: int) -> None:
    robot = any_robot(seed, kind)
    base = tf.base_parameters(robot)
    assert all(relation.exact for relation in base.relations)


@given(seed=seeds)
@settings(max_examples=12, deadline=None)
def test_virtual_robot_has_the_same_torques(seed: int) -> None:
    robot = any_robot(seed, "tree")
    base = tf.base_parameters(robot, include=("link", "rotor"))
    virtual = robot.with_base_parameters(base.values(robot), base)
    q, qd, qdd = random_states(robot, 20, seed)
    expected = tf.inverse_dynamics(robot, q, qd, qdd)
    error = np.abs(tf.inverse_dynamics(virtual, q, qd, qdd) - expected).max()
    assert error <= 1e-12 * np.abs(expected).max()
    assert np.count_nonzero(virtual.parameters[list(base.columns)]) <= base.n


def test_order_of_preference_is_kept() -> None:
    robot = random_tree(4, 3, chain=True, prismatic=0.0)
    base = tf.base_parameters(robot, include=("link",), order=("m_4", "m_3"))
    pivots = [robot.parameter_names[k] for k in base.pivots]
    assert "m_4" in pivots
    W = torques(robot, 0, base.columns)
    at = [base.columns.index(k) for k in base.pivots]
    tau = W @ np.ones(40)
    np.testing.assert_allclose(W[:, at] @ base.grouping[:, :40].sum(axis=1), tau, rtol=0, atol=1e-9 * abs(tau).max())


def test_dividing_by_a_length_stays_exact() -> None:
    """Keeping m_2 of a planar arm folds mx_1 into it: m_2 + mx_1 / a1."""
    base = tf.base_parameters(tf.load("two_link"), order=("m_2",))
    relation = next(relation for relation in base.relations if relation.name == "mR_2")
    assert relation.exact
    assert str(relation) == "mR_2 = m_2 + a1^-1 mx_1"
