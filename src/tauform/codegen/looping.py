"""Loops over bodies: programs of robots with so many joints that a straight line would be too long."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from tauform.codegen.certificate import checked
from tauform.codegen.conventions import conventions
from tauform.codegen.functions import Function
from tauform.codegen.looped.forward_dynamics import (
    DRIVING,
    acceleration,
    articulated,
    forward_numbers,
    forward_rows,
    motion,
)
from tauform.codegen.looped.mass_matrix import MATRIX_PAIRS, MATRIX_ROWS, matrix_numbers, momentum, placement
from tauform.codegen.looped.program import COSINE, SINE, LoopedProgram, Pairs, Rows
from tauform.codegen.looped.step import Numbers, Step, sweep
from tauform.codegen.looped.torques import RIGID, motion_and_wrench, torque, torque_numbers, torque_rows
from tauform.codegen.minimal.bodies import Bodies
from tauform.codegen.minimal.problem import has_friction
from tauform.codegen.program.graph import Graph
from tauform.codegen.program.lower import lower
from tauform.codegen.program.port import Port
from tauform.codegen.program.program import About, Program
from tauform.codegen.request import check_function
from tauform.description.drives.groups import JointState
from tauform.description.robot import Robot
from tauform.description.tree import Tree
from tauform.errors import GenerationError
from tauform.rigidbody.drives import friction_torque, has_coupled_inertia
from tauform.rigidbody.load import driving_torque
from tauform.rigidbody.sweeps.pivots import named_pivots
from tauform.wording import call

Body = Callable[[Step], None]


@dataclass(frozen=True, eq=False)
class Plan:
    """How a function becomes loops.

    Attributes:
        outward, inward, last: what is done at each body, base to tip, tip to base, and base to tip again.
        output: name of the result.
        algorithm: what the candidates of a straight-line program would call it.
    """

    numbers: Numbers
    rows: tuple[Rows, ...]
    outward: Body
    inward: Body
    output: str
    algorithm: str
    last: Body | None = None
    pairs: Pairs | None = None
    opening: Program | None = None
    closing: Program | None = None


def can_loop(robot: Robot, function: Function) -> bool:
    """Whether a function of the robot can be written as loops: joints of one coordinate, none tied to another."""
    # Closures and shared shafts make one body's acceleration depend on another branch: a sweep cannot see that.
    one = all(own.n_q == own.n_v == 1 for own in robot.tree.types)
    return function.name in PLANS and one and robot.closure is None and not has_coupled_inertia(robot.tree)


def generate_loops(robot: Robot, function: str = "inverse_dynamics") -> LoopedProgram:
    """A function of a robot with many joints as loops over its bodies, checked against the textbook algorithm.

    A straight line of operations, which `tauform.generate` makes, costs less for the arms of industry; beyond some
    dozens of joints it no longer fits caches and compilers. Loops stay short: one step per kind of joint, numbers of
    the bodies in a table. `tauform.write_c` writes them beside other programs.

    Args:
        robot: chain or tree of joints of one coordinate, without loops and shared rotors; drive terms may be any.
        function: "inverse_dynamics", "mass_matrix" or "forward_dynamics".

    Returns:
        A LoopedProgram with its certificate.

    Raises:
        UnknownNameError: no such function.
        GenerationError: the robot or the function has no form as loops.
        VerificationError: it deviates by more than the function's tolerance.
        SingularMassMatrixError: forward dynamics meets a link without inertia.
    """
    # A misspelt name first: then it is told which there are, not which can loop.
    wanted = check_function(function)
    if wanted.name not in PLANS:
        raise GenerationError(f"{function} has no form as loops; those that have are {', '.join(PLANS)}")
    if not can_loop(robot, wanted):
        raise GenerationError(
            f"{function} of {robot.name} has no form as loops: its joints are tied together",
            argument="robot",
            remedy=f"generate it as a straight line ({call('generate')})",
        )
    return _looped(robot, wanted)


def _looped(robot: Robot, function: Function) -> LoopedProgram:
    inputs = tuple(Port(name, shape) for name, shape in function.inputs(robot).items())
    plan = PLANS[function.name](robot)
    # A step is traced once for each kind: joints of a kind differ in numbers alone, which stand in the table.
    kinds = tuple(dict.fromkeys(robot.tree.types))
    # Every joint vector has rows of one number; those of the plan follow.
    vectors = [SINE, COSINE, *(port.name for port in inputs), *([] if plan.pairs else [plan.output])]
    rows = (*(Rows(name, 1) for name in dict.fromkeys(vectors)), *plan.rows)
    # Outward for what parents decide, inward for what children add up to, outward again where both are needed.
    order = ((plan.outward, False), (plan.inward, True), (plan.last, False))
    sweeps = tuple(sweep(body, kinds, plan.numbers, rows, inward) for body, inward in order if body is not None)
    n = robot.n_joints
    program = LoopedProgram(
        function.name,
        inputs,
        (Port(plan.output, (n, n) if plan.pairs else (n,)),),
        # Row 0 is the base, which -1 stands for in trees.
        tuple(parent + 1 for parent in robot.tree.parents),
        tuple(kinds.index(own) for own in robot.tree.types),
        plan.numbers.table,
        rows,
        sweeps,
        plan.pairs,
        plan.opening,
        plan.closing,
        robot=robot.name,
        algorithm=plan.algorithm,
        about=About(function.summary, conventions(robot), joints=robot.joint_names, has_friction=has_friction(robot)),
    )
    # The whole function as loops compute it, not step by step: order and places are judged too.
    described = f"textbook {function.name} (NumPy, double precision)"
    with named_pivots(robot):
        shapes = [port.shape for port in inputs]
        return checked(program, shapes, partial(function.reference, robot), function.tolerance, described)


def _torques(robot: Robot) -> Plan:
    """Torques of links and rotors by Newton-Euler."""
    tree = robot.tree
    bodies = Bodies.of(tree, tree.inertias, tree.rotors)
    # One gravity: trees hold a batch dimension that is one here.
    rows = torque_rows(tree.gravity[:, 0])
    return Plan(torque_numbers(bodies), rows, motion_and_wrench, torque, RIGID, "newton_euler")


def _inverse_dynamics(robot: Robot) -> Plan:
    """The same with the torques of all drive terms, which a straight line adds at the end."""
    graph, plan = Graph(), _torques(robot)
    names = [name for name in ("q", "qd", "qdd", "temperature") if name != "temperature" or robot.needs_temperature]
    # Load friction reads the torque that links and rotors ask for, so friction comes after the sweeps.
    rigid, *given = (graph.input(name, robot.n_joints)[:, None] for name in (RIGID, *names))
    state = JointState(**dict(zip(names, given, strict=True)), carried=rigid)
    tau = rigid + friction_torque(_symbolic(robot), state)
    rows = (*plan.rows, Rows(RIGID, 1))
    return Plan(
        plan.numbers,
        rows,
        plan.outward,
        plan.inward,
        "tau",
        plan.algorithm,
        closing=lower(graph, "drives", {"tau": tau[:, 0]}),
    )


def _mass_matrix(robot: Robot) -> Plan:
    return Plan(matrix_numbers(robot.tree), MATRIX_ROWS, placement, momentum, "M", "gdahj", pairs=MATRIX_PAIRS)


def _forward_dynamics(robot: Robot) -> Plan:
    graph, tree = Graph(), robot.tree
    names = [name for name in ("q", "qd", "temperature") if name != "temperature" or robot.needs_temperature]
    # Friction is known before accelerations are: what is left of tau drives the links.
    tau, *given = (graph.input(name, robot.n_joints)[:, None] for name in ("tau", *names))
    driving = driving_torque(_symbolic(robot), JointState(**dict(zip(names, given, strict=True))), tau)
    return Plan(
        forward_numbers(tree),
        (*forward_rows(tree.gravity[:, 0]), Rows(DRIVING, 1)),
        motion,
        articulated,
        "qdd",
        "articulated_body",
        last=acceleration,
        opening=lower(graph, "drives", {DRIVING: driving[:, 0]}),
    )


def _symbolic(robot: Robot) -> Tree:
    """The robot's tree with coefficients that symbols can be multiplied with."""
    return replace(robot.tree, coefficients=np.array(robot.tree.coefficients.tolist(), dtype=object))


PLANS: dict[str, Callable[[Robot], Plan]] = {
    "inverse_dynamics": _inverse_dynamics,
    "mass_matrix": _mass_matrix,
    "forward_dynamics": _forward_dynamics,
}
