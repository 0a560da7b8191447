"""Routes to a smaller program: each trades accuracy for operations in its own way.

terms:      leave terms out of the closed form, factor what is left.  [Lloyd2021, sections 4.1 and 4.3]
parameters: leave out base parameters that hardly matter, keep the recursive program.  [Izaguirre1992, section 6]
velocity:   leave out velocity terms of the recursive program, of all joints or of some.
operations: leave out single operations of the cheapest program so far.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tauform.arrays import AnyArray, Array
from tauform.closedform.base import base_parameters
from tauform.closedform.bound import BoundModel
from tauform.closedform.profile import Profile, States
from tauform.closedform.reduction import fewest_terms, relative_error
from tauform.codegen.factored import factored_torques
from tauform.codegen.functions import FUNCTIONS
from tauform.codegen.functions.torques import friction_torques, rigid_torques
from tauform.codegen.generate import program_of
from tauform.codegen.graph import Graph
from tauform.codegen.lower import lower
from tauform.codegen.problem import declared_groups, problem_of, tree_coordinates, user_efforts
from tauform.codegen.program import Program
from tauform.codegen.tracing import Outputs, Tracing
from tauform.description.robot import Robot
from tauform.rigidbody.friction import friction
from tauform.rigidbody.inverse_dynamics import inverse_dynamics
from tauform.rigidbody.regressor import regressor

Joints = frozenset[int]
# Directions of theta this much weaker than the strongest are not moved by a refit.
FIT_TOLERANCE = 1e-6


@dataclass(frozen=True, eq=False)
class Route:
    """A smaller program and how it came about.

    Attributes:
        name: terms, parameters, velocity or operations.
        remark: what was left out, in words.
        bound: the reduced closed form, where the route has one.
    """

    name: str
    program: Program
    remark: str
    bound: BoundModel | None = None


def by_terms(
    bound: BoundModel, profile: Profile, tolerance: float, confidence: float, rng: np.random.Generator
) -> Route:
    """The fewest terms of the closed form, factored."""
    found = fewest_terms(bound, profile, tolerance, confidence, rng)
    graph = Graph()
    inputs = [graph.input(name, bound.n_joints) for name in ("q", "qd", "qdd")]
    torques = factored_torques(found.bound, *inputs)
    program = lower(graph, "inverse_dynamics", {"tau": torques}, robot=bound.name, algorithm="factored")
    remark = f"{found.bound.n_terms} of {bound.n_terms} terms, {found.bound.base.n} of {bound.base.n} base parameters"
    return Route("terms", program, remark, found.bound)


def by_velocity(robot: Robot, states: States, tolerance: float, confidence: float) -> Route | None:
    """Velocity terms of as many joints as possible left out; None where even one is too many."""
    exact = inverse_dynamics(robot, *states)

    def error(still: Joints) -> float:
        return relative_error(without_velocity(robot, still, *states), exact, confidence)

    everything = frozenset(range(robot.n_joints))
    still: Joints = frozenset()
    if error(everything) <= tolerance:
        still = everything
    while still != everything:
        options = {still | {i}: error(still | {i}) for i in everything - still}
        best = min(options, key=lambda joints: options[joints])
        if options[best] > tolerance:
            break
        still = best
    if not still:
        return None
    which = "all joints" if still == everything else f"joints {', '.join(robot.joint_names[i] for i in sorted(still))}"
    return Route("velocity", recursive(robot, still), f"velocity terms of {which} left out")


def by_parameters(robot: Robot, states: States, tolerance: float, confidence: float) -> Route:
    """Base parameters of least significance left out, the others refitted; all velocity terms too where that fits."""
    everything = frozenset(range(robot.n_joints))
    exact = inverse_dynamics(robot, *states)
    quiet = relative_error(without_velocity(robot, everything, *states), exact, confidence) <= tolerance / 2
    still = everything if quiet else frozenset()
    base = base_parameters(robot, include=declared_groups(robot))
    theta, pivots = base.values(robot), list(base.pivots)
    size = np.linalg.norm(exact, axis=1)
    Y = _regressor_without_velocity(robot, still, *states)[..., pivots]
    significance = np.quantile(np.linalg.norm(Y * theta, axis=1) / size[:, None], confidence, axis=0)
    order = np.argsort(-significance, kind="stable")
    weighted, wanted = (Y / size[:, None, None]), exact / size[:, None]

    def fitted(n_kept: int) -> tuple[float, Array]:
        kept = np.zeros(len(theta), dtype=bool)
        kept[order[:n_kept]] = True
        values = np.zeros(len(theta))
        values[kept] = _refitted(weighted[..., kept], wanted, theta[kept])
        return relative_error(Y @ values, exact, confidence), values

    few, many = 0, len(theta)
    while many - few > 1:
        middle = (few + many) // 2
        few, many = (few, middle) if fitted(middle)[0] <= tolerance else (middle, many)
    parameters = np.zeros(14 * robot.n_bodies)
    parameters[pivots] = fitted(many)[1]
    remark = f"{len(theta) - many} of {len(theta)} base parameters{' and velocity terms' if quiet else ''} left out"
    return Route("parameters", recursive(robot.with_parameters(parameters), still), remark)


def recursive(robot: Robot, still: Joints) -> Program:
    """Inverse dynamics whose velocity terms treat some joints as still; friction stays."""

    def trace(tracing: Tracing) -> Outputs:
        moving = np.array([0.0 if i in still else x for i, x in enumerate(tracing.inputs["qd"])], dtype=object)
        rigid = rigid_torques(tracing, tree_coordinates(robot, moving, False), tracing.joints("qdd"))
        tau = [a + b for a, b in zip(rigid, friction_torques(tracing), strict=True)]
        return {"tau": user_efforts(robot, tau)}

    def reference(robot: Robot, q: AnyArray, qd: AnyArray, qdd: AnyArray) -> Array:
        return without_velocity(robot, still, q, qd, qdd)

    whole = FUNCTIONS["inverse_dynamics"]
    algorithms = {"newton_euler": replace(whole.algorithms["newton_euler"], trace=trace)}
    function = replace(whole, reference=reference, algorithms=algorithms)
    return program_of(problem_of(robot), function, list(algorithms))


def without_velocity(robot: Robot, still: Joints, q: AnyArray, qd: AnyArray, qdd: AnyArray) -> Array:
    """Torques whose velocity terms treat some joints as still; friction stays."""
    moving = _masked(qd, still)
    torque: Array = inverse_dynamics(robot, q, moving, qdd) - friction(robot, moving) + friction(robot, qd)
    return torque


def _regressor_without_velocity(robot: Robot, still: Joints, q: Array, qd: Array, qdd: Array) -> Array:
    n = 10 * robot.n_bodies
    Y: Array = regressor(robot, q, qd, qdd)
    if still:
        quiet = regressor(robot, q, _masked(qd, still), qdd)
        Y = np.concatenate([quiet[..., :n], Y[..., n:]], axis=-1)
    return Y


def _masked(qd: AnyArray, still: Joints) -> AnyArray:
    moving = np.array(qd)
    moving[..., sorted(still)] = 0.0
    return moving


def _refitted(Y: Array, tau: Array, theta: Array) -> Array:
    matrix = Y.reshape(-1, len(theta))
    scale = np.maximum(np.linalg.norm(matrix, axis=0), 1e-300)
    residual = tau.reshape(-1) - matrix @ theta
    fitted: Array = theta + np.linalg.lstsq(matrix / scale, residual, rcond=FIT_TOLERANCE)[0] / scale
    return fitted
