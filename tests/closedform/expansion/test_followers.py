"""Closed forms of robots whose joints follow others linearly: mimic joints, parallelograms."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from pinocchio_oracle import model_of, pin
from random_drives import random_temperatures, with_random_drives
from random_robots import random_tree
from sampling import representatives
from tauform.description.robot import Robot
from tauform.errors import ModelError, ShapeError, UnknownNameError

# Rows follow the first and the third joint: by a half, the other way round, twice one less another, by itself.
RATIOS = np.array([[1.0, 0.0], [0.5, 0.0], [0.0, 1.0], [2.0, -1.0], [-1.0, 1.0]])
OFFSETS = np.array([0.0, 0.3, 0.0, -0.2, np.pi / 2])
INCLUDE = ("link", "rotor")


def tied(tree: Robot) -> Robot:
    return tree.with_loops(RATIOS, OFFSETS, [tree.joint_names[j] for j in (0, 2)])


@pytest.mark.parametrize("seed", representatives(range(8), 1, 4))
def test_torques_are_pinocchios_on_random_trees(seed: int) -> None:
    """Turning and sliding joints, branches, friction; tau = F^T (rnea + friction)(F q + offset, F qd, F qdd)."""
    pair = model_of(random_tree(5, seed=seed))
    robot = tied(pair.robot)
    bound = tf.derive(robot, include="declared").bind(robot)
    carried = tf.derive(robot, include=INCLUDE).bind(robot)
    q, qd, qdd = np.random.default_rng(seed).uniform(-1, 1, (3, 4, 2))
    tau, same = (own.textbook.inverse_dynamics(q, qd, qdd) for own in (bound, carried))
    _, viscous, coulomb, offset = np.array([joint.parameters for joint in robot.joints]).T
    for k in range(len(q)):
        full = RATIOS @ q[k] + OFFSETS, RATIOS @ qd[k], RATIOS @ qdd[k]
        theirs = pin.rnea(pair.model, pair.data, pair.theirs(full[0]), *(pair.theirs_v(x) for x in full[1:]))
        friction = viscous * full[1] + coulomb * np.sign(full[1]) + offset
        expected = RATIOS.T @ (theirs[pair.order] + friction)
        for found in (tau[k], same[k], bound.model.regressor(q[k], qd[k], qdd[k]) @ bound.theta):
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10 * np.abs(theirs).max())


@pytest.mark.parametrize("seed", representatives(range(8), 1, 2))
def test_base_parameters_are_those_of_sampled_torques(seed: int) -> None:
    robot = tied(random_tree(5, seed=seed))
    model, sampled = tf.derive(robot, include="declared"), tf.base_parameters(robot, include="declared")
    assert model.base.names == sampled.names == tf.base_parameters(robot, "qr", "closed_form", "declared").names
    expected = sampled.values(robot)
    np.testing.assert_allclose(model.theta(robot), expected, rtol=0, atol=1e-9 * np.abs(expected).max())


def test_a_joint_that_is_fixed_holds_its_followers() -> None:
    """Vectors keep their length, and what is given of the fixed joint is not read; programs too."""
    robot = tied(random_tree(5, seed=2, prismatic=0))
    model = tf.derive(robot, include="declared", fixed={robot.joint_names[0]: 0.7})
    bound, states = model.bind(robot), np.random.default_rng(0).uniform(-1, 1, (3, 6, 2))
    held = np.array(states)
    held[0, :, 0], held[1:, :, 0] = 0.7, 0.0
    expected = tf.textbook.inverse_dynamics(robot, *held)
    carried = tf.derive(robot, include=INCLUDE, fixed=model.fixed).bind(robot)
    for algorithm in ("factored", "recursive"):
        kernel = tf.compile(tf.generate(bound, algorithm=algorithm))
        np.testing.assert_allclose(kernel(*states), expected, rtol=0, atol=1e-11 * np.abs(expected).max())
    for own in (bound, carried):
        found = own.textbook.inverse_dynamics(*states)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11 * np.abs(expected).max())
    whole = tf.derive(robot, include="declared")
    assert model.n_base < whole.n_base
    assert model.n_terms < whole.n_terms


def test_what_is_assumed_of_links_that_follow() -> None:
    robot = tied(random_tree(5, seed=3))
    assume = {"mx_5": 0, "my_5": 0, "mz_5": 0, "Ixx_4": {"Iyy_4": 1.0}}
    values = dict(zip(robot.parameter_names, robot.parameters.tolist(), strict=True))
    values |= {"mx_5": 0.0, "my_5": 0.0, "mz_5": 0.0, "Ixx_4": values["Iyy_4"]}
    fitting = robot.with_parameters([values[name] for name in robot.parameter_names])
    model = tf.derive(robot, assume=assume, include="declared")
    assert model.n_base < tf.derive(robot, include="declared").n_base
    states = np.random.default_rng(0).uniform(-1, 1, (3, 6, 2))
    expected = tf.textbook.inverse_dynamics(fitting, *states)
    found = model.bind(fitting).textbook.inverse_dynamics(*states)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11 * np.abs(expected).max())


def test_kinematics_and_files_keep_what_follows(tmp_path: Path) -> None:
    robot = tied(random_tree(5, seed=4))
    model = tf.derive(robot, include="declared")
    model.save(tmp_path / "model.npz")
    read = tf.load_model(tmp_path / "model.npz")
    states = np.random.default_rng(0).uniform(-1, 1, (3, 6, 2))
    np.testing.assert_array_equal(read.regressor(*states), model.regressor(*states))
    np.testing.assert_array_equal(read.bind(robot).theta, model.bind(robot).theta)
    expected = tf.textbook.inverse_dynamics(robot, *states)
    found = read.bind(robot).as_robot()
    np.testing.assert_allclose(
        tf.textbook.inverse_dynamics(found, *states), expected, rtol=0, atol=1e-10 * np.abs(expected).max()
    )
    for frame in (None, robot.links[3].name):
        closed = model.kinematics(frame)
        place = {} if frame is None else {"frame": frame}
        np.testing.assert_allclose(
            closed.forward_kinematics(states[0]), tf.forward_kinematics(robot, states[0], **place), atol=1e-12
        )
        np.testing.assert_allclose(closed.jacobian(states[0]), tf.jacobian(robot, states[0], **place), atol=1e-12)


def test_equations_and_programs_with_run_time_theta() -> None:
    pytest.importorskip("sympy")
    robot = tf.load("parallelogram")
    rubbing = robot.with_parameters(robot.parameters + np.isin(range(robot.layout.n), robot.layout.friction) * 0.3)
    model = tf.derive(rubbing, include="declared")
    bound, states = model.bind(rubbing), np.random.default_rng(0).uniform(-1, 1, (3, robot.n_joints))
    expected = tf.textbook.inverse_dynamics(rubbing, *states)
    close = partial(np.testing.assert_allclose, rtol=0, atol=1e-11 * np.abs(expected).max())
    names = {f"{x}{i + 1}": v for x, own in zip(("q", "qd", "qdd"), states, strict=True) for i, v in enumerate(own)}
    names |= {f"s{i + 1}": np.sin(v) for i, v in enumerate(states[0])} | {"sin": np.sin, "cos": np.cos}
    names |= {f"c{i + 1}": np.cos(v) for i, v in enumerate(states[0])} | {"sign": np.sign}
    theta = dict(zip(model.base.names, bound.theta.tolist(), strict=True))
    for own in (bound, model):
        close([eval(line.split(" = ")[1], {**names, **theta}) for line in own.equations()], expected)
        given = [*states, bound.theta][: 3 if own is bound else 4]
        close(np.ravel(tf.to_sympy(own).lambdify()(*given)[0]), expected)
    program = tf.generate(model, parameters="runtime")
    close(tf.compile(program)(*states, bound.theta), expected)
    close(tf.compile(tf.generate(model, "regressor"))(*states) @ bound.theta, expected)
    assert model.echelon().P.shape == (3, model.n_terms, model.n_base)


def test_drive_terms_beside_theta_and_reductions() -> None:
    """Springs, friction of every shape, loads and temperatures on a loop; terms left out within a tolerance."""
    tree = random_tree(4, seed=5, prismatic=0.0)
    names = tree.joint_names
    robot = with_random_drives(tree.with_relations({names[3]: {names[1]: -1.5, names[2]: 0.5, "": 0.2}}), 1)
    bound = tf.derive(robot).bind(robot)
    states, warm = np.random.default_rng(0).uniform(-1, 1, (3, 6, 3)), random_temperatures(robot, 6, 0)
    expected = tf.textbook.inverse_dynamics(robot, *states, warm)
    size = np.abs(expected).max()
    np.testing.assert_allclose(bound.textbook.inverse_dynamics(*states, warm), expected, rtol=0, atol=1e-11 * size)
    accelerations = bound.textbook.forward_dynamics(*states[:2], expected, warm)
    np.testing.assert_allclose(accelerations, states[2], rtol=0, atol=1e-8)
    kernel = tf.compile(tf.generate(bound, algorithm="factored"))
    np.testing.assert_allclose(kernel(*states, warm), expected, rtol=0, atol=1e-11 * size)
    simple = tf.load("parallelogram")
    found = tf.derive(simple).bind(simple).reduce("slow", 0.05, 0.95, routes=("terms",), n_fresh=2000)
    assert found.bound.n_terms < tf.derive(simple).n_terms


@pytest.mark.parametrize("name", ["parallelogram", "hitachi_hpr_gautier"])
def test_all_quantities_and_programs_are_the_robots(name: str) -> None:
    robot = tf.load(name).rigid
    model = tf.derive(robot, include=INCLUDE)
    assert model.n_base == tf.base_parameters(robot, include=INCLUDE).n
    bound, states = model.bind(robot), np.random.default_rng(0).uniform(-1, 1, (3, 6, robot.n_joints))
    functions = {
        "inverse_dynamics": 3,
        "mass_matrix": 1,
        "coriolis_matrix": 2,
        "gravity_torque": 1,
        "forward_dynamics": 3,
    }
    for function, n_arguments in functions.items():
        expected = getattr(tf.textbook, function)(robot, *states[:n_arguments])
        found = getattr(bound.textbook, function)(*states[:n_arguments])
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-11 * np.abs(expected).max())
    # A program compares itself with the model before it is handed out; here with the robot.
    expected = tf.textbook.inverse_dynamics(robot, *states)
    for source in (bound, robot):
        kernel = tf.compile(tf.generate(source, algorithm="factored"))
        np.testing.assert_allclose(kernel(*states), expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def test_the_search_finds_as_many_terms() -> None:
    robot = tf.load("parallelogram").rigid
    columns = list(robot.columns(INCLUDE))

    def torque(q, qd, qdd, x):
        return tf.textbook.regressor(robot, q, qd, qdd, include=INCLUDE) @ x

    searched, model = tf.derive_from(torque, "RRR", len(columns)), tf.derive(robot, include=INCLUDE)
    assert (model.n_terms, model.n_base) == (searched.n_terms, searched.n_base)


def test_a_joint_that_follows_by_a_fraction_counts_in_it() -> None:
    robot = tied(random_tree(5, seed=1, friction=False, prismatic=0).rigid)
    model = tf.derive(robot, include=INCLUDE)
    np.testing.assert_array_equal(model.coordinates.scale, [0.5, 1.0])
    load = tf.Inertia.of(2.0, [0.1, 0.02, 0.03], np.diag([0.1, 0.1, 0.1]), inertia_about="com")
    states = np.random.default_rng(0).uniform(-1, 1, (3, 2))
    expected = tf.textbook.inverse_dynamics(robot.with_payload(load), *states)
    found = model.bind(robot, payload=load).textbook.inverse_dynamics(*states)
    np.testing.assert_allclose(found, expected, rtol=1e-10)
    smaller = model.bind(robot).with_terms(30, "slow")
    assert smaller.n_terms < model.n_terms
    with pytest.raises(ModelError, match=r"fractions of an angle.*target='matlab'"):
        smaller.save_mat("model.mat")


def following(seed: int, *turns: float) -> Robot:
    tree = random_tree(1 + len(turns), seed=seed, chain=True, prismatic=0.1)
    first, *others = tree.joint_names
    return tree.with_relations({name: {first: ratio} for name, ratio in zip(others, turns, strict=True)})


@pytest.mark.parametrize("seed", representatives(range(24), 0, 7))
def test_what_is_derived_keeps_its_digits(seed: int) -> None:
    """Powers of cosines of many turns cancel."""
    rng = np.random.default_rng(seed)
    robot = following(seed, *rng.integers(-8, 9, 2).astype(float).tolist())
    states = rng.uniform(-3, 3, (3, 20, 1))
    expected = tf.textbook.inverse_dynamics(robot, *states)
    with suppress(ModelError):
        found = tf.derive(robot).bind(robot).textbook.inverse_dynamics(*states)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10 * np.abs(expected).max())


def test_a_robot_whose_terms_would_lose_digits_is_refused() -> None:
    robot = following(1, 8.0, 8.0)
    for refused in (
        lambda: tf.derive(robot),
        lambda: tf.base_parameters(robot, source="closed_form"),
        lambda: tf.reduce(robot, "slow", 0.2, 0.9, n_fresh=500, routes=("terms",)),
    ):
        with pytest.raises(ModelError, match=r"so many turns that products of 32 functions lose .* of a column"):
            refused()
    # Reductions take the routes that there are.
    found = tf.reduce(robot, "slow", 0.2, 0.9, n_fresh=500, routes=("terms", "parameters", "velocity"))
    assert [c.name for c in found.candidates] == ["exact", "parameters", "velocity"]


def test_what_is_not_derived_is_one_sentence() -> None:
    robot = tf.load("parallelogram")
    with pytest.raises(ModelError, match="loops that are not linear in q"):
        tf.derive(tf.load("four_bar"))
    with pytest.raises(UnknownNameError, match="fixed: joint"):
        tf.derive(robot, fixed={"follower": 0.1})
    tree = random_tree(3, seed=1, friction=False, prismatic=0)
    odd = tree.with_loops([[1, 0], [np.sqrt(2), 0], [0, 1]], np.zeros(3), [tree.joint_names[j] for j in (0, 2)])
    with pytest.raises(ModelError, match="no fractions"):
        tf.derive(odd)
    with pytest.raises(ShapeError, match="friction: expected"):
        tf.derive(robot).bind(robot, friction=np.ones((3, 3)))
