"""The freedom that programs use: frames and the regrouping of parameters may change, torques may not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tauform as tf
from codegen.tracing_cases import random_choice, robot_named
from random_robots import random_states, random_tree
from tauform.arrays import Array
from tauform.codegen.functions import FUNCTIONS
from tauform.codegen.minimal.bodies import HX, HY, Bodies, scaled, shifted, to_second_moments, turned, turned_by_load
from tauform.codegen.minimal.composite import composites, gravity_torque, mass_matrix
from tauform.codegen.minimal.equivalence import null_vectors, shifted_null_vectors
from tauform.codegen.minimal.newton_euler import trace
from tauform.codegen.minimal.problem import PayloadBinding, problem_of
from tauform.codegen.minimal.regrouping import Freedom
from tauform.codegen.minimal.search import FrameSearch, Prices, cheapest
from tauform.codegen.minimal.steps import Steps
from tauform.codegen.minimal.straighten import straightened
from tauform.codegen.minimal.tracing import Graphs, operations, traced
from tauform.codegen.program.graph import Graph, references
from tauform.codegen.program.lower import lower
from tauform.description.robot import Robot
from tauform.rigidbody.regressor import regressor

SHAPES = [(5, 2, True), (6, 4, False), (6, 5, False)]  # joints, seed, chain
robots = pytest.mark.parametrize("robot", [random_tree(n, s, chain=c, friction=False) for n, s, c in SHAPES], ids=str)


def bodies_of(robot: Robot) -> Bodies:
    """The bodies in the robot's own frames."""
    links, joints = (part(robot.parameters)[..., None] for part in (robot.layout.by_link, robot.layout.by_joint))
    return Bodies.of(robot.tree, links, joints[:, 0])


def search_of(robot: Robot) -> FrameSearch:
    """Moves of the bodies in the robot's own frames."""
    return FrameSearch(bodies_of(robot), null_vectors(bodies_of(robot)))


def torques(bodies: Bodies, states: Array, summed: frozenset[int] = frozenset()) -> Array:
    """Newton-Euler of the bodies, traced and interpreted."""
    graph = Graph()
    q, qd, qdd = (graph.input(name, bodies.n) for name in ("q", "qd", "qdd"))
    ready = replace(bodies, parameters=bodies.parameters[..., 0].astype(object))
    tau: Array = lower(graph, "tau", {"tau": trace(ready, q, qd, qdd, summed)})(*states)
    return tau


def assert_same(found: Array, expected: Array) -> None:
    assert np.abs(found - expected).max() < 1e-12 * np.abs(expected).max()


@robots
def test_bodies_have_the_robots_torques(robot: Robot) -> None:
    states = random_states(robot, 5, seed=0)
    assert_same(torques(bodies_of(robot), states), tf.inverse_dynamics(robot, *states))


@robots
def test_an_origin_may_slide_along_its_axis(robot: Robot) -> None:
    states, rng = random_states(robot, 5, seed=0), np.random.default_rng(1)
    moved = bodies_of(robot)
    for i in range(robot.n_bodies):
        moved = shifted(moved, i, rng.normal())
    assert_same(torques(moved, states), tf.inverse_dynamics(robot, *states))


@robots
def test_a_frame_may_turn_about_its_axis(robot: Robot) -> None:
    states = random_states(robot, 5, seed=0)
    moved = bodies_of(robot)
    for i in range(robot.n_bodies):
        moved = turned(moved, i, 0.7 + i)
    assert_same(torques(moved, states), tf.inverse_dynamics(robot, *states))


@robots
def test_straight_frames_need_one_angle_for_the_first_joint_that_a_body_carries(robot: Robot) -> None:
    states = random_states(robot, 5, seed=0)
    straight = straightened(bodies_of(robot))
    assert_same(torques(straight, states), tf.inverse_dynamics(robot, *states))
    first = [i for i, parent in enumerate(straight.parents) if parent not in straight.parents[:i]]
    assert len(first) > 2
    for i in filter(straight.turns, first):
        assert np.count_nonzero(straight.X[i]) <= 5
        np.testing.assert_allclose(straight.X[i] @ straight.X[i].T, np.eye(3), rtol=0, atol=1e-15)


@robots
def test_any_length_may_be_the_unit(robot: Robot) -> None:
    states = random_states(robot, 5, seed=0)
    assert_same(torques(scaled(bodies_of(robot), 0.37), states), tf.inverse_dynamics(robot, *states))


