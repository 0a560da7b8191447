"""Programs of closed-form models: factored term by term, or recursive where the model is still the whole robot.

A model with dropped terms is no robot any more; only its own terms can be factored. An exact one is, and then the
recursive program usually needs far fewer operations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from math import inf
from typing import Any

import numpy as np

from tauform.arrays import AnyArray, Array
from tauform.closedform.model.bound import BoundModel
from tauform.closedform.terms.matrices import forward_dynamics
from tauform.codegen.certificate import checked
from tauform.codegen.conventions import conventions
from tauform.codegen.factored.factored import (
    cost_within,
    factored_gravity,
    factored_mass_matrix,
    factored_rest,
    factored_torques,
    factored_velocity,
)
from tauform.codegen.factored.held import held_function, with_zeros_at
from tauform.codegen.functions import FUNCTIONS, Function
from tauform.codegen.minimal.problem import has_friction
from tauform.codegen.program.graph import Graph
from tauform.codegen.program.lower import lower
from tauform.codegen.program.program import About, Candidate, Program
from tauform.codegen.runtime.fastest import fastest
from tauform.description.drives.friction import REFERENCE_TEMPERATURE
from tauform.description.robot import Robot
from tauform.errors import GenerationError, UnknownNameError
from tauform.portable.sampling import uniform
from tauform.rigidbody.inverse_dynamics import inverse_dynamics

Inputs = dict[str, AnyArray]
# A model is the whole robot if its torques are, to this fraction of the largest.
MAX_EXACT_ERROR = 1e-9
# Operations are 0.85 to 1.35 times those estimated; a model is not the cheapest at this many times the estimate of
# another.
MAX_ESTIMATE = 1.6


# qdd = M^-1 (tau - rest), both from the terms of the model.
def _forward(bound: BoundModel, x: Inputs) -> AnyArray:
    M = np.array(factored_mass_matrix(bound, x["q"]), dtype=object)
    return forward_dynamics(M, factored_rest(bound, x["q"], x["qd"], x["tau"], x.get("temperature")), bound.moving)


# For each function: its inputs, its output, and how it is made of the model's terms.
_TRACERS: dict[str, tuple[tuple[str, ...], str, Callable[[BoundModel, Inputs], Any]]] = {
    "inverse_dynamics": (
        ("q", "qd", "qdd"),
        "tau",
        lambda bound, x: factored_torques(bound, x["q"], x["qd"], x["qdd"], x.get("temperature")),
    ),
    "gravity_torque": (("q",), "tau", lambda bound, x: factored_gravity(bound, x["q"])),
    "velocity_torque": (("q", "qd"), "tau", lambda bound, x: factored_velocity(bound, x["q"], x["qd"])),
    "mass_matrix": (("q",), "M", lambda bound, x: factored_mass_matrix(bound, x["q"])),
    "forward_dynamics": (("q", "qd", "tau"), "qdd", _forward),
}


FACTORABLE = frozenset(_TRACERS)
# Functions that include drive terms, and so may need temperatures.
WITH_DRIVES = frozenset({"inverse_dynamics", "forward_dynamics"})


def factored_program(bound: BoundModel, function: str) -> Program:
    """The function of a closed-form model as its factored terms, checked against the model.

    Raises:
        GenerationError: the function is not one of a closed form, or the program failed verification.
    """
    if function not in _TRACERS:
        known = ", ".join(_TRACERS)
        raise GenerationError(
            f"{function} is not a function of a closed-form model; choose from {known}, or give a robot"
        )
    names, output, trace = _TRACERS[function]
    if function in WITH_DRIVES and bound.beside.needs_temperature:
        names = (*names, "temperature")
    graph = Graph()
    inputs = {name: graph.input(name, bound.n_joints) for name in names}
    values = np.array(trace(bound, inputs), dtype=object)
    about = about_model(bound, function)
    program = lower(graph, function, {output: values}, robot=bound.name, algorithm="factored", about=about)
    shapes = [(bound.n_joints,)] * len(names)
    wanted = FUNCTIONS[function]
    # A function that may vanish (gravity of a vertical axis) has no size of its own to measure errors against.
    whole = partial(bound.textbook.inverse_dynamics, temperature=_mild(bound)) if wanted.may_vanish else None
    described = f"closed form of {bound.name}"
    return checked(program, shapes, reference_of(bound, function), wanted.tolerance, described, whole=whole)


def cheapest_factored(models: Sequence[BoundModel], function: str) -> tuple[BoundModel, Program]:
    """The model whose factored program takes the fewest operations, the first of equals, and the program.

    Args:
        models: the last is expected to be the cheapest; one of inverse dynamics that is estimated far above those
            after it is not factored.

    Raises:
        GenerationError: see `factored_program`.
    """
    made, least = [], inf
    for model in reversed(models):
        if function == "inverse_dynamics":
            cost = cost_within(model, MAX_ESTIMATE * least)
            if cost is None:
                continue
            least = min(least, cost)
        made.append((model, factored_program(model, function)))
    return min(reversed(made), key=lambda pair: pair[1].n_operations)


def _mild(bound: BoundModel) -> Array:
    """Temperatures at which friction is what Fv says, for torques that only serve as a scale."""
    return np.full(bound.n_joints, REFERENCE_TEMPERATURE)


def about_model(bound: BoundModel, function: str, **more: Any) -> About:
    """Facts of a program of a closed form; `more` are further fields."""
    robot = bound.as_robot()
    about = About(FUNCTIONS[function].summary, _conventions(bound), **more)
    return replace(about, joints=robot.joint_names, has_friction=has_friction(robot))


def _conventions(bound: BoundModel) -> tuple[str, ...]:
    """Conventions of the robot, and its fixed joints."""
    names = ("q", "qd", "qdd", "tau of forward_dynamics")
    fixed = [
        f"{joint} is fixed at {position:g}: its entries of {', '.join(names)} are not read."
        for joint, position in bound.model.fixed.items()
    ]
    return (*conventions(bound.as_robot()), *fixed)


def reference_of(bound: BoundModel, function: str) -> Callable[..., Any]:
    """The model's own function, term by term."""
    if function == "velocity_torque":

        def velocity_torque(q: AnyArray, qd: AnyArray) -> AnyArray:
            # The textbook has no function of velocity torques alone; the breakdown separates them.
            parts = bound.breakdown(q, qd, 0 * qd, _mild(bound))
            return parts.coriolis + parts.centrifugal

        return velocity_torque
    method: Callable[..., Any] = getattr(bound.textbook, function)
    return method


