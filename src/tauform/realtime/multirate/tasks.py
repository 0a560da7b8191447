"""Programs of the two tasks of a multi-rate computation, each checked against the textbook algorithms.  [Izaguirre1992]

    tau = M(q) qdd + stored(q, qd),    stored = velocity torque + gravity torque + friction

The background task renews M and stored; the synchronous task multiplies and adds, n products and n sums per joint.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

from tauform.arrays import AnyArray, Array
from tauform.codegen.candidates import program_of
from tauform.codegen.certificate import checked
from tauform.codegen.functions import FUNCTIONS, Algorithm, Function
from tauform.codegen.functions.function import joint_vectors
from tauform.codegen.functions.torques import friction_torques, rigid_torques
from tauform.codegen.generate import generate
from tauform.codegen.minimal.problem import problem_of, tree_coordinates, user_efforts
from tauform.codegen.minimal.tracing import Outputs, Tracing
from tauform.codegen.program.graph import Graph
from tauform.codegen.program.lower import lower
from tauform.codegen.program.program import Program
from tauform.codegen.runtime.kernel import Kernel, compile_program
from tauform.description.drives.groups import JointState
from tauform.description.robot import Robot
from tauform.errors import ModelError
from tauform.realtime.drives import depends_on_position, of_position, of_velocity, refuse_hidden
from tauform.rigidbody.drives import friction_torque
from tauform.rigidbody.friction import friction
from tauform.rigidbody.gravity import bias_torque, gravity_torque
from tauform.rigidbody.inertia.mass_matrix import mass_matrix

Friction = Literal["background", "synchronous"]
# Of the synchronous task's torques, relative to each joint's largest.
TOLERANCE = 1e-12


@dataclass(frozen=True, eq=False, repr=False)
class Tasks:
    """Programs of both tasks.

    Attributes:
        background: (q, qd) -> M (n, n), stored (n).
        synchronous: (M, stored, qdd) -> tau, or (M, stored, qd, qdd) -> tau where it makes the friction.
        coefficients: q -> M, gravity: the part of the background that positions determine.
        velocity: (q, qd) -> velocity torque and friction: the rest of it.
    """

    robot: Robot
    background: Program
    synchronous: Program
    coefficients: Program
    velocity: Program

    @property
    def programs(self) -> tuple[Program, ...]:
        """All four, for `tauform.write_c`."""
        return self.background, self.synchronous, self.coefficients, self.velocity

    @cached_property
    def background_kernel(self) -> Kernel:
        """The background task compiled for this machine."""
        return compile_program(self.background)

    @cached_property
    def synchronous_kernel(self) -> Kernel:
        """The synchronous task compiled for this machine."""
        return compile_program(self.synchronous)

    @cached_property
    def coefficients_kernel(self) -> Kernel:
        """The part of the background that positions determine, compiled for this machine."""
        return compile_program(self.coefficients)

    @cached_property
    def velocity_kernel(self) -> Kernel:
        """The part of the background that depends on velocities, compiled for this machine."""
        return compile_program(self.velocity)

    @property
    def reads_velocity(self) -> bool:
        """Whether the synchronous task makes the friction, and so reads velocities."""
        return any(port.name == "qd" for port in self.synchronous.inputs)

    def results(self, q: Array, qd: Array) -> tuple[Array, Array]:
        """M and stored of the background task, compiled."""
        M, stored = self.background_kernel(q, qd)
        return M, stored

    def torque(self, M: Array, stored: Array, qd: Array, qdd: Array) -> Array:
        """The synchronous task on results of the background, compiled."""
        rates = (qd, qdd) if self.reads_velocity else (qdd,)
        tau: Array = self.synchronous_kernel(M, stored, *rates)
        return tau


def tasks_of(robot: Robot, task: Friction) -> Tasks:
    """Both tasks; `task` names the one that makes friction.

    Raises:
        ModelError: no such task.
        GenerationError: a program would be too long or failed verification, or friction depends on load or temperature.
    """
    refuse_hidden(robot, "multirate")
    if task not in ("background", "synchronous"):
        raise ModelError(f'friction: expected "background" or "synchronous", got {task!r}')
    problem, stores_friction = problem_of(robot), task == "background"
    background, velocity = _background_function(stores_friction), _velocity_function(stores_friction)
    return Tasks(
        robot=robot,
        background=program_of(problem, background, list(background.algorithms)),
        synchronous=_synchronous(robot, not stores_friction),
        coefficients=generate(robot, "coefficients"),
        velocity=program_of(problem, velocity, list(velocity.algorithms)),
    )


def stored_torque(robot: Robot, q: AnyArray, qd: AnyArray, with_friction: bool = True) -> Array:
    """Velocity and gravity torques, springs, and friction: what the background stores beside the mass matrix."""
    stored: Array = bias_torque(robot, q, qd) + friction(robot if with_friction else of_position(robot), qd, q)
    return stored


def _synchronous(robot: Robot, with_friction: bool) -> Program:
    n = robot.n_joints
    graph = Graph()
    M, stored = graph.input("M", n, n), graph.input("stored", n)
    qd = graph.input("qd", n) if with_friction else None
    qdd = graph.input("qdd", n)
    tau = [stored[i] + sum((M[i, j] * qdd[j] for j in range(1, n)), M[i, 0] * qdd[0]) for i in range(n)]
    if qd is not None:
        tau = [a + b for a, b in zip(tau, _friction(of_velocity(robot), qd), strict=True)]
    program = lower(graph, "synchronous", {"tau": tau}, robot=robot.name, algorithm="matrix product")

    def reference(M: Array, stored: Array, *rates: Array) -> Array:
        torque: Array = (M * rates[-1][:, None]).sum(axis=-1) + stored
        return torque + friction(of_velocity(robot), rates[0]) if with_friction else torque

    shapes = [port.shape for port in program.inputs]
    return checked(program, shapes, reference, TOLERANCE, "matrix product in NumPy")


def _friction(robot: Robot, qd: AnyArray) -> AnyArray:
    """Friction on scalars, in the user's coordinates."""
    motion = JointState(None, tree_coordinates(robot, qd, False)[:, None])
    return user_efforts(robot, friction_torque(robot.tree, motion)[:, 0].tolist())


