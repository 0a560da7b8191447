"""Laws of drive terms on random robots: linearity, energy, derivatives, forward and inverse dynamics, loops."""

from __future__ import annotations

import numpy as np
import pytest

import tauform as tf
from random_drives import FURTHER, random_temperatures, with_random_drives
from random_robots import random_states, random_tree
from sampling import in_turns
from tauform.description.drives import SHAPES

N_STATES = 12
STEP = 1e-30


def looped(seed: int) -> tf.Robot:
    """A tree of six joints of which two follow others."""
    robot = random_tree(6, seed, prismatic=0.0)
    names = robot.joint_names
    return robot.with_relations({names[5]: {names[1]: -0.7, names[3]: 0.4, "": 0.2}, names[4]: {names[3]: 1.0}})


def bare(kind: str, seed: int) -> tf.Robot:
    return looped(seed) if kind == "loops" else random_tree(6, seed, chain=kind == "chain")


KINDS = ("chain", "tree", "loops")


@pytest.fixture(params=[(kind, seed) for kind in KINDS for seed in (1, 2)], ids=lambda p: f"{p[0]}-{p[1]}")
def robot(request: pytest.FixtureRequest) -> tf.Robot:
    return with_random_drives(bare(*request.param), request.param[1])


def states(robot: tf.Robot, n_vectors: int = 3) -> tuple[np.ndarray, np.ndarray]:
    return random_states(robot, N_STATES, 5, n_vectors), random_temperatures(robot, N_STATES, 6)


def largest(array: np.ndarray) -> float:
    return float(np.abs(array).max())


def test_regressor_times_parameters_is_inverse_dynamics(robot: tf.Robot) -> None:
    (q, qd, qdd), T = states(robot)
    tau = tf.inverse_dynamics(robot, q, qd, qdd, T)
    Y = tf.regressor(robot, q, qd, qdd, temperature=T)
    assert Y.shape[-1] == len(robot.parameters) == robot.layout.n
    assert largest(Y @ robot.parameters - tau) <= 1e-12 * largest(tau)


def test_reference_regressor_at_the_motion_is_the_regressor(robot: tf.Robot) -> None:
    (q, qd, qdd), T = states(robot)
    Y = tf.regressor(robot, q, qd, qdd, temperature=T)
    assert largest(tf.slotine_li_regressor(robot, q, qd, qd, qdd, temperature=T) - Y) <= 1e-12 * largest(Y)


def test_rigid_torque_and_friction_add_up(robot: tf.Robot) -> None:
    (q, qd, qdd), T = states(robot)
    parts = tf.inverse_dynamics(robot, q, qd, qdd, drives=False) + tf.friction(robot, qd, q, qdd, T)
    tau = tf.inverse_dynamics(robot, q, qd, qdd, T)
    assert largest(parts - tau) <= 1e-13 * largest(tau)
    assert largest(tf.inverse_dynamics(robot.rigid, q, qd, qdd) - (tau - tf.friction(robot, qd, q, qdd, T))) < 1e-12


@pytest.mark.parametrize("method", ["aba", "mass_matrix"])
def test_forward_dynamics_undo_inverse_dynamics(robot: tf.Robot, method: str) -> None:
    (q, qd, qdd), T = states(robot)
    tau = tf.inverse_dynamics(robot, q, qd, qdd, T)
    found = tf.forward_dynamics(robot, q, qd, tau, method, T)
    assert largest(found - qdd) <= 1e-10 * largest(qdd)


def test_mass_matrix_is_the_slope_by_acceleration(robot: tf.Robot) -> None:
    """Coupled rotors couple accelerations; both algorithms agree, and so does the kinetic energy."""
    (q, qd, _), _ = states(robot)
    M = tf.mass_matrix(robot, q)
    assert largest(M - np.swapaxes(M, -1, -2)) <= 1e-12 * largest(M)
    assert largest(M - tf.mass_matrix(robot, q, "gdahj")) <= 1e-12 * largest(M)
    rest = tf.inverse_dynamics(robot, q, qd, 0 * qd, drives=False)
    for j, unit in enumerate(np.eye(robot.n_joints)):
        column = tf.inverse_dynamics(robot, q, qd, 0 * qd + unit, drives=False) - rest
        assert largest(column - M[..., j]) <= 1e-11 * largest(M)
    momentum = np.einsum("kij,kj->ki", M, qd)
    assert largest(tf.generalized_momentum(robot, q, qd) - momentum) <= 1e-12 * largest(momentum)
    energy = 0.5 * (qd * momentum).sum(axis=-1)
    assert largest(tf.kinetic_energy(robot, q, qd) - energy) <= 1e-12 * largest(energy)


