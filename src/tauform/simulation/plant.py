"""Plant: what is simulated and how, all that the programs of a step depend on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from tauform.arrays import Array
from tauform.codegen.functions.function import Shapes
from tauform.description.joint import Limits
from tauform.description.robot import Robot
from tauform.errors import SimulationError
from tauform.simulation.control import PORTS, Law
from tauform.simulation.dry import JointBounds
from tauform.simulation.integrators import Integrator
from tauform.simulation.settling import Contact

OUTPUTS = ("q_next", "qd_next", "qdd", "tau")


@dataclass(frozen=True)
class Plant:
    """Subject and method of a simulation: all that a step's program depends on.

    Attributes:
        law: of the controller.
        model: robot that the controller believes in.
        has_stops: whether joints stop at their limits.
        frames: those that feel an external wrench.
        has_effort_limits: whether torques of motors end at the description's efforts.
    """

    robot: Robot
    integrator: Integrator
    law: Law
    model: Robot
    has_stops: bool
    frames: tuple[str, ...] = ()
    has_effort_limits: bool = False

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
                # Velocities settle by one coordinate's friction at a time.
                if len(term.joints) > 1 or ("carried" in term.reads and robot.closure is not None):
                    raise _refused(robot, term.joints[0], f"{term.meaning} acts on several coordinates")
        for j in np.flatnonzero(rubbing & (np.count_nonzero(F, axis=1) > 1)):
            raise _refused(robot, int(j), "it follows several coordinates")
        # (n, n_bodies): friction at a tree joint, felt through its rate.
        return np.abs(F.T) * rubbing

    @cached_property
    def stops(self) -> JointBounds:
        """Limits of each coordinate of q."""
        # `simulate(limits=False)` lets joints go on beyond their limits.
        if not self.has_stops:
            return JointBounds(*[[None] * self.robot.n_joints] * 2)
        return JointBounds(*([_finite(getattr(limit, side)) for limit in self._limits] for side in ("lower", "upper")))

    @cached_property
    def efforts(self) -> list[float | None]:
        """The largest torque of each motor; None where it has no end."""
        return [_finite(limit.effort) if self.has_effort_limits else None for limit in self._limits]

    def cut_off(self, tau: Array) -> Array:
        """Torques (..., n) that are given, at most those of the motors."""
        # Infinity cuts nothing off.
        most = np.array([np.inf if effort is None else effort for effort in self.efforts])
        return np.clip(tau, -most, most)

    @property
    def _limits(self) -> list[Limits]:
        limits = {joint.name: joint.limits for joint in self.robot.joints}
        return [limits[name] for name in self.robot.joint_names]

    @cached_property
    def contact(self) -> Contact:
        """Coordinates that rub or have stops."""
        rubbing = np.flatnonzero(self.dry_joints.any(axis=1)) if self.is_dry else np.zeros(0, dtype=int)
        # Only joints with a stop get ports: every port is read in every step.
        sides = (tuple(j for j, x in enumerate(side) if x is not None) for side in self.stops)
        return Contact(self.robot.n_joints, tuple(rubbing.tolist()), *sides)

    @property
    def has_contact(self) -> bool:
        """Whether velocities are settled after each step."""
        return bool(self.contact.rubbing or self.contact.lower or self.contact.upper)

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


def _finite(x: float | None) -> float | None:
    return x if x is not None and np.isfinite(x) else None