@robots
def test_booking_changes_parameters_but_no_torque(robot: Robot) -> None:
    states, rng = random_states(robot, 5, seed=0), np.random.default_rng(2)
    bodies = bodies_of(robot)
    freedom = Freedom(null_vectors(bodies))
    for _ in range(3):
        order = rng.permutation(bodies.parameters.shape[0] * bodies.parameters.shape[1]).tolist()
        parameters = freedom.regrouped(bodies.parameters, order)
        assert_same(torques(replace(bodies, parameters=parameters), states), tf.inverse_dynamics(robot, *states))


@robots
def test_booking_leaves_as_many_parameters_as_there_are_base_parameters(robot: Robot) -> None:
    with_all_rotors = replace(
        robot, joints=tuple(replace(j, rotor_inertia=0.1 + 0.1 * k) for k, j in enumerate(robot.joints))
    )
    bodies = bodies_of(with_all_rotors)
    null = null_vectors(bodies)
    parameters = Freedom(null).regrouped(bodies.parameters, FrameSearch(bodies, null).start().order)
    base = tf.base_parameters(with_all_rotors, include=("link", "rotor"))
    assert np.count_nonzero(parameters) == len(base.names)


@robots
def test_null_vectors_are_in_the_null_space_of_the_regressor(robot: Robot) -> None:
    """Changes of a body's ten parameters and rotor that no torque shows, by the textbook regressor."""
    bodies, n = bodies_of(robot), robot.n_bodies
    Y = regressor(robot, *random_states(robot, 20, seed=3)).reshape(-1, robot.layout.n)
    for vector in null_vectors(bodies).reshape(-1, n, 11):
        ten = vector[:, :10] @ np.linalg.inv(to_second_moments()).T
        four = np.zeros((n, 4))
        four[:, 0] = vector[:, 10]
        change = np.concatenate([ten.ravel(), four.ravel()])
        assert np.abs(Y @ change).max() < 1e-11 * np.abs(Y).max() * np.abs(change).max()


@robots
def test_null_vectors_of_shifted_frames_follow_from_those_before(robot: Robot) -> None:
    """Both span the same: every vector of one kind is a sum of the other kind."""
    search, rng = search_of(robot), np.random.default_rng(6)
    shifts = rng.uniform(0.1, 0.5, robot.n_bodies).tolist()
    bodies = search.bodies
    for i, shift in enumerate(shifts):
        bodies = shifted(bodies, i, shift)
    moved, fresh = shifted_null_vectors(search.null, bodies, shifts), null_vectors(bodies)
    rank = np.linalg.matrix_rank(fresh, tol=1e-9)
    assert np.linalg.matrix_rank(moved, tol=1e-9) == rank
    assert np.linalg.matrix_rank(np.concatenate([moved, fresh]), tol=1e-9) == rank


TREE = random_tree(4, seed=1, chain=False, prismatic=0.25, friction=True)


@pytest.mark.parametrize("robot", [TREE, robot_named("parallelogram")], ids=str)
@pytest.mark.parametrize(
    ("name", "algorithm"),
    [("inverse_dynamics", "newton_euler"), ("gravity_torque", "newton_euler"), ("mass_matrix", "composite_trace")],
)
@pytest.mark.parametrize("payload", ["baked", "runtime"])
def test_a_candidate_on_a_graph_of_others_is_traced_as_on_its_own(
    robot: Robot, name: str, algorithm: str, payload: PayloadBinding
) -> None:
    """Node by node; and what it costs is what its program costs, but for the signs of results."""
    problem, function = problem_of(robot, payload=payload), FUNCTIONS[name]
    way, graphs, rng = function.algorithms[algorithm], Graphs(), np.random.default_rng(4)
    search = replace(problem.search, sums_angles=way.sums_angles)
    choice = random_choice(search, rng)
    moves = list(search.neighbours(choice))
    turns = [replace(choice, turned=frozenset(turned)) for turned in ((), search.turnable(), ())]
    for near in (*turns, *(moves[k] for k in rng.permutation(len(moves))[:15])):
        bodies, shapes = search.candidate(near), function.inputs(robot)
        text, apart, together = (
            traced(problem, near, bodies, shapes, way.trace, opaque=True, steps=steps)
            for steps in (None, Steps(Graph(), only_counted=True), graphs.of(near))
        )
        results = [references(graph, np.ravel(*outputs.values()).tolist()) for graph, outputs in (apart, together)]
        assert results[0] == results[1]
        assert together[0].nodes[: len(apart[0].nodes)] == apart[0].nodes
        assert operations(*apart) == operations(*together)
        (products, sums), (written, added) = operations(*together), operations(*text)
        assert products == written
        assert abs(sums - added) <= len(results[0])