def conservative(robot: tf.Robot) -> tf.Robot:
    """Springs and rotors alone: nothing is lost."""
    return robot.with_drives([term for term in robot.drives if term.is_conservative or term.is_inertial])


def test_power_is_the_rate_of_energy_where_nothing_is_lost(robot: tf.Robot) -> None:
    robot = conservative(robot)
    (q, qd, qdd), _ = states(robot)
    power = (tf.inverse_dynamics(robot, q, qd, qdd) * qd).sum(axis=-1)
    along = (q + 1j * STEP * qd, qd + 1j * STEP * qdd)
    energy = tf.kinetic_energy(robot, *along) + tf.potential_energy(robot, along[0])
    assert largest(energy.imag / STEP - power) <= 1e-11 * largest(power)


def test_energy_regressor_times_parameters_is_the_energy(robot: tf.Robot) -> None:
    (q, qd, _), _ = states(robot)
    for name, energy in (("kinetic", tf.kinetic_energy(robot, q, qd)), ("potential", tf.potential_energy(robot, q))):
        h = tf.energy_regressor(robot, q, qd, name)
        assert largest(h @ robot.parameters - energy) <= 1e-12 * largest(energy)
    gravity = tf.potential_energy(robot, q, drives=False)
    assert largest(gravity - tf.potential_energy(robot.without_drives(), q)) <= 1e-13 * largest(gravity)


def complex_slopes(function, vectors, n: int) -> list[np.ndarray]:
    """(..., n, n) derivatives by each of three vectors."""
    slopes = []
    for k in range(3):
        columns = []
        for j in range(n):
            moved = [v.astype(complex) for v in vectors]
            moved[k][..., j] += 1j * STEP
            columns.append(function(*moved).imag / STEP)
        slopes.append(np.stack(columns, axis=-1))
    return slopes


def test_inverse_derivatives_are_complex_steps(robot: tf.Robot) -> None:
    vectors, T = states(robot)
    found = tf.linearize_inverse(robot, *vectors, T)
    expected = complex_slopes(lambda *v: tf.inverse_dynamics(robot, *v, T), vectors, robot.n_joints)
    matrices = (found.dq, found.dqd, found.dqdd)
    for matrix, slope in zip(matrices, expected, strict=True):
        assert largest(matrix - slope) <= 1e-11 * largest(slope)
    changes = random_states(robot, N_STATES, 8)
    vector = tf.linearize_inverse_vector(robot, *vectors, *changes, temperature=T)
    product = sum(np.einsum("kij,kj->ki", D, x) for D, x in zip(matrices, changes, strict=True))
    assert largest(vector - product) <= 1e-11 * largest(product)
    weighted = tf.linearize_inverse_transposed(robot, *vectors, changes[0], T)
    for part, D in zip((weighted.dq, weighted.dqd, weighted.dqdd), matrices, strict=True):
        product = np.einsum("ki,kij->kj", changes[0], D)
        assert largest(part - product) <= 1e-11 * largest(product)


