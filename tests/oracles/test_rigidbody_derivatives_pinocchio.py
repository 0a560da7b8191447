"""Derivatives of inverse and forward dynamics against Pinocchio's, on real robots and random trees."""

from __future__ import annotations

import numpy as np
import pytest

import tauform as tf
from pinocchio_oracle import REAL_ROBOTS, Pair, model_of, pin, real_robot
from random_robots import random_tree

TOLERANCE = 1e-9


@pytest.fixture(scope="module", params=[*REAL_ROBOTS, "random9"])
def pair(request) -> Pair:
    return model_of(random_tree(9, 3, friction=False)) if request.param == "random9" else real_robot(request.param)


def agree(value, expected):
    np.testing.assert_allclose(value, expected, rtol=0, atol=TOLERANCE * np.abs(expected).max())


def test_inverse_derivatives(pair):
    states = np.random.default_rng(1).uniform(-2, 2, (3, 4, pair.robot.n_joints))
    linear = tf.linearize_inverse(pair.robot, *states)
    at = np.ix_(pair.order, pair.order)
    for k, (q, v, a) in enumerate(zip(*states, strict=True)):
        dq, dqd, M = pin.computeRNEADerivatives(
            pair.model, pair.data, pair.theirs(q), pair.theirs_v(v), pair.theirs_v(a)
        )
        agree(linear.dq[k], dq[at])
        agree(linear.dqd[k], dqd[at])
        agree(linear.dqdd[k], (np.triu(M) + np.triu(M, 1).T)[at])


@pytest.mark.parametrize("method", ["direct", "conventional"])
def test_forward_derivatives(pair, method):
    states = np.random.default_rng(2).uniform(-2, 2, (3, 4, pair.robot.n_joints))
    linear = tf.linearize_forward(pair.robot, *states, method=method)
    at = np.ix_(pair.order, pair.order)
    for k, (q, v, tau) in enumerate(zip(*states, strict=True)):
        dq, dqd, dtau = pin.computeABADerivatives(
            pair.model, pair.data, pair.theirs(q), pair.theirs_v(v), pair.theirs_v(tau)
        )
        agree(linear.dq[k], dq[at])
        agree(linear.dqd[k], dqd[at])
        agree(linear.dtau[k], (np.triu(dtau) + np.triu(dtau, 1).T)[at])


@pytest.mark.parametrize("function", ["inverse", "forward"])
def test_compiled_derivatives_of_a_batch(function):
    """Machine code of composite bodies, in whole blocks of states and in what remains of the batch."""
    pair = real_robot("panda")
    states = np.random.default_rng(3).uniform(-2, 2, (3, 21, pair.robot.n_joints))
    compiled = tf.linearize_inverse if function == "inverse" else tf.linearize_forward
    theirs = pin.computeRNEADerivatives if function == "inverse" else pin.computeABADerivatives
    linear = compiled(pair.robot, *states, tier=2)
    at = np.ix_(pair.order, pair.order)
    for k, (q, v, other) in enumerate(zip(*states, strict=True)):
        dq, dqd, last = theirs(pair.model, pair.data, pair.theirs(q), pair.theirs_v(v), pair.theirs_v(other))
        agree(linear.dq[k], dq[at])
        agree(linear.dqd[k], dqd[at])
        symmetric = (np.triu(last) + np.triu(last, 1).T)[at]
        agree(linear.dqdd[k] if function == "inverse" else linear.dtau[k], symmetric)
