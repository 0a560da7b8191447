"""One step of a simulation: control law, forward dynamics and integrator in one program, then dry friction and stops.

The lines that say what a step is run twice: on scalars, where they become the program, and on NumPy arrays over the
textbook functions, which the program is compared with and which step where a program would be too long.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Protocol

import numpy as np

from tauform.arrays import AnyArray, Array
from tauform.codegen.candidates import program_of
from tauform.codegen.certificate import certified
from tauform.codegen.functions import Algorithm, Function
from tauform.codegen.functions.inertia import forward_system, minimal_mass_matrix
from tauform.codegen.functions.torques import rigid_torques
from tauform.codegen.minimal.problem import problem_of
from tauform.codegen.minimal.tracing import Outputs, Tracer, Tracing
from tauform.codegen.program.iterated import IteratedStep
from tauform.codegen.program.program import Program
from tauform.codegen.runtime.programs import kept_program
from tauform.description.drives.groups import JointState
from tauform.description.robot import Robot
from tauform.description.tree import Tree
from tauform.rigidbody.forward_dynamics import forward_dynamics
from tauform.rigidbody.gravity import gravity_torque
from tauform.rigidbody.inertia.mass_matrix import mass_matrix
from tauform.rigidbody.inverse_dynamics import inverse_dynamics
from tauform.rigidbody.load import driving_torque, has_load
from tauform.simulation.dry import MAX_ROUNDS, JointBounds, dry_sizes, settled
from tauform.simulation.integrators import INTEGRATORS
from tauform.simulation.plant import OUTPUTS, Plant
from tauform.simulation.settling import finished, guessed, last_program, round_program, within

# Of the certificate; as for forward dynamics.
TOLERANCE = 1e-9


class Dynamics(Protocol):
    """Torques of a step, on arrays (n, ...) of one kind of scalar."""

    def control(self) -> AnyArray: ...

    def acceleration(self, q: AnyArray, qd: AnyArray, tau: AnyArray) -> AnyArray: ...

    def mass_matrix(self) -> AnyArray: ...

    def dry_sizes(self, tau: AnyArray) -> AnyArray: ...


def stepped(plant: Plant, dynamics: Dynamics, q: AnyArray, qd: AnyArray, h: Any) -> tuple[Any, AnyArray]:
    """The state after a step without contact and the acceleration over it; and the torque that was applied."""
    tau = dynamics.control()
    # A torque that is given was cut off before.
    if plant.law != "torque":
        tau = np.array([limited(x, most) for x, most in zip(tau, plant.efforts, strict=True)])
    return INTEGRATORS[plant.integrator](lambda q, qd: dynamics.acceleration(q, qd, tau), q, qd, h), tau


def limited(tau: Any, effort: float | None) -> Any:
    """A motor's torque, at most its effort either way."""
    return tau if effort is None else within(tau, -effort, effort)


def opened(plant: Plant, dynamics: Dynamics, q: AnyArray, qd: AnyArray, h: Any) -> dict[str, Any]:
    """A step as if nothing rubbed, the problem that friction and stops pose to it, and a guess of its solution."""
    free, tau = stepped(plant, dynamics, q, qd, h)
    # At the start of the step: friction settles velocities, over which M hardly changes.
    M, contact = dynamics.mass_matrix(), plant.contact
    given = {
        # The lower triangle: each entry is a port of the next program, and copied.
        "M": [M[i, j] for i in range(contact.n) for j in range(i + 1)],
        "momentum": [sum(M[i, j] * free.qd[j] for j in range(contact.n)) for i in range(contact.n)],
    }
    if contact.rubbing:
        # The most that friction can take of a momentum during the step.
        impulses = h * (plant.dry_joints @ dynamics.dry_sizes(tau))
        given["impulses"] = [impulses[j] for j in contact.rubbing]
    room = {}
    for name, joints, stops in zip(("lower", "upper"), contact[2:], plant.stops, strict=True):
        if joints:
            room[name] = [stops[j] - q[j] for j in joints]
            # A stop bounds the velocity: what would carry the joint beyond it within this step.
            given[name] = [x / h for x in room[name]]
    problem = contact.problem(given)
    v = guessed(problem, contact, qd, room)
    moved = {"u": free.qd, "mean": free.qdd, "free": free.q, "tau": tau}
    # Semi-implicit steps make positions from the velocity alone.
    left_out = {"free"} if plant.integrator == "semi_implicit" else set()
    left_out |= set() if "tau" in plant.outputs else {"tau"}
    made = {**moved, **given, "v": v, "open": [problem.unbalanced(v)]}
    return {name: np.array(value) for name, value in made.items() if name not in left_out}


