"""Subject: what is reduced, a robot or a closed form that is no robot's as it stands."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from tauform.arrays import Array
from tauform.closedform.model.bound import BoundModel
from tauform.closedform.model.derive import derive
from tauform.closedform.reduction.reduction import Completed
from tauform.codegen.factored.factored import companions
from tauform.codegen.factored.model_program import whole_robot
from tauform.codegen.generate import generate
from tauform.codegen.program.program import Program
from tauform.description.robot import Robot
from tauform.rigidbody.inertia.mass_matrix import mass_matrix
from tauform.rigidbody.inverse_dynamics import inverse_dynamics


@dataclass(frozen=True, eq=False)
class Subject:
    """What is reduced.

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
        robot = None if given.model.fixed else whole_robot(given)
        return cls(robot or given.as_robot(), given, robot is not None)

    @property
    def moving(self) -> tuple[int, ...]:
        """Indices of the joints that are not fixed."""
        return tuple(range(self.robot.n_joints)) if self.model is None else self.model.moving

    @property
    def has_closed_form(self) -> bool:
        """Whether terms can be left out."""
        return self.model is not None or self.robot.is_chain

    @cached_property
    def closed_form(self) -> BoundModel:
        """The closed form with numbers, derived where none was given."""
        return self.model or derive(self.robot, include="declared").bind(self.robot)

    @cached_property
    def companions(self) -> Completed:
        """Which entries of the closed form stay with others at no cost."""
        return companions(self.closed_form)

    def torque(self, q: Array, qd: Array, qdd: Array) -> Array:
        """Exact inverse dynamics."""
        return (
            inverse_dynamics(self.robot, q, qd, qdd) if self.is_robot else self.closed_form.inverse_dynamics(q, qd, qdd)
        )

    def mass_matrix(self, q: Array) -> Array:
        """Exact mass matrix."""
        return mass_matrix(self.robot, q) if self.is_robot else self.closed_form.mass_matrix(q)

    def program(self, function: str) -> Program:
        """The cheapest exact program of a function."""
        return generate(self.robot if self.is_robot else self.closed_form, function)
