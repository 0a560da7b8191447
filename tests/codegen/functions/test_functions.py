"""The contract of generated functions: every algorithm, on every robot, at any choice of frames, is the textbook."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import cycle

import numpy as np
import pytest

import tauform as tf
from codegen.tracing_cases import (
    ROBOTS,
    SMALL,
    evaluated,
    listed,
    random_choice,
    robot_named,
    states,
    whole_torque,
)
from sampling import in_turns, representatives
from tauform.codegen.certificate import relative_error
from tauform.codegen.factored.model_program import FACTORABLE, verified
from tauform.codegen.functions import FUNCTIONS
from tauform.codegen.minimal.problem import Parameters, PayloadBinding, problem_of
from tauform.codegen.program.program import Op, Program
from tauform.errors import GenerationError, UnknownNameError

CASES = [
    (name, algorithm, robot)
    for name, function in FUNCTIONS.items()
    for algorithm in function.algorithms
    for robot in ROBOTS
]
# Slides and branches, a loop, friction, parts of the torque that vanish; torques are tried on every robot.
KINDS = ("tree", "parallelogram", "puma260_izaguirre", "PP1")
WAYS = sorted({case[:2] for case in CASES})
TURNS = {(*way, kind) for way, kind in zip(WAYS, cycle(KINDS), strict=False)}
KEPT = [case for case in CASES if case[0] == "inverse_dynamics" or case in TURNS]
# Torques determine accelerations up to the condition of the mass matrix.
TOLERANCE = {name: max(function.tolerance, 1e-11) for name, function in FUNCTIONS.items()}


def usable(name: str, algorithm: str, robot: tf.Robot) -> bool:
    return robot.closure is None or FUNCTIONS[name].algorithms[algorithm].with_loops


@pytest.mark.parametrize("case", representatives(CASES, *KEPT), ids="-".join)
def test_every_algorithm_is_the_textbook_function(case: tuple[str, str, str]) -> None:
    name, algorithm, robot_name = case
    robot, function = robot_named(robot_name), FUNCTIONS[name]
    if not usable(name, algorithm, robot):
        with pytest.raises(UnknownNameError, match="does not exist for"):
            tf.generate(robot, name, algorithm=algorithm)
        return
    problem, way = problem_of(robot), function.algorithms[algorithm]
    search = replace(problem.search, any_unit=way.any_unit, sums_angles=way.sums_angles)
    choice = random_choice(search, np.random.default_rng(len(name))) if way.moves_frames else None
    arrays = states(function, robot)
    found = evaluated(function, algorithm, problem, choice, arrays)
    for ours, textbook in zip(found, listed(function.reference(robot, *arrays)), strict=True):
        assert ours.shape == textbook.shape
        assert relative_error(ours, textbook, whole=whole_torque(function, robot)) < TOLERANCE[name]


@pytest.mark.parametrize(("name", "robot_name"), in_turns(FUNCTIONS, SMALL))
def test_the_smallest_robots_have_every_function(name: str, robot_name: str) -> None:
    certificate = tf.generate(robot_named(robot_name), name).certificate
    assert certificate is not None
    assert certificate.tolerance == FUNCTIONS[name].tolerance


@pytest.mark.parametrize(("name", "robot_name"), in_turns(sorted(FACTORABLE), ["P4", "PR1", "PRP1"]))
def test_factored_programs_of_slides_with_an_offset_are_the_textbook_function(name: str, robot_name: str) -> None:
    robot, function = robot_named(robot_name), FUNCTIONS[name]
    arrays = states(function, robot)
    found = tf.generate(robot, name, algorithm="factored")(*arrays)
    expected = function.reference(robot, *arrays)
    assert relative_error(found, expected, whole=whole_torque(function, robot)) < TOLERANCE[name]


def test_parts_of_the_torque_that_a_robot_does_not_have_are_measured_against_the_whole() -> None:
    rounding, other = np.full((5, 1), 1e-15), np.full((5, 1), -1e-15)
    assert relative_error(rounding, other) == 2.0
    assert relative_error(rounding, other, whole=2.0) == 1e-15
    # whatever is more than rounding is measured against itself
    assert relative_error(1.01 * rounding, rounding, whole=1e-4) == pytest.approx(0.01)


def test_a_candidate_that_fails_drops_out() -> None:
    program = tf.generate(robot_named("two_link"), "gravity_torque")

    def fails() -> Program:
        raise GenerationError("too long")

    assert verified([fails, lambda: program]) == [program]
    with pytest.raises(GenerationError, match="too long"):
        verified([fails, fails])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_generated_programs_carry_ports_candidates_and_certificate(name: str) -> None:
    robot, function = robot_named("two_link"), FUNCTIONS[name]
    if name == "friction":
        robot = robot_named("puma260_izaguirre")
    program = tf.generate(robot, name)
    assert {port.name: port.shape for port in program.inputs} == function.inputs(robot)
    assert {candidate.algorithm for candidate in program.candidates} >= set(function.algorithms)
    chosen = [candidate for candidate in program.candidates if candidate.chosen]
    assert len(chosen) == 1
    assert chosen[0].algorithm == program.algorithm
    assert (chosen[0].n_multiplications, chosen[0].n_additions) == (program.n_multiplications, program.n_additions)
    assert all(c.n_multiplications + c.n_additions >= program.n_operations for c in program.candidates)
    assert program.certificate is not None
    assert program.certificate.error <= program.certificate.tolerance == function.tolerance
    assert program.robot == robot.name


RUNTIME: list[tuple[Parameters, PayloadBinding]] = [("runtime", "baked"), ("baked", "runtime"), ("runtime", "runtime")]


def changed(robot: tf.Robot) -> tf.Robot:
    """The same geometry with other masses, rotors and friction."""
    rng = np.random.default_rng(7)
    parameters = robot.parameters.copy()
    n = robot.n_bodies
    # a physical body stays one when its parameters are scaled together
    parameters[robot.layout.links] *= np.repeat(rng.uniform(0.5, 2.0, n), 10)
    parameters[robot.layout.drives] *= rng.uniform(0.5, 2.0, 4 * n)
    return robot.with_parameters(parameters)


@pytest.mark.parametrize(
    ("robot_name", "kinds"), in_turns(["puma260_izaguirre", "parallelogram", "small_tree"], RUNTIME)
)
def test_runtime_parameters_describe_another_robot(robot_name: str, kinds: tuple[Parameters, PayloadBinding]) -> None:
    (parameters, payload), robot = kinds, robot_named(robot_name)
    program = tf.generate(robot, "bias_torque", parameters=parameters, payload=payload)
    assert program.setup is not None
    assert [port.name for port in program.setup.inputs] == [
        name for name, kind in (("theta", parameters), ("payload", payload)) if kind == "runtime"
    ]
    other, values = robot, []
    if parameters == "runtime":
        other = changed(robot)
        values.append(theta_of(other, program.about.entries["theta"]))
    if payload == "runtime":
        load = tf.Inertia.of(0.8, [0.05, -0.02, 0.1], np.diag([2e-3, 3e-3, 4e-3]), inertia_about="com")
        other = other.with_payload(load)
        values.append(load.parameters)
    function = FUNCTIONS["bias_torque"]
    arrays = states(function, robot)
    found = program(*arrays, program.setup(*values))
    assert relative_error(found, function.reference(other, *arrays)) < 1e-11


def theta_of(robot: tf.Robot, names: Sequence[str]) -> np.ndarray:
    """Values by name: base parameters of links and rotors, and friction as it stands."""
    base = tf.base_parameters(robot)
    values = dict(zip(robot.parameter_names, robot.parameters, strict=True))
    values |= dict(zip(base.names, base.grouping @ robot.parameters, strict=True))
    assert {*base.names} <= {*names}
    return np.array([values[name] for name in names])


@pytest.mark.parametrize("name", ["inverse_dynamics", "mass_matrix", "forward_dynamics", "friction", "coriolis_matrix"])
def test_runtime_parameters_reach_every_kind_of_function(name: str) -> None:
    robot = three_joints()
    other, function = changed(robot), FUNCTIONS[name]
    program = tf.generate(robot, name, parameters="runtime")
    assert program.setup is not None
    arrays = states(function, robot)
    found = program(*arrays, program.setup(theta_of(other, program.about.entries["theta"])))
    assert relative_error(found, function.reference(other, *arrays)) < TOLERANCE[name]


def three_joints() -> tf.Robot:
    """The first joints of an arm with friction."""
    robot = robot_named("puma260_izaguirre")
    return robot.locked(dict.fromkeys(robot.joint_names[3:], 0.3))


def test_one_pair_of_sine_and_cosine_for_each_joint() -> None:
    program = tf.generate(robot_named("two_link"), "inverse_dynamics")
    assert program.count(Op.SIN) == program.count(Op.COS) == 2


def test_theta_is_that_of_base_parameters_with_all_declared_friction() -> None:
    robot = three_joints()
    program = tf.generate(robot, "gravity_torque", parameters="runtime")
    base = tf.base_parameters(robot, include=("link", "rotor", "viscous", "coulomb"))
    assert program.about.entries["theta"] == base.names
