"""multirate: inverse dynamics split into a synchronous task of a few operations and a background task.  [Izaguirre1992]

    tau = M(q) qdd + stored(q, qd),    stored = velocity torque + gravity torque + friction

The background task renews M and stored; the synchronous task multiplies and adds, n products and n sums a joint.
The background may itself be split in two by how fast its parts change: `coefficients` (positions alone), renewed at
every so many-th run of it, and `velocity`, renewed at every run.
Coulomb friction jumps when a joint turns round, which a slow background notices late: friction may instead be made by
the synchronous task, for up to two products and sums more a joint.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from tauform.arguments import checked_methods
from tauform.arrays import AnyArray, Array
from tauform.codegen.certificate import checked
from tauform.codegen.functions import FUNCTIONS, Algorithm, Function
from tauform.codegen.functions.function import joint_vectors
from tauform.codegen.functions.torques import friction_torques, rigid_torques
from tauform.codegen.generate import generate, program_of
from tauform.codegen.minimal.problem import problem_of, tree_coordinates, user_efforts
from tauform.codegen.minimal.tracing import Outputs, Tracing
from tauform.codegen.program.graph import Graph
from tauform.codegen.program.lower import lower
from tauform.codegen.program.program import Program
from tauform.codegen.runtime.kernel import Kernel, compile_program
from tauform.description.robot import Robot
from tauform.errors import ModelError
from tauform.rigidbody.friction import friction as friction_torque
from tauform.rigidbody.gravity import bias_torque, gravity_torque
from tauform.rigidbody.mass_matrix import mass_matrix

if TYPE_CHECKING:
    from tauform.closedform.profile import Profile
    from tauform.realtime.multirate.prediction import Prediction
    from tauform.realtime.multirate.run import Motion, RunReport
    from tauform.realtime.multirate.staleness import Rates


Friction = Literal["background", "synchronous"]
# Of the synchronous task's torques, relative to each joint's largest.
TOLERANCE = 1e-12


@checked_methods
@dataclass(frozen=True, eq=False, repr=False)
class MultiRate:
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

    def predict(self, profile: Profile, rates: Rates, n_states: int = 20_000, ages: Array | None = None) -> Prediction:
        """Torque error that this split will cause, foretold from rates and bounds: no motion is replayed.

        Args:
            profile: bounds of the motion (`Profile.harmonic`, `Profile.ranges`), or a trajectory, its states taken in
                their order.
            rates: periods and latency.
            n_states: states to sample from bounds.
            ages: (2, N) ages of coefficients and velocity torques that a run met (`RunReport.ages`), in place of those
                that the rates imply.

        Raises:
            ModelError: the profile leaves the joint limits, or belongs to a robot with another number of joints.
        """
        from tauform.realtime.multirate.prediction import predict

        return predict(self, profile, rates, n_states, ages=ages)

    def slowest_background(
        self, profile: Profile, error: float, control: float, latency: float = 0.0, coefficients_every: int = 1
    ) -> Rates | None:
        """Rates with the longest background period whose relative error (RMS) stays below a bound; None if none does.

        Args:
            profile: states that will be met.
            error: share of the torque, 0.01 is 1 %.
            control: period of the synchronous task [s].
            latency: from the background's input to the use of its results [s].
            coefficients_every: mass matrix and gravity are renewed at every so many-th run of the background.

        Raises:
            ModelError: the bound is not between 0 and 1, or a time is not positive.
        """
        from tauform.realtime.multirate.prediction import slowest_background

        return slowest_background(self, profile, error, control, latency, coefficients_every)

    def run(self, motion: Motion, rates: Rates, seconds: float = 2.0) -> RunReport:
        """Run both tasks on this machine along a motion, in real time, and compare with torques that are never late.

        Args:
            motion: function that returns q, qd, qdd, (N, n) each, at given times (N,) [s].
            rates: control and background period, the latter rounded to whole ticks; the latency is one tick.
            seconds: of real time, more than one background period.

        Raises:
            ModelError: the duration is not longer than a background period.
        """
        from tauform.realtime.multirate.run import run

        return run(self, motion, rates, seconds)

    def write_c(
        self, folder: str | PathLike[str], *, real: str = "double", force: bool = False, name: str | None = None
    ) -> list[Path]:
        """Write the programs of both tasks as C99, and as C11 the wait-free exchange between them with a demonstration.

        Args:
            folder: made if it does not exist; one that we wrote before is replaced.
            real: "double" or "float".
            force: also write into a folder that holds other files.
            name: prefix of all names, an identifier of C; made of the robot's name if not given.

        Returns:
            Paths of the files.

        Raises:
            GenerationError: a folder that is not ours or not writable.
        """
        from tauform.realtime.multirate.write import write_multirate_c

        return write_multirate_c(self, folder, real=real, force=force, name=name)

    def __repr__(self) -> str:
        b, s, n = self.background, self.synchronous, self.robot.n_joints
        return (
            f"MultiRate({self.robot.name!r}: synchronous {s.n_multiplications // n} mult + {s.n_additions // n} add a "
            f"joint, background {b.n_multiplications} mult + {b.n_additions} add)"
        )

    def __str__(self) -> str:
        lines = [repr(self)]
        for program in self.programs:
            lines.append(f"  {program.name:12} {program.n_multiplications:4} mult + {program.n_additions:4} add")
        return "\n".join(lines)


def multirate(robot: Robot, friction: Friction = "background") -> MultiRate:
    """Split inverse dynamics into a synchronous and a background task, each checked against the textbook algorithms.

    Args:
        friction: the task that makes it; "synchronous" costs operations at every tick and follows reversals at once.

    Raises:
        ModelError: no such task.
        GenerationError: a program would be too long or failed verification.
    """
    if friction not in ("background", "synchronous"):
        raise ModelError(f'friction: expected "background" or "synchronous", got {friction!r}')
    problem, stores_friction = problem_of(robot), friction == "background"
    background, velocity = _background_function(stores_friction), _velocity_function(stores_friction)
    return MultiRate(
        robot=robot,
        background=program_of(problem, background, list(background.algorithms)),
        synchronous=_synchronous(robot, not stores_friction),
        coefficients=generate(robot, "coefficients"),
        velocity=program_of(problem, velocity, list(velocity.algorithms)),
    )


def stored_torque(robot: Robot, q: AnyArray, qd: AnyArray, with_friction: bool = True) -> Array:
    """Velocity and gravity torques, and friction: what the background task stores beside the mass matrix."""
    stored: Array = bias_torque(robot, q, qd)
    return stored + friction_torque(robot, qd) if with_friction else stored


def _synchronous(robot: Robot, with_friction: bool) -> Program:
    n = robot.n_joints
    graph = Graph()
    M, stored = graph.input("M", n, n), graph.input("stored", n)
    qd = graph.input("qd", n) if with_friction else None
    qdd = graph.input("qdd", n)
    tau = [stored[i] + sum((M[i, j] * qdd[j] for j in range(1, n)), M[i, 0] * qdd[0]) for i in range(n)]
    if qd is not None:
        tau = [a + b for a, b in zip(tau, _friction(robot, qd), strict=True)]
    program = lower(graph, "synchronous", {"tau": tau}, robot=robot.name, algorithm="matrix product")

    def reference(M: Array, stored: Array, *rates: Array) -> Array:
        torque: Array = np.einsum("kij,kj->ki", M, rates[-1]) + stored
        return torque + friction_torque(robot, rates[0]) if with_friction else torque

    shapes = [port.shape for port in program.inputs]
    return checked(program, shapes, reference, TOLERANCE, "matrix product in NumPy")


def _friction(robot: Robot, qd: AnyArray) -> AnyArray:
    """Friction on scalars, in the user's coordinates."""
    torques = []
    for joint, velocity in zip(robot.joints, tree_coordinates(robot, qd, False), strict=True):
        coulomb = joint.coulomb * velocity.sign() if joint.coulomb else 0.0
        torques.append(joint.viscous * velocity + coulomb + joint.offset)
    return user_efforts(robot, torques)


def _stored(tracing: Tracing, gravity: bool, with_friction: bool) -> AnyArray:
    torques = rigid_torques(tracing, tracing.joints("qd"), gravity=gravity)
    if with_friction:
        torques = [a + b for a, b in zip(torques, friction_torques(tracing), strict=True)]
    return user_efforts(tracing.problem.robot, torques)


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
