"""Every textbook quantity against Pinocchio, on real robots and on random trees."""

from __future__ import annotations

import numpy as np
import pytest

import tauform as tf
from pinocchio_oracle import REAL_ROBOTS, Pair, model_of, pin, real_robot
from random_robots import random_tree
from tauform.description.inertia import parameter_transform

TOLERANCE = 1e-10
RANDOM = {f"random{n}": n for n in (4, 9, 17)}


@pytest.fixture(scope="module", params=[*REAL_ROBOTS, *RANDOM])
def pair(request) -> Pair:
    if request.param in RANDOM:
        return model_of(random_tree(RANDOM[request.param], seed=3, friction=False))
    return real_robot(request.param)


@pytest.fixture(scope="module")
def states(pair) -> np.ndarray:
    """(3, 5, n)."""
    return np.random.default_rng(0).uniform(-2, 2, (3, 5, pair.robot.n_joints))


def agree(value, expected):
    scale = np.abs(expected).max()
    np.testing.assert_allclose(value, expected, rtol=0, atol=TOLERANCE * scale)


def test_inverse_dynamics_equals_rnea(pair, states):
    tau = tf.inverse_dynamics(pair.robot, *states)
    for k, (q, v, a) in enumerate(zip(*states, strict=True)):
        agree(tau[k], pin.rnea(pair.model, pair.data, pair.theirs(q), pair.theirs_v(v), pair.theirs_v(a))[pair.order])


def test_mass_matrix_equals_crba(pair, states):
    for method in ("crba", "gdahj"):
        M = tf.mass_matrix(pair.robot, states[0], method=method)
        for k, q in enumerate(states[0]):
            theirs = pin.crba(pair.model, pair.data, pair.theirs(q))
            theirs = np.triu(theirs) + np.triu(theirs, 1).T
            agree(M[k], theirs[np.ix_(pair.order, pair.order)])


def test_forward_dynamics_equals_aba(pair, states):
    q, v, tau = states
    tau = 10 * tau
    for method in ("aba", "mass_matrix"):
        qdd = tf.forward_dynamics(pair.robot, q, v, tau, method=method)
        for k in range(len(q)):
            theirs = pin.aba(pair.model, pair.data, pair.theirs(q[k]), pair.theirs_v(v[k]), pair.theirs_v(tau[k]))
            agree(qdd[k], theirs[pair.order])


def test_velocity_torques_equal_those_of_their_coriolis_matrix(pair, states):
    # Their C is another factorisation of the same torques; what both share is C qd and C + C^T = Mdot.
    C = tf.coriolis_matrix(pair.robot, states[0], states[1])
    for k, (q, v) in enumerate(zip(states[0], states[1], strict=True)):
        theirs = pin.computeCoriolisMatrix(pair.model, pair.data, pair.theirs(q), pair.theirs_v(v))
        theirs = theirs[np.ix_(pair.order, pair.order)]
        agree(C[k] @ v, theirs @ v)
        agree(C[k] + C[k].T, theirs + theirs.T)


def test_injected_torques_equal_those_of_their_coriolis_matrix(pair, states):
    found = tf.frame_injection(pair.robot, states[0], states[1])
    for k, (q, v) in enumerate(zip(states[0], states[1], strict=True)):
        theirs = pin.computeCoriolisMatrix(pair.model, pair.data, pair.theirs(q), pair.theirs_v(v))
        agree(found.coriolis[k] @ v, (theirs @ pair.theirs_v(v))[pair.order])
        # One joint moves alone: all of its velocity torque is centrifugal.
        alone = np.zeros_like(v)
        alone[k % len(v)] = 1
        theirs = pin.computeCoriolisMatrix(pair.model, pair.data, pair.theirs(q), pair.theirs_v(alone))
        centrifugal = (theirs @ pair.theirs_v(alone))[pair.order]
        np.testing.assert_allclose(
            found.centrifugal[k][:, k % len(v)], centrifugal, rtol=0, atol=TOLERANCE * np.abs(found.centrifugal).max()
        )