@pytest.mark.parametrize(("plain", "method"), in_turns([False, True], ["direct", "conventional"]))
def test_forward_derivatives_are_complex_steps(robot: tf.Robot, method: str, plain: bool) -> None:
    if plain:  # what the articulated body algorithms cover
        robot = robot.with_drives([d for d in robot.drives if d.shape not in ("load", "coupled_inertia")])
    (q, qd, qdd), T = states(robot)
    tau = tf.inverse_dynamics(robot, q, qd, qdd, T)
    found = tf.linearize_forward(robot, q, qd, tau, method, T)
    expected = complex_slopes(lambda *v: tf.forward_dynamics(robot, *v, temperature=T), (q, qd, tau), robot.n_joints)
    matrices = (found.dq, found.dqd, found.dtau)
    for matrix, slope in zip(matrices, expected, strict=True):
        assert largest(matrix - slope) <= 1e-9 * largest(slope)
    changes = random_states(robot, N_STATES, 8)
    vector = tf.linearize_forward_vector(robot, q, qd, tau, *changes, method, T)
    product = sum(np.einsum("kij,kj->ki", D, x) for D, x in zip(matrices, changes, strict=True))
    assert largest(vector - product) <= 1e-9 * largest(product)
    weighted = tf.linearize_forward_transposed(robot, q, qd, tau, changes[0], T)
    for part, D in zip((weighted.dq, weighted.dqd, weighted.dtau), matrices, strict=True):
        product = np.einsum("ki,kij->kj", changes[0], D)
        assert largest(part - product) <= 1e-9 * largest(product)


def test_acceleration_by_parameters_is_a_difference(robot: tf.Robot) -> None:
    (q, qd, qdd), T = states(robot)
    tau = tf.inverse_dynamics(robot, q, qd, qdd, T)
    found = tf.linearize_forward_parameters(robot, q, qd, tau, temperature=T)
    rng = np.random.default_rng(3)
    for k in rng.choice(robot.layout.n, 12, replace=False).tolist() + list(range(robot.layout.n))[robot.layout.further]:
        step = 1e-6 * max(abs(robot.parameters[k]), 1e-2)
        ends = []
        for sense in (1, -1):
            parameters = np.array(robot.parameters)
            parameters[k] += sense * step
            ends.append(tf.forward_dynamics(robot.with_parameters(parameters), q, qd, tau, temperature=T))
        slope = (ends[0] - ends[1]) / (2 * step)
        assert largest(found[..., k] - slope) <= 1e-6 * max(largest(slope), 1.0), robot.layout.names[k]


def test_observer_follows_an_external_torque(robot: tf.Robot) -> None:
    """At the true motion with tau = model + external, the momentum balance leaves exactly the external torque."""
    robot = robot.with_drives([d for d in robot.drives if d.shape != "load"])
    (q, qd, qdd), T = states(robot)
    external, period = 0.7, 1e-6
    tau = tf.inverse_dynamics(robot, q, qd, qdd, T) - external
    p = tf.generalized_momentum(robot, q, qd)
    moved = (q + period * qd, qd + period * qdd)
    step = tf.momentum_observer(robot, *moved, tau, p, 0 * p, np.ones_like(p), period, T)
    assert largest(step.residual / period - external) <= 1e-3 * largest(tau)


@pytest.mark.parametrize("shape", FURTHER)
def test_one_term_adds_its_column(shape: str) -> None:
    """A single term changes the torque by its coefficient times its column, and nothing else."""
    plain = random_tree(5, seed=4, prismatic=0.0)
    robot = plain.with_drives([*plain.drives, *with_random_drives(plain, 9, [shape]).further_drives])
    (q, qd, qdd), T = states(robot)
    tau, without = tf.inverse_dynamics(robot, q, qd, qdd, T), tf.inverse_dynamics(plain, q, qd, qdd)
    column = tf.regressor(robot, q, qd, qdd, [SHAPES[shape].shape], T)
    coefficient = robot.further_drives[0].coefficient
    assert largest(tau - without - coefficient * column[..., 0]) <= 1e-12 * largest(tau)
    assert largest(tau - without) > 1e-3 * coefficient


def test_parameters_and_drives_give_the_robot_back(robot: tf.Robot) -> None:
    assert robot.with_parameters(robot.parameters) == robot
    assert robot.with_drives(robot.drives) == robot
    assert robot.without_drives().drives == tuple(d.with_coefficient(0.0) for d in robot.without_drives().drives)
    twice = robot.with_parameters(2 * robot.parameters)
    assert [d.coefficient for d in twice.drives] == [2 * d.coefficient for d in robot.drives]
