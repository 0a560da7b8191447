"""Lloyd2021's own search, which needs a torque function alone: the oracle of the fast derivation."""

from __future__ import annotations

import numpy as np
import pytest

import tauform as tf
from random_robots import random_states, random_tree
from tauform.errors import ModelError


def torque_of(robot: tf.Robot):
    """Torques of links and rotors, from their standard parameters."""
    return lambda q, qd, qdd, x: tf.textbook.regressor(robot, q, qd, qdd, include=("link", "rotor")) @ x


def letters(robot: tf.Robot) -> str:
    kinds = {joint.name: joint.type.letter for joint in robot.joints}
    return "".join(kinds[name] for name in robot.joint_names)


def searched(robot: tf.Robot, **options) -> tf.SampledModel:
    names = [robot.parameter_names[k] for k in robot.columns(("link", "rotor"))]
    return tf.derive_from(torque_of(robot), letters(robot), names, **options)


def terms(exponents: np.ndarray) -> set[tuple[int, ...]]:
    return set(map(tuple, exponents.T.tolist()))


@pytest.mark.parametrize("seed", range(6))
def test_the_fast_derivation_finds_what_the_search_finds(seed: int) -> None:
    robot = random_tree(1 + seed % 3, seed, chain=seed % 2 == 0, prismatic=0.4, friction=False)
    found, model = searched(robot), tf.derive(robot, include=("link", "rotor"))
    assert terms(found.exponents) == terms(model.exponents)
    assert found.n_base == model.n_base
    q, qd, qdd = random_states(robot, 20, seed)
    x = robot.parameters[list(robot.columns(("link", "rotor")))]
    expected = tf.textbook.inverse_dynamics(robot, q, qd, qdd)
    np.testing.assert_allclose(found.inverse_dynamics(q, qd, qdd, x), expected, rtol=0, atol=1e-9 * abs(expected).max())


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["sr6ia", "kr6_r700"])
def test_four_joints(name: str) -> None:
    robot = tf.load(name)
    robot = robot.up_to(robot.links[3].name)
    assert terms(searched(robot).exponents) == terms(tf.derive(robot, include=("link", "rotor")).exponents)


def test_example_5() -> None:
    """Two links: 18 terms, 6 base parameters; a parallelogram in its three active joints, as many as it has."""
    robot = tf.load("two_link")
    links = [robot.parameter_names[k] for k in robot.columns(("link",))]
    found = tf.derive_from(
        lambda q, qd, qdd, x: tf.textbook.regressor(robot, q, qd, qdd, include=("link",)) @ x, "RR", links
    )
    assert (found.n_terms, found.n_base) == (18, 6)
    assert found.reduction.shape == (2, 18, 6)
    loop = tf.load("parallelogram")
    assert searched(loop).n_base == tf.base_parameters(loop, include=("link", "rotor")).n


def test_a_function_of_single_states_will_do() -> None:
    def pendulum(q, qd, qdd, x):
        return [x[0] * float(qdd[0]) + 9.81 * x[1] * np.cos(float(q[0]))]

    found = tf.derive_from(pendulum, "R", ["I", "mx"])
    assert (found.n_terms, found.n_base, found.parameter_names) == (2, 2, ("I", "mx"))
    assert found.inverse_dynamics([0.3], [0.0], [2.0], [1.5, 0.7])[0] == pytest.approx(3.0 + 9.81 * 0.7 * np.cos(0.3))


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (lambda q, qd, qdd, x: q * x[0] ** 2, "not linear in the parameters"),
        (lambda q, qd, qdd, x: qdd * x[0] + 1.0, "not linear in the parameters"),
        (lambda q, qd, qdd, x: np.zeros(5), r"returned shape \(5,\)"),
        (lambda q, qd, qdd, x: np.full_like(q, np.nan), "not finite"),
        (lambda q, qd, qdd, x: np.sin(5 * q) * x[0], "more than products"),
        (lambda q, qd, qdd, x: np.sign(qd) * x[0] + qdd * x[1], "more than products"),
    ],
)
def test_other_functions_are_refused_in_a_sentence(function, sentence: str) -> None:
    with pytest.raises(ModelError, match=sentence) as caught:
        tf.derive_from(function, "RR", 2)
    assert "\n" not in str(caught.value)


def test_joints_are_letters() -> None:
    with pytest.raises(ModelError, match="letters R and P"):
        tf.FunctionSets.of("RX")


def test_sizes_of_the_sets_are_their_lengths() -> None:
    sets = tf.FunctionSets.of("RPR")
    table = sets.table()
    assert table["Upsilon(2)"] == len(sets.upsilon(2))
    assert table["Upsilon(1)"] == len(sets.upsilon(1)) == table["gravity after filters"]
    assert table["A"] == len(sets.accelerations())
    assert table["each acceleration after filters"] == len(sets.upsilon(2, independent=True, without=(0,)))
    assert table["Z(2)"] == len(sets.multipliers(0, 2))
    assert table["D(2)"] == len(sets.multipliers(1, 2))
