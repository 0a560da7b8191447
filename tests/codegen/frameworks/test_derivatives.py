"""Derivatives that frameworks take of programs, against the linearisations of the textbook."""

from __future__ import annotations

import numpy as np
import pytest

import tauform as tf
from sampling import representatives

pytestmark = pytest.mark.usefixtures("kept_programs")
ROBOT = tf.random_robot("RPR", seed=5)
Q, QD, QDD = np.random.default_rng(0).uniform(-1, 1, (3, ROBOT.n_joints))
EXPECTED = tf.linearize_inverse(ROBOT, Q, QD, QDD)
MATRICES = (EXPECTED.dq, EXPECTED.dqd, EXPECTED.dqdd)


def close(found: object, expected: np.ndarray, digits: float = 1e-12) -> None:
    np.testing.assert_allclose(np.asarray(found), expected, rtol=0, atol=digits * np.abs(expected).max())


def test_casadi_differentiates_the_function() -> None:
    pytest.importorskip("casadi")
    blocks = tf.to_casadi(tf.generate(ROBOT)).jacobian()(Q, QD, QDD, 0)
    for block, expected in zip(blocks, MATRICES, strict=True):
        close(block, expected)


@pytest.mark.parametrize(
    "form", representatives(["arrays", "kernel", "linearize_inverse"], "arrays", "linearize_inverse")
)
def test_jax_differentiates_both_ways(form: str) -> None:
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    own = tf.generate(ROBOT, form) if form == "linearize_inverse" else None
    function = tf.to_jax(tf.generate(ROBOT), "arrays" if form == "arrays" else "kernel", derivatives=own)
    for take in (jax.jacfwd, jax.jacrev):
        for found, expected in zip(take(function, argnums=(0, 1, 2))(Q, QD, QDD), MATRICES, strict=True):
            close(found, expected)


def test_jax_maps_over_any_argument() -> None:
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    many = np.random.default_rng(1).uniform(-1, 1, (2, 7, 3))
    for form in ("arrays", "kernel"):
        function = jax.jit(jax.vmap(tf.to_jax(tf.generate(ROBOT), form), in_axes=(0, None, 0)))
        close(function(many[0], QD, many[1]), tf.inverse_dynamics(ROBOT, many[0], QD, many[1]))


def test_torch_differentiates_once_and_twice() -> None:
    torch = pytest.importorskip("torch")
    function = tf.to_torch(tf.generate(ROBOT))
    q, qd, qdd = (torch.tensor(x) for x in (Q, QD, QDD))
    for take in (torch.func.jacrev, torch.func.jacfwd):
        for found, expected in zip(take(function, argnums=(0, 1, 2))(q, qd, qdd), MATRICES, strict=True):
            close(found, expected)
    small = tf.to_torch(tf.generate(tf.planar_chain(2)))
    state = [torch.rand(3, 2, dtype=torch.float64, requires_grad=True) for _ in range(3)]
    assert torch.autograd.gradcheck(small, state)
    assert torch.autograd.gradgradcheck(small, state)


def test_torch_keeps_the_rates_of_dual_tensors() -> None:
    torch = pytest.importorskip("torch")
    from torch.autograd import forward_ad

    function = tf.to_torch(tf.generate(ROBOT))
    q, qd, qdd, rate = (torch.tensor(x) for x in (Q, QD, QDD, QDD))
    with forward_ad.dual_level():
        found = forward_ad.unpack_dual(function(q, forward_ad.make_dual(qd, rate), qdd))
    close(found.tangent, MATRICES[1] @ QDD)
    # One that requires a gradient keeps it, also where the others do not.
    assert function(q, qd.clone().requires_grad_(), qdd).requires_grad


def test_torch_sums_gradients_over_the_states_that_shared_a_tensor() -> None:
    torch = pytest.importorskip("torch")
    program = tf.generate(ROBOT, parameters="runtime")
    states = np.random.default_rng(2).uniform(-1, 1, (3, 20, 3))
    theta = torch.tensor(program.theta_of(ROBOT), requires_grad=True)
    tf.to_torch(program)(*map(torch.from_numpy, states), theta).sum().backward()
    # tau = Y theta, so that d sum(tau) / d theta is the sum of the rows of Y
    Y = tf.compile(ROBOT, "base_regressor")(*states)
    close(theta.grad, Y.sum(axis=(0, 1)))


def test_torch_keeps_single_precision_and_maps() -> None:
    torch = pytest.importorskip("torch")
    function = tf.to_torch(tf.generate(ROBOT))
    single = function(*(torch.tensor(x, dtype=torch.float32) for x in (Q, QD, QDD)))
    assert single.dtype is torch.float32
    close(single, tf.inverse_dynamics(ROBOT, Q, QD, QDD), digits=1e-6)
    # a mapped dimension stands before the batch of every other tensor
    a, b, c = torch.rand(7, 3).double(), torch.rand(5, 3).double(), torch.rand(5, 7, 3).double()
    mapped = torch.func.vmap(function, in_dims=(0, None, 1))(a, b, c)
    expected = tf.inverse_dynamics(ROBOT, a.numpy()[:, None], b.numpy(), c.numpy().swapaxes(0, 1))
    close(mapped, expected)
