"""Joint offsets: a closed form counts from the zeros at which it has the fewest terms."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from tauform.closedform.expansion.estimate import terms_of_first
from tauform.closedform.expansion.offsets import geometric_offsets, in_general_position, with_zeros
from tauform.description.joint import Joint, Link

QUARTER = np.pi / 2
OFFSETS = (0.3, -0.7, 0.4, 0.9)
LINK = {"mass": 2.0, "com": [0.1, -0.05, 0.2], "inertia": [0.3, 0.4, 0.2, 0.01, 0.02, -0.03], "inertia_about": "com"}


def arm(offsets: tuple[float, ...], twists: tuple[float, ...] = (0, QUARTER, -QUARTER, QUARTER)) -> tf.Robot:
    rows = [
        {"joint": "revolute", "a": 0.1 + 0.1 * i, "alpha": twist, "d": 0.3 - 0.05 * i, "theta": offset, **LINK}
        for i, (twist, offset) in enumerate(zip(twists, offsets, strict=True))
    ]
    return tf.Robot.from_dh(rows, "modified", name="arm")


@pytest.fixture(scope="module")
def model() -> tf.ClosedFormModel:
    return tf.derive(arm(OFFSETS))


@pytest.fixture(scope="module")
def states() -> np.ndarray:
    return np.random.default_rng(0).uniform(-3, 3, (3, 20, 4))


def test_offsets_raise_no_number_of_terms(model: tf.ClosedFormModel) -> None:
    without = tf.derive(arm((0.0,) * 4))
    assert (model.n_terms, model.n_base) == (without.n_terms, without.n_base) == (672, 22)
    plain = tf.derive(arm(OFFSETS), absorb_offsets=False)
    assert (plain.n_terms, plain.n_base) == (1067, 22)
    # theta is that of the user's links, whatever zeros the functions are counted from
    np.testing.assert_allclose(model.base.grouping, plain.base.grouping, atol=1e-14)
    np.testing.assert_allclose(model.coordinates.offset, [0, -0.7, 0.4, 0], atol=1e-15)


def test_quarter_turns_and_straight_arms_stay_as_they_are() -> None:
    assert tf.derive(arm((QUARTER, -QUARTER, np.pi, 0.0))).coordinates.is_plain
    assert tf.derive(tf.load("kr6_r700")).coordinates.is_plain


@pytest.mark.parametrize("n", [3, 4])
def test_arms_in_general_position_gain_nothing_that_would_be_worth_a_count(n: int) -> None:
    robot = in_space(n, np.random.default_rng(n))
    assert in_general_position(robot)
    absorbed = with_zeros(robot, np.array(geometric_offsets(robot)))
    assert terms_of_first(absorbed, n) > 0.95 * terms_of_first(robot, n)
    assert tf.derive(robot).coordinates.is_plain
    # One right angle, one axis through another, or one slide, and terms are counted.
    for entries in ({"alpha": QUARTER}, {"d": 0.0}, {"joint": "prismatic"}):
        rows = [{"joint": "revolute", "a": 0.2, "alpha": 0.5, "d": 0.3, "theta": 0.4, **LINK} for _ in range(n)]
        rows[-1] |= entries
        assert not in_general_position(tf.Robot.from_dh(rows, "modified", name="special"))


def in_space(n: int, rng: np.random.Generator) -> tf.Robot:
    """Axes anywhere."""
    placements = np.tile(np.eye(4), (n, 1, 1))
    placements[:, :3, :3] = np.linalg.qr(rng.normal(size=(n, 3, 3)))[0]
    placements[:, :3, :3] *= np.linalg.det(placements[:, :3, :3])[:, None, None]
    placements[:, :3, 3] = rng.uniform(0.1, 0.5, (n, 3))
    joints = tuple(Joint(f"joint{i}", "revolute", i - 1, placement) for i, placement in enumerate(placements))
    links = tuple(Link(f"link{i}", tf.Inertia.of(1.0, inertia_about="com")) for i in range(n))
    return tf.Robot("in space", joints, links, np.array([1.0, -2.0, -9.0]))


def test_every_evaluation_counts_from_the_same_zeros(model: tf.ClosedFormModel, states: np.ndarray) -> None:
    robot = arm(OFFSETS)
    bound, expected = model.bind(robot), tf.textbook.inverse_dynamics(robot, *states)
    np.testing.assert_allclose(bound.textbook.inverse_dynamics(*states), expected, atol=1e-12)
    np.testing.assert_allclose(model.regressor(*states) @ bound.theta, expected, atol=1e-12)
    q, qd, qdd = states
    np.testing.assert_allclose(bound.textbook.coriolis_matrix(q, qd), tf.coriolis_matrix(robot, q, qd), atol=1e-12)
    np.testing.assert_allclose(bound.textbook.forward_dynamics(q, qd, expected), qdd, atol=1e-9)
    np.testing.assert_allclose(bound.breakdown(*states).total, expected, atol=1e-12)


def test_programs_count_from_them_and_are_shorter(model: tf.ClosedFormModel, states: np.ndarray) -> None:
    robot = arm(OFFSETS)
    program = tf.generate(model.bind(robot), "inverse_dynamics", algorithm="factored")
    np.testing.assert_allclose(program(*states), tf.textbook.inverse_dynamics(robot, *states), atol=1e-12)
    plain = tf.derive(robot, absorb_offsets=False).bind(robot)
    assert 1.5 * program.n_operations < tf.generate(plain, algorithm="factored").n_operations


def test_equations_name_the_offsets(model: tf.ClosedFormModel, states: np.ndarray) -> None:
    robot = arm(OFFSETS)
    q, qd, qdd = states[:, 0]
    names = {"sin": np.sin, "cos": np.cos}
    for i in range(4):
        names |= {f"q{i + 1}": q[i], f"s{i + 1}": np.sin(q[i]), f"c{i + 1}": np.cos(q[i])}
        names |= {f"qd{i + 1}": qd[i], f"qdd{i + 1}": qdd[i]}
    lines = model.bind(robot).equations(max_terms=1000)
    assert "cos(q2 - 0.7)" in lines[1]
    tau = [eval(line.split(" = ")[1], names) for line in lines]
    np.testing.assert_allclose(tau, tf.textbook.inverse_dynamics(robot, q, qd, qdd), atol=1e-12)
    assert r"\cos(q_{2} - 0.7)" in model.to_latex(max_terms=1000)
    assert "cos(q2 - 0.7)" in model.bind(robot).contributions("slow", 50).names


def test_files_keep_them_and_the_toolbox_has_none(
    model: tf.ClosedFormModel, states: np.ndarray, tmp_path: Path
) -> None:
    robot = arm(OFFSETS)
    model.save(tmp_path / "model.npz")
    read = tf.load_model(tmp_path / "model.npz").bind(robot)
    np.testing.assert_array_equal(
        read.textbook.inverse_dynamics(*states), model.bind(robot).textbook.inverse_dynamics(*states)
    )
    with pytest.raises(tf.errors.ModelError, match=r"functions of q plus offsets.*absorb_offsets=False"):
        model.bind(robot).save_mat(tmp_path / "model.mat")
    assert not (tmp_path / "model.mat").exists()
    tf.derive(robot, absorb_offsets=False).bind(robot).save_mat(tmp_path / "model.mat")


def test_models_with_offsets_are_reduced(model: tf.ClosedFormModel) -> None:
    bound = model.bind(arm(OFFSETS))
    smaller = bound.with_terms(300, "slow")
    assert not smaller.coordinates.is_plain
    states = tf.Profile.slow(4).sample(50, np.random.default_rng(0))[:3]
    exact = bound.inverse_dynamics(*states)
    assert np.abs(smaller.inverse_dynamics(*states) - exact).max() < 0.1 * np.abs(exact).max()


@pytest.mark.parametrize(("kinds", "seed"), [("RRPR", 3), ("PRRR", 1), ("RRRP", 2)])
def test_random_arms_agree_with_the_textbook(kinds: str, seed: int) -> None:
    robot = tf.random_robot(kinds, seed)
    states = np.random.default_rng(seed).uniform(-2, 2, (3, 10, len(kinds)))
    expected = tf.textbook.inverse_dynamics(robot, *states)
    found = tf.derive(robot).bind(robot).textbook.inverse_dynamics(*states)
    np.testing.assert_allclose(found, expected, atol=1e-11 * np.abs(expected).max())