def _stored(tracing: Tracing, gravity: bool, with_friction: bool) -> AnyArray:
    """All torques that do not depend on accelerations; springs stay where the synchronous task makes the friction."""
    robot = tracing.problem.robot
    torques = rigid_torques(tracing, tracing.joints("qd"), gravity=gravity)
    stays = [with_friction or depends_on_position(term) for term in robot.drives]
    kept = replace(tracing, drives=np.where(stays, tracing.drives, 0.0))
    return user_efforts(robot, [a + b for a, b in zip(torques, friction_torques(kept), strict=True)])


def _background_function(with_friction: bool) -> Function:
    """M by one of the algorithms for it, the rest by Newton-Euler without accelerations."""

    def algorithm(matrix: str) -> Algorithm:
        inner = FUNCTIONS["mass_matrix"].algorithms[matrix]

        def trace(tracing: Tracing) -> Outputs:
            return {**inner.trace(tracing), "stored": _stored(tracing, True, with_friction)}

        return replace(inner, trace=trace)

    return Function(
        "background",
        "mass matrix and all torques that do not depend on accelerations",
        joint_vectors("q", "qd"),
        lambda robot, q, qd: (mass_matrix(robot, q), stored_torque(robot, q, qd, with_friction)),
        {name: algorithm(name) for name in ("composite", "composite_trace")},
        may_vanish=True,
    )


def _velocity_function(with_friction: bool) -> Function:
    def trace(tracing: Tracing) -> Outputs:
        return {"stored": _stored(tracing, False, with_friction)}

    return Function(
        "velocity",
        "velocity torques and friction",
        joint_vectors("q", "qd"),
        lambda robot, q, qd: stored_torque(robot, q, qd, with_friction) - gravity_torque(robot, q),
        {"newton_euler": Algorithm(trace, any_unit=True, sums_angles=True)},
        may_vanish=True,
    )
