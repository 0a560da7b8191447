"""Closed forms with fixed joints: the robot's own dynamics at that position, with no velocity or acceleration there.

What a fixed joint is given is not read; its torque is what holds it; forward dynamics are those of the locked robot.
"""

from __future__ import annotations

import numpy as np
import pytest

import tauform as tf
from pinocchio_oracle import model_of, pin
from random_robots import random_states, random_tree
from sampling import in_turns

RELATIVE = 1e-11
N_STATES = 12
ALL = ("link", "rotor", "viscous", "coulomb", "offset")
# seed of a chain, and which of its joints are fixed: none, some, first, last, neighbours, all
CASES = [(0, ()), (1, (1,)), (2, (0,)), (3, (3,)), (4, (1, 2)), (5, (0, 2)), (6, (0, 1, 3)), (7, (0, 1, 2, 3))]


class Case:
    """A chain, its closed form with fixed joints, random states and the same states with those joints held."""

    def __init__(self, seed: int, fixed: tuple[int, ...], include=None, friction: bool = True):
        self.robot = random_tree(4, seed, chain=True, prismatic=0.4, friction=friction)
        self.fixed, self.moving = list(fixed), [i for i in range(4) if i not in fixed]
        positions = np.random.default_rng(seed).uniform(-1, 1, len(fixed))
        names = [self.robot.joint_names[i] for i in fixed]
        self.model = tf.derive(self.robot, fixed=dict(zip(names, positions, strict=True)), include=include)
        self.bound = self.model.bind(self.robot)
        self.states = random_states(self.robot, N_STATES, seed)
        self.held = self.states.copy()
        self.held[0][:, self.fixed] = positions
        self.held[1:, :, self.fixed] = 0.0
        self.tau = tf.inverse_dynamics(self.robot, *self.held)
        self.size = np.abs(self.tau).max()

    def matrix(self, whole):
        """A matrix of the robot without what couples two fixed joints, which no motion shows."""
        whole = np.array(whole)
        whole[:, np.ix_(self.fixed, self.fixed)[0], np.ix_(self.fixed, self.fixed)[1]] = 0.0
        return whole

    def accelerations(self, tau):
        """Accelerations of the robot whose fixed joints are locked, by the textbook."""
        qdd = np.zeros_like(tau)
        if self.moving:
            positions = dict(
                zip([self.robot.joint_names[i] for i in self.fixed], self.held[0][0, self.fixed], strict=True)
            )
            locked = self.robot.locked(positions) if positions else self.robot
            q, qd, moving_tau = (x[:, self.moving] for x in (*self.held[:2], tau))
            qdd[:, self.moving] = tf.forward_dynamics(locked, q, qd, moving_tau)
        return qdd


@pytest.fixture(scope="module", params=CASES, ids=str)
def case(request):
    return Case(*request.param)


def assert_close(found, expected, size):
    np.testing.assert_allclose(found, expected, rtol=0, atol=RELATIVE * size)


@pytest.mark.parametrize(("chosen", "include"), in_turns(CASES, [None, ALL]), ids=str)
def test_torques_are_the_robots_at_that_position_whatever_is_given_there(chosen, include):
    case = Case(*chosen, include=include)
    q, qd, qdd = case.states
    assert_close(case.bound.inverse_dynamics(q, qd, qdd), case.tau, case.size)
    at_rest = tf.inverse_dynamics(case.robot, *case.held[:2], 0 * q)
    assert_close(case.bound.induced_torque(q, qd), at_rest, case.size)
    assert_close(case.bound.breakdown(q, qd, qdd).total, case.tau, case.size)
    carried = tf.inverse_dynamics(case.robot, *case.held) - case.model.regressor(q, qd, qdd) @ case.bound.theta
    assert_close(
        carried,
        case.bound.carried[:, 0] * case.held[1]
        + case.bound.carried[:, 1] * np.sign(case.held[1])
        + case.bound.carried[:, 2],
        case.size,
    )


def test_every_base_parameter_shows_in_motion_that_the_joints_allow():
    for seed, fixed in CASES[1:-1]:
        case = Case(seed, fixed, include=ALL)
        Y = case.model.regressor(*random_states(case.robot, 300, 1))
        Y = Y.reshape(-1, Y.shape[-1])
        assert np.linalg.matrix_rank(Y / np.linalg.norm(Y, axis=0)) == case.model.n_base
        dead = {f"{name}_{i + 1}" for i in fixed for name in ("Fv", "Fc", "Ia")}
        assert not dead & set(case.model.base.names)


