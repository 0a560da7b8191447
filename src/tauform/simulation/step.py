"""One step of a simulation: control law, forward dynamics and integrator in one program, then dry friction and stops.

The lines that say what a step is run twice: on scalars, where they become the program, and on NumPy arrays over the
textbook functions, which the program is compared with and which step where a program would be too long. Dry friction
and stops are settled in NumPy alone: no fixed number of operations finds who sticks.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, Protocol

import numpy as np

from tauform.arrays import AnyArray, Array
from tauform.codegen.candidates import program_of
from tauform.codegen.functions import Algorithm, Function
from tauform.codegen.functions.function import Shapes
from tauform.codegen.functions.inertia import forward_system
from tauform.codegen.functions.torques import rigid_torques
from tauform.codegen.minimal.problem import problem_of
from tauform.codegen.minimal.search import FrameSearch
from tauform.codegen.minimal.tracing import Outputs, Tracing
from tauform.codegen.program.program import Program
from tauform.description.drives.groups import JointState
from tauform.description.robot import Robot
from tauform.description.tree import Tree
from tauform.errors import SimulationError
from tauform.rigidbody.forward_dynamics import forward_dynamics
from tauform.rigidbody.gravity import gravity_torque
from tauform.rigidbody.inertia.mass_matrix import mass_matrix
from tauform.rigidbody.inverse_dynamics import inverse_dynamics
from tauform.rigidbody.load import driving_torque, has_load
from tauform.simulation.control import PORTS, Law
from tauform.simulation.dry import JointBounds, clipped, dry_sizes, settled
from tauform.simulation.integrators import INTEGRATORS, Integrator

OUTPUTS = ("q_next", "qd_next", "qdd", "tau")
# Of the certificate; as for forward dynamics.
TOLERANCE = 1e-9


@dataclass(frozen=True)
class Plant:
    """Subject and method of a simulation: all that a step's program depends on.

    Attributes:
        law: of the controller.
        model: robot that the controller believes in.
        has_stops: whether joints stop at their limits.
        frames: those that feel an external wrench.
    """

    robot: Robot
    integrator: Integrator
    law: Law
    model: Robot
    has_stops: bool
    frames: tuple[str, ...] = ()

    @cached_property
    def smooth(self) -> Robot:
        """The robot without dry friction."""
        # Compiled steps compute what is smooth; a jump within a stage would cost an integrator its order.
        return self.robot.with_drives(term for term in self.robot.drives if not (term.is_dry and term.coefficient))

    @cached_property
    def is_dry(self) -> bool:
        return any(term.is_dry and term.coefficient for term in self.robot.drives)

    @cached_property
    def dry_joints(self) -> Array:
        """(n, n_bodies) how far each joint of the tree moves with each coordinate, where it has dry friction.

        Raises:
            SimulationError: dry friction acts on the sum of several coordinates.
        """
        robot = self.robot
        # Rates of the tree's joints by coordinates: q_tree = F q + offset.
        F = np.eye(robot.n_bodies) if robot.closure is None else robot.closure.F
        rubbing = np.zeros(robot.n_bodies, dtype=bool)
        for term in robot.drives:
            if term.is_dry and term.coefficient:
                rubbing[list(term.joints)] = True
                # The descent below settles one coordinate's friction at a time.
                if len(term.joints) > 1 or ("carried" in term.reads and robot.closure is not None):
                    raise _refused(robot, term.joints[0], f"{term.meaning} acts on several coordinates")
        for j in np.flatnonzero(rubbing & (np.count_nonzero(F, axis=1) > 1)):
            raise _refused(robot, int(j), "it follows several coordinates")
        # (n, n_bodies): friction at a tree joint, felt through its rate.
        return np.abs(F.T) * rubbing

    @cached_property
    def stops(self) -> JointBounds:
        """Limits of each coordinate of q."""
        limits = {joint.name: joint.limits for joint in self.robot.joints}
        own = [limits[name] for name in self.robot.joint_names]

        def finite(x: float | None) -> float | None:
            return x if self.has_stops and x is not None and np.isfinite(x) else None

        return JointBounds([finite(limit.lower) for limit in own], [finite(limit.upper) for limit in own])

    @property
    def has_contact(self) -> bool:
        """Whether velocities are settled after each step."""
        return self.is_dry or any(x is not None for side in self.stops for x in side)

    @cached_property
    def free(self) -> Plant:
        """The same without stops."""
        return replace(self, has_stops=False)

    @property
    def is_thermal(self) -> bool:
        return self.robot.needs_temperature

    @property
    def outputs(self) -> tuple[str, ...]:
        """Output ports of a step; a torque that is given is none."""
        return OUTPUTS[:3] if self.law == "torque" else OUTPUTS

    def shapes(self) -> Shapes:
        """Input ports of a step."""
        n = (self.robot.n_joints,)
        warm = {"temperature": n} if self.is_thermal else {}
        return {"q": n, "qd": n, **dict.fromkeys(PORTS[self.law], n), "step": (1,), **warm}


def _refused(robot: Robot, joint: int, why: str) -> SimulationError:
    return SimulationError(
        f"joint {robot.joints[joint].name!r} of {robot.name} has dry friction, and {why}; give that friction a width, "
        "over which it changes its sign"
    )


class Dynamics(Protocol):
    """Torques of a step, on arrays (n, ...) of one kind of scalar."""

    def control(self) -> AnyArray: ...

    def acceleration(self, q: AnyArray, qd: AnyArray, tau: AnyArray) -> AnyArray: ...


def stepped(plant: Plant, dynamics: Dynamics, q: AnyArray, qd: AnyArray, h: Any) -> tuple[Any, AnyArray]:
    """The state after a step without contact and the acceleration over it; and the torque that was applied."""
    tau = dynamics.control()
    return INTEGRATORS[plant.integrator](lambda q, qd: dynamics.acceleration(q, qd, tau), q, qd, h), tau


def _settled(plant: Plant, dynamics: _Textbook, q: Array, qd: Array, h: Array) -> dict[str, Array]:
    """Outputs of a step with dry friction and stops."""
    # First as if nothing rubbed, then the velocity that friction and stops leave of it.
    free, tau = stepped(plant, dynamics, q, qd, h)
    stops = plant.stops
    # A stop bounds the velocity: what would carry the joint beyond it within this step.
    rates = JointBounds(*([None if x is None else (x - q[j]) / h for j, x in enumerate(side)] for side in stops))
    impulses = 0.0 * qd
    if plant.is_dry:
        # The most that friction can take of a momentum during the step.
        impulses = h * (plant.dry_joints @ dynamics.dry_sizes(tau))
    after = settled(dynamics.mass_matrix(), free.qd, qd, impulses, rates)
    # what rests before and after has not moved, whatever the stages in between saw
    moves = 1.0 * ((qd != 0) | (after != 0))
    if plant.integrator == "semi_implicit":
        moved = q + h * after
    else:
        # The integrator's own displacement, corrected by the mean of what friction changed.
        moved = q + moves * (free.q - q + 0.5 * h * (after - free.qd))
    moved = np.array([clipped(x, low, high) for x, low, high in zip(moved, *stops, strict=True)])
    # The mean acceleration over the step, friction's impulse included.
    return dict(zip(OUTPUTS, (moved, after, moves * (free.qdd + (after - free.qd) / h), tau), strict=True))


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
        search = FrameSearch(problem.bodies, problem.null)
        choice = search.start()
        bodies = search.realised(choice).with_scalars(np.empty(0, dtype=object))
        return replace(tracing, problem=problem, choice=choice, bodies=bodies, drives=problem.drives[:, 0])

    def acceleration(self, q: AnyArray, qd: AnyArray, tau: AnyArray) -> AnyArray:
        return forward_system(self._at(q=q, qd=qd, tau=tau)).accelerations()


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
        warm = self.inputs.get("temperature")
        qdd = forward_dynamics(self.plant.smooth, q, qd, tau, temperature=warm, wrenches=self.wrenches or None)
        return np.moveaxis(qdd, -1, 0)

    def mass_matrix(self) -> Array:
        """(n, n, N)."""
        return np.moveaxis(mass_matrix(self.plant.smooth, self.inputs["q"]), (-2, -1), (0, 1))

    def dry_sizes(self, tau: AnyArray) -> AnyArray:
        """(n_bodies, N), likewise."""
        robot, rows = self.plant.robot, {name: self.inputs[name].T for name in ("q", "qd")}
        if robot.closure is not None:
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
    """The step as a function that programs are generated for."""

    def trace(tracing: Tracing) -> Outputs:
        given = tracing.inputs
        free, tau = stepped(plant, _Traced(plant, tracing), given["q"], given["qd"], given["step"][0])
        # A torque that is given is no output of the program.
        return dict(list(zip(OUTPUTS, (*free, tau), strict=True))[: len(plant.outputs)])

    def reference(robot: Robot, *arrays: Array, wrenches: Any = None) -> tuple[Array, ...]:
        return textbook_step(plant, *arrays, wrenches=wrenches)

    return Function(
        "simulation_step",
        f"one time step ({plant.integrator})",
        lambda robot: plant.shapes(),
        reference,
        {"mass_matrix": Algorithm(trace, like_torques=True, any_unit=True, sums_angles=True)},
        tolerance=TOLERANCE,
        feels_wrenches=True,
    )


@lru_cache(maxsize=32)
def step_program(plant: Plant) -> Program:
    """The program of a step, compared with `textbook_step`.

    Raises:
        GenerationError: it would be too long, or failed verification.
    """
    return program_of(problem_of(plant.smooth, wrenches=plant.frames), step_function(plant), ["mass_matrix"])
