"""Programs of the two tasks of a multi-rate computation, each checked against the textbook algorithms.  [Izaguirre1992]

    tau = M(q) qdd + stored(q, qd),    stored = velocity torque + gravity torque + friction

The background task renews M and stored; the synchronous task multiplies and adds, n products and n sums per joint.
Friction that depends on load needs the torque of the present acceleration, so the synchronous task always makes it, of
what joints carry; springs and other friction then stand beside what is stored:

    tau = carried + Fl |carried| sign(qd) + beside,    carried = M(q) qdd + stored .
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from tauform.arrays import AnyArray, Array
from tauform.closedform.profile import VECTORS, States
from tauform.codegen.candidates import program_of
from tauform.codegen.certificate import checked
from tauform.codegen.functions import FUNCTIONS, Algorithm, Function
from tauform.codegen.functions.function import joint_vectors
from tauform.codegen.functions.torques import friction_torques, rigid_torques
from tauform.codegen.generate import generate
from tauform.codegen.minimal.problem import (
    Parameters,
    PayloadBinding,
    at_leading_joints,
    problem_of,
    tree_coordinates,
    user_efforts,
)
from tauform.codegen.minimal.tracing import Outputs, Tracing
from tauform.codegen.program.graph import Graph
from tauform.codegen.program.lower import lower
from tauform.codegen.program.program import Program
from tauform.codegen.runtime.kernel import Kernel, compile_program
from tauform.description.drives.groups import JointState
from tauform.description.robot import Robot
from tauform.errors import ModelError
from tauform.notebook import Displayed
from tauform.realtime.drives import depends_on_position, of_load, of_position, of_velocity, without_load
from tauform.rigidbody.drives import friction_torque, temperatures
from tauform.rigidbody.friction import friction, friction_under
from tauform.rigidbody.gravity import bias_torque, gravity_torque
from tauform.rigidbody.inertia.mass_matrix import mass_matrix
from tauform.rigidbody.load import has_load
from tauform.wording import argument

Friction = Literal["background", "synchronous"]
# M, stored and, where friction depends on load, beside.
Results = tuple[Array, ...]
# Of the synchronous task's torques, relative to each joint's largest.
TOLERANCE = 1e-12


@dataclass(frozen=True, eq=False, repr=False)
class Tasks(Displayed):
    """Programs of both tasks.

    Attributes:
        background: (q, qd) -> M (n, n), stored (n); where friction depends on load also beside (n).
        synchronous: (M, stored, qdd) -> tau; it reads qd too where it makes friction, and beside where there is one.
        coefficients: q -> M, gravity: the part of the background that positions determine.
        velocity: (q, qd) -> velocity torque and friction: the rest of it.
        given: values of the run-time parameters, in the order of the programs' setup; empty where all are baked in.

    The task that makes friction which depends on temperature takes temperatures last.
    """

    robot: Robot
    background: Program
    synchronous: Program
    coefficients: Program
    velocity: Program
    task: Friction = "background"
    given: tuple[Array, ...] = ()

    @property
    def programs(self) -> tuple[Program, ...]:
        """All four, for `tauform.write_c`."""
        return self.background, self.synchronous, self.coefficients, self.velocity

    @cached_property
    def background_kernel(self) -> TaskKernel:
        """The background task compiled for this machine."""
        return TaskKernel(self.background, self.given)

    @cached_property
    def synchronous_kernel(self) -> Kernel:
        """The synchronous task compiled for this machine."""
        return compile_program(self.synchronous)

    @cached_property
    def coefficients_kernel(self) -> TaskKernel:
        """The part of the background that positions determine, compiled for this machine."""
        return TaskKernel(self.coefficients, self.given)

    @cached_property
    def velocity_kernel(self) -> TaskKernel:
        """The part of the background that depends on velocities, compiled for this machine."""
        return TaskKernel(self.velocity, self.given)

    @property
    def setup_ports(self) -> tuple[str, ...]:
        """Names of the run-time parameters: theta, payload, both or none."""
        return () if self.background.setup is None else tuple(port.name for port in self.background.setup.inputs)

    @property
    def has_beside(self) -> bool:
        """Whether load friction asks for what joints carry, apart from springs and other friction."""
        return any(port.name == "beside" for port in self.synchronous.inputs)

    @property
    def stores_friction(self) -> bool:
        """Whether the background makes friction, but for what depends on load."""
        return self.task == "background"

    def results(self, q: Array, qd: Array, temperature: Array | None = None) -> Results:
        """M, stored and, where friction depends on load, beside: the background task, compiled."""
        return self.renewed(self._motion(q, qd, qd, temperature))

    def torque(
        self,
        M: Array,
        stored: Array,
        qd: Array,
        qdd: Array,
        temperature: Array | None = None,
        beside: Array | None = None,
    ) -> Array:
        """The synchronous task on results of the background, compiled."""
        results = (M, stored) if beside is None else (M, stored, beside)
        return self.tick(results, self._motion(qd, qd, qdd, temperature))

    def renewed(self, motion: States) -> Results:
        """Results of the background task at a motion."""
        return _run(self.background_kernel, motion)

    def rest(self, motion: States) -> Results:
        """What is added to the stored gravity, and beside: the task of velocities at a motion."""
        return _run(self.velocity_kernel, motion)

    def tick(self, results: Results, motion: States) -> Array:
        """Torques of the synchronous task at a motion."""
        # Results come first, then what the task reads of the motion.
        tau: Array = self.synchronous_kernel(*results, *_read(self.synchronous, motion))
        return tau

    def _motion(self, q: Array, qd: Array, qdd: Array, temperature: Array | None) -> States:
        given = temperatures(self.robot, temperature)
        # Temperatures may be one per joint: they are spread over the states.
        return q, qd, qdd, *(np.broadcast_to(x, np.shape(qd)) for x in given.values())


class TaskKernel:
    """A part of the background, compiled; what depends on run-time parameters alone is computed once."""

    def __init__(self, program: Program, given: tuple[Array, ...]) -> None:
        self.program = program
        self._kernel = compile_program(program)
        # Once: run-time parameters change far less often than the background runs.
        self._block = () if program.setup is None else (program.setup(*given),)

    def __call__(self, *arrays: AnyArray) -> Any:
        return self._kernel(*arrays, *self._block)


def _run(kernel: TaskKernel, motion: States) -> Results:
    found = kernel(*_read(kernel.program, motion))
    return found if isinstance(found, tuple) else (found,)


def _read(program: Program, motion: States) -> list[Array]:
    """What a program reads of a motion q, qd, qdd and temperatures, in the order of its inputs."""
    # A motion holds q, qd, qdd and, perhaps, temperatures: shorter than the list of names.
    known = dict(zip(VECTORS, motion, strict=False))
    return [known[port.name] for port in program.inputs if port.name in known]


def with_gravity(M: Array, gravity: Array, rest: Results) -> Results:
    """Results of the background from those of its two parts."""
    # `beside` exists only with load friction, which needs springs and friction apart from what joints carry.
    velocity, *beside = rest
    return M, gravity + velocity, *beside


def tasks_of(
    robot: Robot, task: Friction, parameters: Parameters = "baked", payload: PayloadBinding = "baked"
) -> Tasks:
    """Both tasks; `task` names the one that makes friction.

    Raises:
        ModelError: no such task, or one that would need run-time parameters at every tick.
        GenerationError: a program would be too long or failed verification.
    """
    if task not in ("background", "synchronous"):
        raise ModelError(f'friction: expected "background" or "synchronous", got {task!r}')
    # The synchronous task has no port for theta, and one would cost operations at every tick.
    if parameters == "runtime" and (task == "synchronous" or has_load(robot.tree)):
        raise ModelError(
            "parameters: friction of the synchronous task has its numbers baked in",
            argument="parameters",
            remedy=f"give {argument('friction', 'background')} and friction that does not depend on load",
        )
    problem, stores_friction = problem_of(robot, parameters, payload), task == "background"
    background, velocity = _background_function(stores_friction), _velocity_function(stores_friction)
    # Friction is in one of the tasks only, never in both.
    return Tasks(
        robot=robot,
        background=program_of(problem, background, list(background.algorithms)),
        synchronous=_synchronous(robot, not stores_friction),
        coefficients=generate(robot, "coefficients", parameters=parameters, payload=payload),
        velocity=program_of(problem, velocity, list(velocity.algorithms)),
        task=task,
        given=problem.defaults,
    )


def beside_torque(
    robot: Robot, q: AnyArray, qd: AnyArray, temperature: AnyArray | None = None, with_friction: bool = True
) -> Array:
    """Springs, and friction that does not depend on load: what of the drives the background may store."""
    # Load friction needs the torque of the tick; the background knows the last one only.
    kept = without_load(robot) if with_friction else of_position(robot)
    return friction(kept, qd, q, temperature=temperature)


def _synchronous(robot: Robot, with_friction: bool) -> Program:
    n, graph, loaded = robot.n_joints, Graph(), has_load(robot.tree)
    rubbing = of_velocity(robot)
    # A port that nothing reads would still have to be filled at every tick.
    warm = with_friction and rubbing.needs_temperature
    M = graph.input("M", n, n)
    # what is beside comes after what is stored, as the background returns them
    names = ["stored", *["beside"] * loaded, *["qd"] * (loaded or with_friction), "qdd", *["temperature"] * warm]
    x = {name: graph.input(name, n) for name in names}
    # The sum starts from a product, not from zero: n products and n sums per joint.
    tau = [x["stored"][i] + sum((M[i, j] * x["qdd"][j] for j in range(1, n)), M[i, 0] * x["qdd"][0]) for i in range(n)]
    if loaded:
        parts = _friction(of_load(robot), x["qd"], carried=np.array(tau, dtype=object)), x["beside"]
        tau = [sum(entries) for entries in zip(*parts, tau, strict=True)]
    if with_friction:
        tau = [a + b for a, b in zip(tau, _friction(rubbing, x["qd"], x.get("temperature")), strict=True)]
    program = lower(graph, "synchronous", {"tau": tau}, robot=robot.name, algorithm="matrix product")

    def reference(M: Array, *arrays: Array) -> Array:
        given = dict(zip(names, arrays, strict=True))
        torque: Array = (M * given["qdd"][:, None]).sum(axis=-1) + given["stored"]
        if loaded:
            qd = given["qd"]
            torque = torque + friction_under(of_load(robot), 0 * qd, qd, torque) + given["beside"]
        if with_friction:
            torque = torque + friction(rubbing, given["qd"], temperature=given.get("temperature"))
        return torque

    # M is an input here: any numbers do, it need not be that of a posture.
    shapes = [port.shape for port in program.inputs]
    return checked(program, shapes, reference, TOLERANCE, "matrix product in NumPy")


def _friction(
    robot: Robot, qd: AnyArray, temperature: AnyArray | None = None, carried: AnyArray | None = None
) -> AnyArray:
    """Friction on scalars, in the user's coordinates."""
    rows = [None if x is None else at_leading_joints(robot, x)[:, None] for x in (temperature, carried)]
    motion = JointState(None, tree_coordinates(robot, qd, False)[:, None], None, *rows)
    return user_efforts(robot, friction_torque(robot.tree, motion)[:, 0].tolist())