def _settled(plant: Plant, dynamics: _Textbook, q: Array, qd: Array, h: Array) -> dict[str, Array]:
    """Outputs of a step with dry friction and stops."""
    # First as if nothing rubbed, then the velocity that friction and stops leave of it.
    free, tau = stepped(plant, dynamics, q, qd, h)
    rates = JointBounds(*([None if x is None else (x - q[j]) / h for j, x in enumerate(side)] for side in plant.stops))
    impulses = h * (plant.dry_joints @ dynamics.dry_sizes(tau)) if plant.is_dry else 0.0 * qd
    after = settled(dynamics.mass_matrix(), free.qd, qd, impulses, rates)
    given = {"q": q, "qd": qd, "u": free.qd, "v": after, "mean": free.qdd, "free": free.q}
    return {**finished(plant.integrator, plant.stops, given, h), "tau": tau}


@dataclass(frozen=True, eq=False)
class _Traced:
    """A step on scalars of a graph."""

    plant: Plant
    tracing: Tracing

    def _at(self, **inputs: AnyArray) -> Tracing:
        return replace(self.tracing, inputs={**self.tracing.inputs, **inputs})

    def control(self) -> AnyArray:
        given = self.tracing.inputs
        if self.plant.law == "torque":
            return given["tau"]
        feedback = given["stiffness"] * (given["target"] - given["q"]) + given["damping"] * (
            given["rate"] - given["qd"]
        )
        if self.plant.law == "computed_torque":
            # q, qd as they are, and the acceleration that feedback asks for.
            tracing = self._model(qdd=given["acceleration"] + feedback)
            torques = rigid_torques(tracing, tracing.joints("qd"), tracing.joints("qdd"))
            return tracing.efforts(torques)
        if self.plant.law == "pd_gravity":
            model = self._model()
            feedback = feedback + model.efforts(rigid_torques(model))
        return given["command"] + feedback

    def _model(self, **inputs: AnyArray) -> Tracing:
        """The same state for the robot that the controller believes in."""
        tracing = self._at(**inputs)
        # The plant's frames were searched for; another model gets its own, unsearched.
        if self.plant.model == self.plant.robot:
            return tracing
        # The model is another robot with its own numbers: its torques are traced beside the plant's, on the same state.
        problem = problem_of(self.plant.model)
        choice = problem.search.start()
        bodies = problem.search.realised(choice).with_scalars(np.empty(0, dtype=object))
        return replace(tracing, problem=problem, choice=choice, bodies=bodies, drives=problem.drives[:, 0])

    def acceleration(self, q: AnyArray, qd: AnyArray, tau: AnyArray) -> AnyArray:
        return forward_system(self._at(q=q, qd=qd, tau=tau)).accelerations()

    def mass_matrix(self) -> AnyArray:
        """(n, n)."""
        return minimal_mass_matrix(self.tracing)

    def dry_sizes(self, tau: AnyArray) -> AnyArray:
        """(n_bodies,) dry friction of the tree's joints against their motion."""
        return _dry_sizes(self.plant.robot.tree, self.tracing.drive_state(), tau[:, None])[:, 0]


@dataclass(frozen=True, eq=False)
class _Textbook:
    """A step on NumPy arrays, (n, N)."""

    plant: Plant
    inputs: dict[str, Array]  # (N, ...) by port
    wrenches: dict[str, Array]

    def control(self) -> AnyArray:
        given, model = self.inputs, self.plant.model
        if self.plant.law == "torque":
            return np.moveaxis(given["tau"], -1, 0)
        feedback = given["stiffness"] * (given["target"] - given["q"]) + given["damping"] * (
            given["rate"] - given["qd"]
        )
        if self.plant.law == "computed_torque":
            wanted = given["acceleration"] + feedback
            return np.moveaxis(inverse_dynamics(model, given["q"], given["qd"], wanted, drives=False), -1, 0)
        if self.plant.law == "pd_gravity":
            feedback = feedback + gravity_torque(model, given["q"])
        return np.moveaxis(given["command"] + feedback, -1, 0)

    def acceleration(self, q: AnyArray, qd: AnyArray, tau: AnyArray) -> AnyArray:
        q, qd, tau = (np.moveaxis(x, 0, -1) for x in (q, qd, tau))
        # None where no drive term reads it.
        warm = self.inputs.get("temperature")
        qdd = forward_dynamics(self.plant.smooth, q, qd, tau, temperature=warm, wrenches=self.wrenches or None)
        return np.moveaxis(qdd, -1, 0)

    def mass_matrix(self) -> Array:
        """(n, n, N)."""
        return np.moveaxis(mass_matrix(self.plant.smooth, self.inputs["q"]), (-2, -1), (0, 1))

    def dry_sizes(self, tau: AnyArray) -> AnyArray:
        """(n_bodies, N) dry friction of the tree's joints against their motion."""
        robot, rows = self.plant.robot, {name: self.inputs[name].T for name in ("q", "qd")}
        if robot.closure is not None:
            # Drive terms sit at the joints of the tree, which follow those of q.
            rows = {name: robot.closure.F @ x for name, x in rows.items()}
            rows["q"] = rows["q"] + robot.closure.offset[:, None]
        warm = self.inputs["temperature"].T if "temperature" in self.inputs and robot.closure is None else None
        return _dry_sizes(robot.tree, JointState(rows["q"], rows["qd"], temperature=warm), tau)