def test_matrices_are_the_robots_where_a_moving_joint_takes_part(case):
    q, qd, qdd = case.states
    M = tf.mass_matrix(case.robot, case.held[0])
    assert_close(case.bound.mass_matrix(q), case.matrix(M), np.abs(M).max())
    whole = tf.derive(case.robot).bind(case.robot)
    C = whole.coriolis_matrix(*case.held[:2])
    assert_close(case.bound.coriolis_matrix(q, qd), case.matrix(C), np.abs(C).max())
    parts = (
        case.bound.mass_matrix(q) @ case.held[2][..., None]
        + case.bound.coriolis_matrix(q, qd) @ case.held[1][..., None]
    )
    rest = case.bound.gravity_torque(q) + case.bound.breakdown(q, qd, qdd).friction
    assert_close(parts[..., 0] + rest, case.tau, case.size)


def test_rate_of_the_mass_matrix_minus_twice_coriolis_is_skew(case):
    q, qd, _ = case.states
    step = 1e-30
    rate = np.imag(case.bound.mass_matrix(q + 1j * step * case.held[1])) / step
    N = rate - 2 * case.bound.coriolis_matrix(q, qd)
    assert_close(N, -N.transpose(0, 2, 1), max(np.abs(N).max(), 1.0))


def test_forward_dynamics_are_those_of_the_locked_robot(case):
    q, qd, tau = case.states
    expected = case.accelerations(tau)
    found = case.bound.forward_dynamics(q, qd, tau)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * max(np.abs(expected).max(), 1.0))
    assert not found[:, case.fixed].any()
    back = case.bound.forward_dynamics(q, qd, case.tau)
    np.testing.assert_allclose(back, case.held[2], rtol=0, atol=1e-9 * max(np.abs(expected).max(), 1.0))


FUNCTIONS = ["inverse_dynamics", "gravity_torque", "velocity_torque", "mass_matrix", "forward_dynamics"]


@pytest.mark.parametrize(("chosen", "function"), in_turns(CASES, FUNCTIONS), ids=str)
def test_generated_functions_are_the_models(chosen, function):
    case = Case(*chosen)
    kernel = tf.compile(tf.generate(case.bound, function))
    given = dict(zip(("q", "qd", "qdd", "tau"), (*case.states, case.states[2]), strict=True))
    arrays = [given[port.name] for port in kernel.program.inputs]
    q, qd, _ = case.held
    expected = {
        "inverse_dynamics": lambda: case.tau,
        "gravity_torque": lambda: tf.gravity_torque(case.robot, q),
        "velocity_torque": lambda: tf.bias_torque(case.robot, q, qd) - tf.gravity_torque(case.robot, q),
        "mass_matrix": lambda: case.matrix(tf.mass_matrix(case.robot, q)),
        "forward_dynamics": lambda: case.accelerations(case.states[2]),
    }[function]()
    np.testing.assert_allclose(kernel(*arrays), expected, rtol=0, atol=1e-9 * max(np.abs(expected).max(), 1.0))


def test_a_model_read_from_a_file_holds_the_same_joints(case, tmp_path):
    case.model.save(tmp_path / "model.npz")
    bound = tf.load_model(tmp_path / "model.npz").bind(case.robot)
    assert_close(bound.forward_dynamics(*case.states), case.bound.forward_dynamics(*case.states), 1.0)
    assert_close(bound.inverse_dynamics(*case.states), case.tau, case.size)


@pytest.mark.parametrize("chosen", CASES[1:-1], ids=str)
def test_pinocchio_agrees(chosen):
    case = Case(*chosen, friction=False)
    pair = model_of(case.robot)
    for i in pair.ids:
        pair.model.addJointFrame(i)  # without frames buildReducedModel reads past its end
    locked = [i + 1 for i in case.fixed]
    q0 = np.array(case.held[0][0])
    reduced = pin.buildReducedModel(pair.model, locked, pair.theirs(q0))
    reduced.armature = pair.model.armature[case.moving]
    data = reduced.createData()
    M, tau, qdd = (
        case.bound.mass_matrix(case.states[0]),
        case.bound.inverse_dynamics(*case.states),
        case.bound.forward_dynamics(*case.states),
    )
    for k, (q, qd, qdd_held) in enumerate(zip(*case.held, strict=True)):
        theirs = pin.crba(pair.model, pair.data, pair.theirs(q))
        theirs = np.triu(theirs) + np.triu(theirs, 1).T
        assert_close(M[k], case.matrix(theirs[None])[0], np.abs(theirs).max())
        assert_close(tau[k], pin.rnea(pair.model, pair.data, q, qd, qdd_held), case.size)
        accelerations = pin.aba(reduced, data, q[case.moving], qd[case.moving], case.states[2][k][case.moving])
        np.testing.assert_allclose(qdd[k][case.moving], accelerations, rtol=0, atol=1e-9 * np.abs(accelerations).max())