def _stored(tracing: Tracing, gravity: bool, with_friction: bool) -> Outputs:
    """All torques that do not depend on accelerations; springs stay where the synchronous task makes the friction."""
    robot = tracing.problem.robot
    torques = rigid_torques(tracing, tracing.joints("qd"), gravity=gravity)
    stays = [with_friction or depends_on_position(term) for term in robot.drives]
    # no torque is carried here, so that load friction is left out
    # Terms that the other task makes keep their place, with a coefficient that the graph drops.
    drives = friction_torques(replace(tracing, drives=np.where(stays, tracing.drives, 0.0)))
    # Load friction scales what is carried: springs and other friction must not be in that sum.
    if has_load(robot.tree):
        return {"stored": tracing.efforts(torques), "beside": tracing.efforts(drives)}
    return {"stored": tracing.efforts([a + b for a, b in zip(torques, drives, strict=True)])}


def _stored_reference(robot: Robot, with_friction: bool, motion: Sequence[AnyArray]) -> tuple[Array, ...]:
    q, qd, *warm = motion
    # Without accelerations: Coriolis, centrifugal and gravity torques.
    rigid = bias_torque(robot, q, qd)
    beside = beside_torque(robot, q, qd, warm[0] if warm else None, with_friction)
    return (rigid, beside) if has_load(robot.tree) else (rigid + beside,)