@robots
def test_random_moves_together_leave_every_result_as_it_is(robot: Robot) -> None:
    states = random_states(robot, 5, seed=0)
    search, rng = search_of(robot), np.random.default_rng(5)
    for _ in range(3):
        choice = random_choice(search, rng)
        bodies = search.realised(choice)
        assert_same(torques(bodies, states, choice.summed), tf.inverse_dynamics(robot, *states))


def test_parallel_joints_may_turn_by_the_sum_of_their_angles() -> None:
    robot = tf.planar_chain(4)
    states = random_states(robot, 5, seed=0)
    for summed in ({1}, {2}, {1, 2}, {1, 2, 3}):
        found = torques(bodies_of(robot), states, frozenset(summed))
        assert_same(found, tf.inverse_dynamics(robot, *states))


@robots
@pytest.mark.parametrize("by_trace", [False, True])
def test_composites_give_mass_matrix_and_gravity(robot: Robot, by_trace: bool) -> None:
    for unit in (1.0, 0.37):
        bodies = scaled(bodies_of(robot), unit)
        graph = Graph()
        q = graph.input("q", bodies.n)
        ready = replace(bodies, parameters=bodies.parameters[..., 0].astype(object))
        carried = composites(ready, q)
        outputs = {"M": mass_matrix(ready, q, carried, by_trace), "g": gravity_torque(ready, q, carried)}
        at = random_states(robot, 5, seed=0)[0]
        M, g = lower(graph, "p", outputs)(at)
        assert_same(M, tf.mass_matrix(robot, at))
        assert_same(g, tf.gravity_torque(robot, at))


def test_a_frame_turned_by_its_load_has_no_first_moment_across() -> None:
    robot = random_tree(3, seed=0, chain=True, prismatic=0.0, friction=False)
    problem = problem_of(robot, payload="runtime")
    graph = Graph()
    q, qd, qdd = (graph.input(name, 3) for name in ("q", "qd", "qdd"))
    load = graph.input("payload", 10, shared=True)
    bodies = problem.bodies.with_scalars(load)
    parameters, offsets = bodies.parameters.copy(), bodies.offsets.astype(object)
    parameters[2], offsets[2] = turned_by_load(parameters[2].tolist(), offsets[2])
    assert parameters[2, HY] == 0.0
    bodies = replace(bodies, parameters=parameters, offsets=offsets)
    program = lower(graph, "p", {"tau": trace(bodies, q, qd, qdd), "hx": [bodies.parameters[2, HX]]})
    states, carried = random_states(robot, 5, seed=0), tf.Inertia.of(1.5, [0.1, -0.2, 0.3], inertia_about="com")
    tau, hx = program(*states, carried.parameters)
    assert_same(tau, tf.inverse_dynamics(robot.with_payload(carried), *states))
    assert (hx > 0).all()


@pytest.mark.parametrize("name", ["two_link", "sr6ia"])
def test_search_is_deterministic_and_never_worse_than_its_start(name: str) -> None:
    first, second = (tf.generate(tf.load(name)) for _ in range(2))
    assert first.instructions == second.instructions
    assert first.results == second.results

    search = search_of(tf.load(name))
    tried: list[int] = []

    def cost(choice: object, bodies: Bodies) -> tuple[int, int]:
        tried.append(int(np.count_nonzero(bodies.parameters) + np.count_nonzero(bodies.P)))
        return tried[-1], 0

    _, bodies = cheapest(search, Prices(cost), budget=60)
    assert np.count_nonzero(bodies.parameters) + np.count_nonzero(bodies.P) == min(tried)
    assert len(tried) <= 61


def test_axes_that_are_almost_aligned_are_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Angles of 1e-11 rad are no rounding, however little torques show them, and the search keeps them."""
    monkeypatch.setattr("tauform.codegen.runtime.programs.ENABLED", False)
    robot, s = tf.load("kr6_r700"), 1e-11
    turn = np.array([[1.0, -s, s, 0.0], [s, 1.0, -s, 0.0], [-s, s, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
    joints = tuple(replace(joint, parent_from_joint=joint.parent_from_joint @ turn) for joint in robot.joints)
    program = tf.generate(replace(robot, joints=joints), "gravity_torque")
    assert program.certificate is not None
    assert program.certificate.error < 1e-13
    assert not [c for c in program.candidates if c.remark == "loses too many digits"]