def test_gravity_and_bias_torque(pair, states):
    g, bias = tf.gravity_torque(pair.robot, states[0]), tf.bias_torque(pair.robot, states[0], states[1])
    for k, (q, v) in enumerate(zip(states[0], states[1], strict=True)):
        agree(g[k], pin.computeGeneralizedGravity(pair.model, pair.data, pair.theirs(q))[pair.order])
        agree(bias[k], pin.nonLinearEffects(pair.model, pair.data, pair.theirs(q), pair.theirs_v(v))[pair.order])


def test_energies(pair, states):
    kinetic, potential = tf.kinetic_energy(pair.robot, states[0], states[1]), tf.potential_energy(pair.robot, states[0])
    for k, (q, v) in enumerate(zip(states[0], states[1], strict=True)):
        agree(kinetic[k], pin.computeKineticEnergy(pair.model, pair.data, pair.theirs(q), pair.theirs_v(v)))
        agree(potential[k], pin.computePotentialEnergy(pair.model, pair.data, pair.theirs(q)))


def their_columns(pair: Pair, q: np.ndarray) -> np.ndarray:
    """(10 n, 10 n) block map from parameters in their joint frames to ours, whose z is the joint axis."""
    pin.forwardKinematics(pair.model, pair.data, pair.theirs(q))
    ours = tf.link_placements(pair.robot, q)
    n = len(pair.ids)
    blocks = np.zeros((10 * n, 10 * n))
    for i, joint_id in enumerate(pair.ids):
        at = slice(10 * i, 10 * i + 10)
        blocks[at, at] = parameter_transform(np.linalg.inv(ours[i]) @ pair.data.oMi[joint_id].homogeneous)
    return blocks


def their_order(pair: Pair) -> list[int]:
    return [10 * (i - 1) + k for i in pair.ids for k in range(10)]


def test_regressor_equals_joint_torque_regressor(pair, states):
    Y = tf.regressor(pair.robot, *states, include=("link",))
    for k, (q, v, a) in enumerate(zip(*states, strict=True)):
        theirs = pin.computeJointTorqueRegressor(
            pair.model, pair.data, pair.theirs(q), pair.theirs_v(v), pair.theirs_v(a)
        )
        agree(Y[k] @ their_columns(pair, q), theirs[pair.order][:, their_order(pair)])


def test_energy_regressors(pair, states):
    n = 10 * pair.robot.n_bodies
    for q, v in zip(states[0], states[1], strict=True):
        columns = their_columns(pair, q)
        kinetic = pin.computeKineticEnergyRegressor(pair.model, pair.data, pair.theirs(q), pair.theirs_v(v))
        potential = pin.computePotentialEnergyRegressor(pair.model, pair.data, pair.theirs(q))
        agree(tf.energy_regressor(pair.robot, q, v, "kinetic")[:n] @ columns, kinetic[their_order(pair)])
        agree(tf.energy_regressor(pair.robot, q, v, "potential")[:n] @ columns, potential[their_order(pair)])


def test_frame_placements_and_jacobians(pair, states):
    swap = [3, 4, 5, 0, 1, 2]  # theirs: linear part first
    for q in states[0][:2]:
        pin.computeJointJacobians(pair.model, pair.data, pair.theirs(q))
        pin.updateFramePlacements(pair.model, pair.data)
        for frame in [frame.name for frame in pair.robot.frames if pair.model.existFrame(frame.name)]:
            theirs = pair.model.getFrameId(frame)
            agree(tf.forward_kinematics(pair.robot, q, frame), pair.data.oMf[theirs].homogeneous)
            for axes, reference in (("world", pin.LOCAL_WORLD_ALIGNED), ("local", pin.LOCAL)):
                J = pin.getFrameJacobian(pair.model, pair.data, theirs, reference)[swap][:, pair.order]
                scale = max(np.abs(J).max(), 1)
                np.testing.assert_allclose(tf.jacobian(pair.robot, q, frame, axes), J, rtol=0, atol=TOLERANCE * scale)