def _background_function(with_friction: bool) -> Function:
    """M by one of the algorithms for it, the rest by Newton-Euler without accelerations."""

    def algorithm(matrix: str) -> Algorithm:
        inner = FUNCTIONS["mass_matrix"].algorithms[matrix]

        def trace(tracing: Tracing) -> Outputs:
            return {**inner.trace(tracing), **_stored(tracing, True, with_friction)}

        return replace(inner, trace=trace)

    return Function(
        "background",
        "mass matrix and all torques that do not depend on accelerations",
        joint_vectors("q", "qd", drives=with_friction),
        lambda robot, *motion: (mass_matrix(robot, motion[0]), *_stored_reference(robot, with_friction, motion)),
        {name: algorithm(name) for name in ("composite", "composite_trace")},
        may_vanish=True,
    )


def _velocity_function(with_friction: bool) -> Function:
    def trace(tracing: Tracing) -> Outputs:
        return _stored(tracing, False, with_friction)

    def reference(robot: Robot, *motion: AnyArray) -> tuple[Array, ...]:
        stored, *beside = _stored_reference(robot, with_friction, motion)
        return stored - gravity_torque(robot, motion[0]), *beside

    return Function(
        "velocity",
        "velocity torques and friction",
        joint_vectors("q", "qd", drives=with_friction),
        reference,
        {"newton_euler": Algorithm(trace, any_unit=True, sums_angles=True)},
        may_vanish=True,
    )
