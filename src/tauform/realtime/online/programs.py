"""On-line functions as programs: payload, friction, collisions and adaptive control, for every target language."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike

from tauform.arrays import AnyArray, Array, joint_vector
from tauform.codegen.conventions import conventions
from tauform.codegen.generate import generate
from tauform.codegen.program.embed import embedded
from tauform.codegen.program.graph import Graph, Scalar, references
from tauform.codegen.program.lower import lower
from tauform.codegen.program.program import About, Program
from tauform.description.inertia import LINK_PARAMETERS, parameter_transform
from tauform.description.robot import Robot
from tauform.errors import GenerationError, ShapeError
from tauform.messages import no_such
from tauform.realtime.online.momentum_form import WIDTH, Settings, StateLayout, step
from tauform.realtime.online.reference import (
    adapted,
    certified_online,
    estimated,
    estimated_friction,
    load_columns,
    observed_contacts,
)
from tauform.rigidbody.inverse_dynamics import newton_euler
from tauform.rigidbody.momentum import momentum_and_drift, refuse_load

Online = Literal[
    "payload_estimator", "payload_mass_estimator", "friction_estimator", "collision_observer", "slotine_li_update"
]
NAMES: tuple[Online, ...] = get_args(Online)
# Those that solve for what is unknown.
ESTIMATORS: tuple[Online, ...] = ("payload_estimator", "payload_mass_estimator", "friction_estimator")
# Those that weigh torques by how far the model is off.
WITH_DEVIATION: tuple[Online, ...] = (*ESTIMATORS, "collision_observer")
DEVIATION = "tau_deviation"
NEEDING_A_TOOL = ("payload_estimator", "payload_mass_estimator")
RATES = ((5.0, 20.0), (0.1, 1.0), (1e-4, 1e-2))  # of filter, forgetting, and the period, where programs are tried


class _Model(NamedTuple):
    graph: Graph
    robot: Robot
    q: AnyArray
    qd: AnyArray
    momentum: AnyArray
    inflow: AnyArray


def online_program(robot: Robot, name: Online, *, tau_deviation: ArrayLike | None = None) -> Program:
    """One step of a function that learns while the robot moves; its state goes in and comes out.

    Args:
        robot: the model without what is sought; its friction takes part.
        name: "payload_estimator" finds the ten parameters of a load at the tool, "payload_mass_estimator" its mass and
            first moments alone (for slow motions: inertia is taken for zero), "friction_estimator" what viscous and
            Coulomb friction and offset of each joint are off by, "collision_observer" contacts, and
            "slotine_li_update" is a tracking controller that adapts its parameters.
        tau_deviation: (n,) what torques of the model are off by [N m or N], `fit.unseen.rms` of a fit; written into the
            program in place of its input of that name.

    Returns:
        A Program for `tauform.write`, `tauform.compile` and the frameworks, certified like those of `tauform.generate`.

    Raises:
        UnknownNameError: no such function.
        GenerationError: a robot with loops, a tool that is fixed to the base, a function without torque deviations.
        ShapeError: not one positive torque deviation per joint.
        DescriptionError: friction that depends on load, which a momentum observer cannot have.
        VerificationError: the program deviates from the textbook functions.
    """
    # First: the programs below take seconds.
    check_online(robot, name)
    # Made and certified with the deviation as an input; a constant is put in afterwards.
    program = _MAKERS[name](robot)
    return program if tau_deviation is None else _with_deviation(program, tau_deviation)


def check_online(robot: Robot, name: str) -> None:
    """Refuse a function that there is not, or not of this robot; asked before long work.

    Raises:
        UnknownNameError, GenerationError, DescriptionError: as `online_program` says.
    """
    if name not in NAMES:
        raise no_such("on-line function", name, NAMES)
    # Momentum of a tree with followers has columns of several joints, which the estimators do not model.
    if robot.closure is not None:
        raise GenerationError(f"{name}: {robot.name} has loops or mimic joints, which on-line functions do not support")
    # Friction that grows with load depends on the unknown load itself.
    if name != "slotine_li_update":
        refuse_load(robot)
    if name in ESTIMATORS and robot.needs_temperature:
        raise GenerationError(f"{name}: friction of {robot.name} depends on temperature; leave that friction out")
    if name in NEEDING_A_TOOL and robot.tool.link < 0:
        raise GenerationError(f"{name}: the tool of {robot.name} is fixed to the base; name a tip that moves")


def _with_deviation(program: Program, tau_deviation: ArrayLike) -> Program:
    """The program with torque deviations as constants."""
    ports = {port.name: port for port in program.inputs}
    if DEVIATION not in ports:
        raise GenerationError(f"{DEVIATION}: {program.name} has no threshold or weights; leave it out")
    (n,) = ports[DEVIATION].shape
    numbers = joint_vector(tau_deviation, n, DEVIATION)
    # A threshold of zero would call everything a contact.
    if numbers.shape != (n,) or not (numbers > 0).all():
        raise ShapeError(f"{DEVIATION}: expected {n} positive numbers, got {numbers.tolist()}; fit.unseen.rms has them")
    graph = Graph()
    constants = np.array([Scalar(graph, graph.constant(float(v))) for v in numbers], dtype=object)
    arrays = [
        constants if port.name == DEVIATION else graph.input(port.name, *port.shape, ranges=port.ranges)
        for port in program.inputs
    ]
    results = zip(program.outputs, _embedded(graph, program, arrays), strict=True)
    outputs = {port.name: result.reshape(port.shape) for port, result in results}
    # Whoever reads the written code sees which thresholds it holds.
    told = ", ".join(f"{value:.3g}" for value in numbers)
    about = replace(program.about, summary=f"{program.about.summary}; torque deviations of the joints inside: {told}")
    made = lower(graph, program.name, outputs, robot=program.robot, algorithm=program.algorithm, about=about)
    # The same instructions with numbers in place of inputs: what was certified holds for them.
    return replace(made, certificate=program.certificate)


def _payload(robot: Robot, name: str, n_values: int, summary: str) -> Program:
    model = _model(robot)
    P, B = _load_columns(model, n_values)
    program = _estimator(model, name, summary, P, B, "payload", LINK_PARAMETERS[:n_values])
    return certified_online(program, robot, partial(estimated, robot, load_columns(robot, n_values)))


def _friction(robot: Robot) -> Program:
    """Each joint by itself: its columns touch its own row of the momentum equation alone."""
    model, n = _model(robot), robot.n_joints
    chosen, layout = _settings(model), StateLayout(1, 3)
    state = model.graph.input("state", n, layout.size, ranges=layout.ranges() * n)
    found = []
    for j, v in enumerate(model.qd):
        # Columns of Fv, Fc and Fo; tanh in place of the sign, so that noise at rest averages out.
        B = -np.array([[v, (v * (1 / WIDTH)).tanh(), v * 0.0 + 1.0]])
        one = Settings(chosen.rate, chosen.forgetting, chosen.period, chosen.deviation[j : j + 1])
        rows = slice(j, j + 1)
        # No part of friction is momentum: P = 0.
        found.append(step(layout, model.momentum[rows], model.inflow[rows], 0.0 * B, B, state[j], one))
    outputs = {
        "friction": np.stack([estimate.values for estimate in found]),
        "spread": np.stack([estimate.spread for estimate in found]),
        "new_state": np.stack([estimate.state for estimate in found]),
    }
    summary = (
        "per joint what viscous and Coulomb friction and offset are off by, and their standard deviations; settings: "
        "rates of filter and forgetting [1/s], period [s]; state starts at zero"
    )
    program = _finished(model, "friction_estimator", summary, outputs)
    return certified_online(program, robot, partial(estimated_friction, robot))


def _collision(robot: Robot) -> Program:
    observer, graph = generate(robot, "momentum_observer"), Graph()
    n = robot.n_joints
    inputs = {port.name: graph.input(port.name, *port.shape) for port in observer.inputs}
    deviation = graph.input(DEVIATION, n, ranges=((0.5, 2.0),) * n)
    factor = graph.input("factor", 1, ranges=((3.0, 8.0),))
    # The observer as it is certified, inside: no second writing of the same law.
    residual, integral = _embedded(graph, observer, list(inputs.values()))
    # Relative to what the model is known to be off by, so that one factor suits all joints.
    level = np.array([abs(r) for r in residual]) / (factor[0] * deviation)
    # 1 above the level, 0 below, without a branch: execution time stays constant.
    contact = np.array([0.5 * (1.0 + (v - 1.0).sign()) for v in level])
    summary = (
        "residual of the momentum observer, its level relative to factor times the torque deviation of the fit, and "
        "per joint 1 where it is beyond; start with integral = generalized_momentum(q, qd) and residual = 0"
    )
    outputs = {"residual": residual, "integral": integral, "level": level, "contact": contact}
    about = About(summary, conventions(robot))
    program = lower(graph, "collision_observer", outputs, robot=robot.name, algorithm="momentum", about=about)
    return certified_online(program, robot, partial(observed_contacts, robot))


def _slotine_li(robot: Robot) -> Program:
    regressor, graph = generate(robot, "slotine_li_regressor"), Graph()
    n, n_theta = regressor.outputs[0].shape
    states = [graph.input(port.name, *port.shape) for port in regressor.inputs]
    named = dict(zip((port.name for port in regressor.inputs), states, strict=True))
    theta, gain = graph.input("theta", n_theta), graph.input("gain", n_theta)
    damping, period = graph.input("damping", n), graph.input("period", 1)
    (Y,) = _embedded(graph, regressor, states)
    Y = Y.reshape(n, n_theta)
    # tau = Y theta - K s,  theta' = -gain Y^T s,  s = qd - qd_r   [Slotine, Li 1987]
    s = named["qd"] - named["qd_r"]
    tau = (Y * theta).sum(axis=1) - damping * s
    new_theta = theta - period[0] * gain * (Y * s[:, None]).sum(axis=0)
    summary = "torques of the adaptive tracking law Y theta - damping (qd - qd_r), and theta for the next step"
    about = About(summary, conventions(robot), entries={"theta": regressor.theta_names})
    outputs = {"tau": tau, "new_theta": new_theta}
    program = lower(graph, "slotine_li_update", outputs, robot=robot.name, algorithm="Slotine-Li", about=about)
    return certified_online(program, robot, partial(adapted, robot))


def _model(robot: Robot) -> _Model:
    """Momentum and its rate as the observer computes them: one step of a second from zero, with gain 1."""
    observer, graph = generate(robot, "momentum_observer"), Graph()
    n = robot.n_joints
    q, qd, tau = (graph.input(name, n) for name in ("q", "qd", "tau"))
    zero, one = (np.array([Scalar(graph, graph.constant(v))] * n, dtype=object) for v in (0.0, 1.0))
    # With integral and residual at zero and unit gain and period, residual + integral is the momentum p(q, qd).
    given = {"q": q, "qd": qd, "tau": tau, "integral": zero, "residual": zero, "gain": one, "period": one[:1]}
    residual, integral = _embedded(graph, observer, [given[port.name] for port in observer.inputs])
    return _Model(graph, robot, q, qd, residual + integral, integral)


def _load_columns(model: _Model, n_values: int) -> tuple[AnyArray, AnyArray]:
    """P and B of a load at the tool: momentum, and C^T qd - g, of unit parameters."""
    robot, frame = model.robot, model.robot.tool
    transform = parameter_transform(frame.link_from_frame)
    q, qd, bare = model.q[:, None], model.qd[:, None], robot.without_drives().with_payload(None)
    P, B = [], []
    # Linear in the load's parameters: unit parameters give the columns.
    for k in range(n_values):
        parameters: Array = np.zeros(bare.layout.n)
        parameters[bare.layout.link(frame.link)] = transform[:, k]
        tree = bare.with_parameters(parameters).tree
        momentum, drift = momentum_and_drift(tree, q, qd)[..., 0]
        P.append(momentum)
        # C^T qd - g of the load; at rest newton_euler returns its gravity alone.
        B.append(drift - newton_euler(tree, q, 0.0 * qd, 0.0 * qd)[:, 0])
    return np.stack(P, axis=1), np.stack(B, axis=1)


def _estimator(
    model: _Model, name: str, summary: str, P: AnyArray, B: AnyArray, output: str, entries: tuple[str, ...]
) -> Program:
    layout = StateLayout(*P.shape)
    chosen = _settings(model)
    state = model.graph.input("state", layout.size, ranges=layout.ranges())
    found = step(layout, model.momentum, model.inflow, P, B, state, chosen)
    words = (
        f"{summary} ({', '.join(entries)}), and their standard deviations; settings: rates of filter and forgetting "
        "[1/s], period [s]; tau_deviation: of the torques; state starts at zero"
    )
    return _finished(model, name, words, {output: found.values, "spread": found.spread, "new_state": found.state})


def _settings(model: _Model) -> Settings:
    n = model.robot.n_joints
    deviation = model.graph.input(DEVIATION, n, ranges=((0.5, 2.0),) * n)
    rate, forgetting, period = model.graph.input("settings", 3, ranges=RATES)
    return Settings(rate, forgetting, period, deviation)


def _finished(model: _Model, name: str, summary: str, outputs: dict[str, AnyArray]) -> Program:
    about = About(summary, conventions(model.robot))
    return lower(model.graph, name, outputs, robot=model.robot.name, algorithm="momentum form", about=about)


def _embedded(graph: Graph, program: Program, arrays: list[AnyArray]) -> list[AnyArray]:
    """Outputs of a program on scalars of the graph, as flat arrays."""
    results = embedded(graph, program, [references(graph, array.ravel().tolist()) for array in arrays])
    return [np.array([Scalar(graph, reference) for reference in result], dtype=object) for result in results]


_MAKERS: dict[str, Callable[[Robot], Program]] = {
    "payload_estimator": lambda robot: _payload(
        robot, "payload_estimator", 10, "the ten parameters of the load in the tool's frame"
    ),
    "payload_mass_estimator": lambda robot: _payload(
        robot, "payload_mass_estimator", 4, "mass and first moments of the load in the tool's frame"
    ),
    "friction_estimator": _friction,
    "collision_observer": _collision,
    "slotine_li_update": _slotine_li,
}
