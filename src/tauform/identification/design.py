"""Design: which columns explain the torque, tau = columns(q, qd, qdd) @ values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from tauform.arrays import Array
from tauform.closedform.base import base_parameters
from tauform.closedform.baseset import BaseParameters
from tauform.description.robot import ParameterGroup, Robot
from tauform.identification.terms import Column, Term, step
from tauform.rigidbody.regressor import regressor

DEFAULT_INCLUDE: tuple[ParameterGroup, ...] = ("link", "rotor", "viscous", "coulomb", "offset")


@dataclass(frozen=True, eq=False)
class Design:
    """Base parameters with friction, then further terms.

    Attributes:
        base: the base parameters; their friction columns are Fv qd, Fc step(qd, width), Fo.
        widths: (n_bodies,) velocity over which each joint's Coulomb friction changes sign; 0 is a sharp sign.
        terms: further columns.
    """

    robot: Robot
    base: BaseParameters
    widths: tuple[float, ...]
    terms: tuple[Term | Column, ...] = ()

    @classmethod
    def of(
        cls,
        robot: Robot,
        include: Sequence[ParameterGroup] = DEFAULT_INCLUDE,
        terms: Sequence[Term | Column] = (),
        widths: Sequence[float] | None = None,
    ) -> Design:
        """All base parameters of the chosen groups, with sharp Coulomb friction."""
        base = base_parameters(robot, include=include)
        return cls(robot, base, tuple(widths or (0.0,) * robot.n_bodies), tuple(terms))

    @property
    def n_columns(self) -> int:
        """Base parameters and terms."""
        return self.base.n + len(self.terms)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Of the columns: base.names, then the terms'."""
        return (*self.base.names, *(term.name for term in self.terms))

    @property
    def loops(self) -> Array:
        """(n_bodies, n) rates of the tree's joints for unit rates of q."""
        return self.robot.closure.F if self.robot.closure else np.eye(self.robot.n_bodies)

    def columns(self, q: Array, qd: Array, qdd: Array) -> Array:
        """(N, n, n_columns) torque of each column for a value of one."""
        n_link = 10 * self.robot.n_bodies
        out = np.empty((*q.shape, self.n_columns))
        inertial = [k for k, p in enumerate(self.base.pivots) if p < n_link or (p - n_link) % 4 == 0]
        every = regressor(self.robot, q, qd, qdd)
        out[:, :, inertial] = every[:, :, [self.base.pivots[k] for k in inertial]]
        rates = qd @ self.loops.T
        for k, pivot in enumerate(self.base.pivots):
            body, kind = divmod(pivot - n_link, 4)
            if pivot >= n_link and kind:
                v = rates[:, body]
                value = (v, step(v, self.widths[body]), np.ones_like(v))[kind - 1]
                out[:, :, k] = value[:, None] * self.loops[body]
        for k, term in enumerate(self.terms):
            out[:, :, self.base.n + k] = term.torque(q, qd, qdd)
        return out

    def with_terms(self, terms: Sequence[Term | Column], widths: Sequence[float] | None = None) -> Design:
        """The same base parameters with other terms."""
        return replace(self, terms=tuple(terms), widths=tuple(self.widths if widths is None else widths))