def model_program(
    bound: BoundModel, function: str, algorithm: str, recursive: Callable[[Robot, Function], Program]
) -> Program:
    """The better of the factored and (for a complete model) the recursive program.

    Args:
        recursive: makes the program of a robot's function.

    Raises:
        UnknownNameError: no such function or algorithm.
        GenerationError: the function is not one of a closed form, or the program failed verification.
    """
    if function not in FUNCTIONS:
        raise UnknownNameError(f"function {function!r} cannot be generated; choose from {', '.join(_TRACERS)}")
    if algorithm not in ("factored", "recursive", *CHOICES):
        raise UnknownNameError(f"algorithm {algorithm!r}: of a closed form choose auto, fastest, factored or recursive")
    # where joints are fixed, recursive programs count positions from there, which springs do not
    robot = None if bound.model.fixed and bound.beside else whole_robot(bound)
    if algorithm == "recursive" and robot is None:
        why = "drive terms of fixed joints" if bound.model.fixed and bound.beside else "terms that were dropped"
        raise GenerationError(f"{bound.name}: with {why} there is no recursive program; use factored")
    # Made one after the other, each verified: one that fails costs the others nothing.
    attempts = []
    if algorithm != "recursive":
        attempts.append(lambda: factored_program(bound, function))
    if algorithm != "factored" and robot is not None:
        attempts.append(lambda: _recursive(bound, robot, function, recursive))
    return CHOICES.get(algorithm, cheaper)(verified(attempts))


def _recursive(
    bound: BoundModel, robot: Robot, function: str, recursive: Callable[[Robot, Function], Program]
) -> Program:
    # Fixed joints stay in q, but are not read: the recursion runs on what moves.
    if not bound.model.fixed:
        return recursive(robot, FUNCTIONS[function])
    held = held_function(bound.n_joints, bound.moving, function)
    program = recursive(with_zeros_at(robot, bound.model.fixed), held)
    return replace(program, about=replace(program.about, conventions=_conventions(bound)))


def verified(attempts: Sequence[Callable[[], Program]]) -> list[Program]:
    """The programs that can be made and pass their verification; a candidate that does not drops out.

    Raises:
        GenerationError: none is left; the reason is that of the first.
    """
    made, reasons = [], []
    for attempt in attempts:
        try:
            made.append(attempt())
        except GenerationError as reason:
            reasons.append(reason)
    if not made:
        raise reasons[0]
    return made


def cheaper(made: Sequence[Program]) -> Program:
    """The program with the fewest operations; it lists the others as candidates."""
    best = min(made, key=lambda program: program.n_operations)
    listed = [replace(c, chosen=c.chosen and p is best) for p in made for c in p.candidates or (_candidate(p),)]
    return replace(best, candidates=tuple(listed))


# How one of several programs is chosen, by the name of the algorithm that leaves it open.
CHOICES: dict[str, Callable[[Sequence[Program]], Program]] = {"auto": cheaper, "fastest": fastest}


def _candidate(program: Program) -> Candidate:
    return Candidate(program.algorithm, program.n_multiplications, program.n_additions, chosen=True)


def whole_robot(bound: BoundModel) -> Robot | None:
    """The robot whose dynamics the model is, with its fixed joints held; None where it is no robot's."""
    robot = bound.as_robot()
    # Twenty random states tell: a dropped term shows at nearly all of them.
    q, qd, qdd = uniform(np.random.default_rng(0), -np.pi, np.pi, (3, 20, bound.n_joints))
    for joint, position in bound.model.fixed.items():
        i = bound.joint_names.index(joint)
        q[:, i], qd[:, i], qdd[:, i] = position, 0.0, 0.0
    expected = bound.textbook.inverse_dynamics(q, qd, qdd, _mild(bound))
    deviation = np.abs(inverse_dynamics(robot, q, qd, qdd, _mild(bound)) - expected).max(axis=0)
    return robot if (deviation <= MAX_EXACT_ERROR * np.abs(expected).max(axis=0)).all() else None
