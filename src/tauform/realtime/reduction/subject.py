"""Subject: what is reduced, a robot or a closed form that is no robot's as it stands."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from tauform.arrays import Array
from tauform.closedform.model.bound import BoundModel
from tauform.closedform.model.derive import derive
from tauform.closedform.profile import VECTORS, States
from tauform.closedform.reduction.reduction import Completed, load_gain
from tauform.codegen.factored.factored import companions
from tauform.codegen.factored.model_program import whole_robot
from tauform.codegen.generate import generate
from tauform.codegen.program.program import Program
from tauform.description.robot import GeneralClosure, Robot
from tauform.errors import ModelError
from tauform.rigidbody.inertia.mass_matrix import mass_matrix
from tauform.rigidbody.inverse_dynamics import inverse_dynamics
from tauform.rigidbody.load import has_load, load_gains

# Routes that change the recursive program of a robot.
ROBOT_ROUTES = ("parameters", "velocity")


@dataclass(frozen=True, eq=False)
class Subject:
    """Subject of a reduction.

    Attributes:
        robot: gives names and limits, and the dynamics where these are its own.
        model: the closed form that was given; None for a robot.
        is_robot: whether the dynamics are the robot's; they are not where joints are fixed or terms were left out.
    """

    robot: Robot
    model: BoundModel | None
    is_robot: bool

    @classmethod
    def of(cls, given: Robot | BoundModel) -> Subject:
        """Subject made of a robot, or of a closed form with numbers."""
        if isinstance(given, Robot):
            return cls(given, None, True)
        # A closed form without anything left out is a robot's again: all routes are open.
        robot = None if given.model.fixed else whole_robot(given)
        return cls(robot or given.as_robot(), given, robot is not None)

    @property
    def moving(self) -> tuple[int, ...]:
        """Indices of the joints that are not fixed."""
        return tuple(range(self.robot.n_joints)) if self.model is None else self.model.moving

    def missing(self, route: str) -> ModelError | None:
        """Reason why it does not have a route; None where it does."""
        if route == "terms":
            try:
                self.closed_form  # noqa: B018
            except ModelError as reason:  # loops that bend have no terms, long chains too many
                return reason
        if route not in ROBOT_ROUTES:
            return None
        if not self.is_robot:
            why = f"need a robot's own dynamics, and {self.robot.name} has fixed joints or terms left out"
            return ModelError(f"routes: {' and '.join(ROBOT_ROUTES)} {why}; take terms or operations")
        if isinstance(self.robot.closure, GeneralClosure):
            why = f"need loops that are linear in q, and {self.robot.name} has others"
            return ModelError(f"routes: {' and '.join(ROBOT_ROUTES)} {why}; take operations")
        return None

    @cached_property
    def closed_form(self) -> BoundModel:
        """The closed form with numbers, derived where none was given."""
        return self.model or derive(self.robot, include=self.include).bind(self.robot)

    @property
    def include(self) -> Literal["declared"] | None:
        """Parameters that are left out and refitted: all, or links and rotors where friction depends on their torque.

        Base parameters may hold weight and offset as one number, of which load friction feels a part only.
        """
        return None if has_load(self.robot.tree) else "declared"

    @cached_property
    def companions(self) -> Completed:
        """Entries of the closed form that stay with others at no cost."""
        return companions(self.closed_form)

    def torque(self, q: Array, qd: Array, qdd: Array, temperature: Array | None = None) -> Array:
        """Exact inverse dynamics."""
        if self.is_robot:
            return inverse_dynamics(self.robot, q, qd, qdd, temperature)
        return self.closed_form.textbook.inverse_dynamics(q, qd, qdd, temperature)

    def gains(self, q: Array, qd: Array, qdd: Array, temperature: Array | None = None) -> Array:
        """(N, n) change of the torque per change of what links and rotors take: 1, and more or less by load friction.

        tau = r + Fl |r| sign(qd) + other has the slope 1 + Fl sign(r) sign(qd) by r.
        """
        if not has_load(self.robot.tree):
            return np.ones_like(q)
        if not self.is_robot:
            return load_gain(self.closed_form, (q, qd, qdd, *([] if temperature is None else [temperature])))
        # r: torque of links and rotors, the drives aside.
        gains: Array = 1 + load_gains(self.robot, qd, inverse_dynamics(self.robot, q, qd, qdd, drives=False))
        return gains

    def mass_matrix(self, q: Array) -> Array:
        """Exact mass matrix."""
        return mass_matrix(self.robot, q) if self.is_robot else self.closed_form.textbook.mass_matrix(q)

    def program(self, function: str) -> Program:
        """The cheapest exact program of a function."""
        return generate(self.robot if self.is_robot else self.closed_form, function)


def function_states(subject: Subject, program: Program, states: States) -> list[Array]:
    """Inputs of a program at states of a profile; torques are those that the accelerations need."""
    known = dict(zip(VECTORS, states, strict=False))
    if any(port.name == "tau" for port in program.inputs):
        known["tau"] = subject.torque(*states)
    return [known[port.name] for port in program.inputs]
