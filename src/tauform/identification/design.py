"""Design: which columns explain the torque, tau = columns(q, qd, qdd) @ values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from tauform.arrays import Array
from tauform.closedform.base import base_parameters
from tauform.closedform.baseset import BaseParameters
from tauform.codegen.kernel import compile as compiled
from tauform.description.robot import ParameterGroup, Robot
from tauform.errors import GenerationError
from tauform.identification.terms import Column, Term, step
from tauform.rigidbody.regressor import regressor

# Batches from this length on are worth a second of compiling.
KERNEL_STATES = 10_000
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
        kernel = self._kernel if len(q) >= KERNEL_STATES else None
        of_links = [k for k, p in enumerate(self.base.pivots) if p < n_link]
        if kernel is not None:
            out[:, :, of_links] = kernel(q, qd, qdd)
        else:
            out[:, :, of_links] = regressor(self.robot, q, qd, qdd)[:, :, [self.base.pivots[k] for k in of_links]]
        rates, accelerations = qd @ self.loops.T, qdd @ self.loops.T
        for k, pivot in enumerate(self.base.pivots):
            body, kind = divmod(pivot - n_link, 4)
            if pivot >= n_link:
                v = rates[:, body]
                value = (accelerations[:, body], v, step(v, self.widths[body]), np.ones_like(v))[kind]
                out[:, :, k] = value[:, None] * self.loops[body]
        for k, term in enumerate(self.terms):
            out[:, :, self.base.n + k] = term.torque(q, qd, qdd)
        return out

    @cached_property
    def _kernel(self) -> Callable[..., Array] | None:
        """Compiled columns of the links, five times as quick for long batches; None where there is none."""
        bare = replace(self.robot, joints=tuple(replace(joint, rotor_inertia=None) for joint in self.robot.joints))
        pivots = tuple(p for p in self.base.pivots if p < 10 * self.robot.n_bodies)
        if bare.closure is not None or base_parameters(bare).pivots != pivots:
            return None
        try:
            return compiled(bare, "base_regressor")
        except GenerationError:
            return None

    def with_terms(self, terms: Sequence[Term | Column], widths: Sequence[float] | None = None) -> Design:
        """The same base parameters with other terms."""
        return replace(self, terms=tuple(terms), widths=tuple(self.widths if widths is None else widths))