def _dry_sizes(tree: Tree, state: JointState, tau: AnyArray) -> AnyArray:
    if has_load(tree):
        # what a joint carries changes little within a step
        state = state._replace(carried=driving_torque(tree, state, tau))
    return dry_sizes(tree, state)


def textbook_step(plant: Plant, *arrays: Array, wrenches: dict[str, Array] | None = None) -> tuple[Array, ...]:
    """Outputs of a step by the textbook functions, from arrays (N, ...) of its ports."""
    inputs = dict(zip(plant.shapes(), arrays, strict=True))
    dynamics = _Textbook(plant, inputs, wrenches or {})
    state = inputs["q"].T, inputs["qd"].T, inputs["step"][:, 0]
    if plant.has_contact:
        outputs = _settled(plant, dynamics, *state)
    else:
        free, tau = stepped(plant, dynamics, *state)
        outputs = dict(zip(OUTPUTS, (*free, tau), strict=True))
    return tuple(np.moveaxis(np.asarray(outputs[name]), 0, -1) for name in plant.outputs)


def step_function(plant: Plant) -> Function:
    """The step without contact as a function that programs are generated for."""

    def trace(tracing: Tracing) -> Outputs:
        given = tracing.inputs
        free, tau = stepped(plant, _Traced(plant, tracing), given["q"], given["qd"], given["step"][0])
        # A torque that is given is no output of the program.
        return dict(list(zip(OUTPUTS, (*free, tau), strict=True))[: len(plant.outputs)])

    def reference(robot: Robot, *arrays: Array, wrenches: Any = None) -> tuple[Array, ...]:
        return textbook_step(plant, *arrays, wrenches=wrenches)

    return _function(plant, "simulation_step", trace, reference)


def opening_function(plant: Plant) -> Function:
    """The first part of a step with contact."""

    def trace(tracing: Tracing) -> Outputs:
        given = tracing.inputs
        return opened(plant, _Traced(plant, tracing), given["q"], given["qd"], given["step"][0])

    def reference(robot: Robot, *arrays: Array, wrenches: Any = None) -> tuple[Array, ...]:
        inputs = dict(zip(plant.shapes(), arrays, strict=True))
        state = inputs["q"].T, inputs["qd"].T, inputs["step"][:, 0]
        outputs = opened(plant, _Textbook(plant, inputs, wrenches or {}), *state)
        return tuple(np.moveaxis(value, 0, -1) for value in outputs.values())

    return _function(plant, "settling_step", trace, reference)


def _function(plant: Plant, name: str, trace: Tracer, reference: Any) -> Function:
    return Function(
        name,
        f"one time step ({plant.integrator})",
        lambda robot: plant.shapes(),
        reference,
        # The search prices torques: tracing a whole step for each candidate would take minutes.
        {"mass_matrix": Algorithm(trace, like_torques=True, any_unit=True, sums_angles=True)},
        tolerance=TOLERANCE,
        feels_wrenches=True,
    )


@lru_cache(maxsize=32)
def step_program(plant: Plant) -> Program:
    """The program of a step without contact, compared with `textbook_step`.

    Raises:
        GenerationError: it would be too long, or failed verification.
    """
    return _kept(plant, step_function(plant))


@lru_cache(maxsize=32)
def settling_step(plant: Plant) -> IteratedStep:
    """The programs of a step with dry friction and stops.

    Raises:
        GenerationError: one would be too long, or failed verification.
    """
    first = _kept(plant, opening_function(plant))
    last = last_program(plant.contact.n, plant.integrator, plant.stops)
    return IteratedStep(first, round_program(plant.contact), last, MAX_ROUNDS)


def _kept(plant: Plant, function: Function) -> Program:
    """The program of a step, from the disk where it was made before; compared with its reference either way."""
    problem = problem_of(plant.smooth, wrenches=plant.frames)
    return kept_program(
        (function.name, plant),
        lambda: program_of(problem, function, ["mass_matrix"]),
        # Also one from the disk: a cache is no proof.
        lambda program: certified(program, function, problem),
    )
