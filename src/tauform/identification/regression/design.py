"""Design: which columns explain the torque, tau = columns(q, qd, qdd) @ values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from tauform.arrays import AnyArray, Array
from tauform.closedform.base.baseset import BaseParameters
from tauform.closedform.base.parameters import base_parameters
from tauform.codegen.compile import compile as compiled
from tauform.description.parameter_groups import Include, ParameterGroup
from tauform.description.robot import Robot
from tauform.errors import GenerationError, IdentificationError
from tauform.identification.regression.terms import REFERENCE_TEMPERATURE, Column, Term, step
from tauform.rigidbody.regressor import regressor
from tauform.wording import argument

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
        order: names that the base parameters keep first; see `base_parameters`.
    """

    robot: Robot
    base: BaseParameters
    widths: tuple[float, ...]
    terms: tuple[Term | Column, ...] = ()
    order: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        robot: Robot,
        include: Include = DEFAULT_INCLUDE,
        terms: Sequence[Term | Column] = (),
        widths: Sequence[float] | None = None,
        order: Sequence[str] = (),
    ) -> Design:
        """All base parameters of the chosen groups, with sharp Coulomb friction."""
        base = base_parameters(robot, include=include, order=order or None)
        return cls(robot, base, tuple(widths or (0.0,) * robot.n_bodies), tuple(terms), tuple(order))

    @property
    def n_columns(self) -> int:
        """Base parameters and terms."""
        return self.base.n + len(self.terms)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the columns: base.names, then the terms'."""
        return (*self.base.names, *(term.name for term in self.terms))

    @cached_property
    def kinds(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        """Kind of each column, `Izz` or `K`, and the joints it belongs to."""
        own = [(parameter.kind, parameter.joints) for parameter in self.base.parameters]
        return (*own, *((term.symbol, term.joints) for term in self.terms))

    @property
    def loops(self) -> Array:
        """(n_bodies, n) rates of the tree's joints for unit rates of q."""
        return self.robot.closure.F if self.robot.closure else np.eye(self.robot.n_bodies)

    @cached_property
    def is_thermal(self) -> bool:
        """Whether temperatures take part."""
        return any(term.is_thermal for term in self.terms)

    def columns(self, q: Array, qd: Array, qdd: Array, total: int = 0, temperature: Array | None = None) -> Array:
        """(N, n, n_columns) torque of each column for a value of one.

        Args:
            total: states in all where these are one piece of many.
            temperature: (N, n) of the joints, where a term depends on it.

        Raises:
            IdentificationError: a term depends on temperature, and none is given.
        """
        if self.is_thermal and temperature is None:
            remedy = f"give {argument('temperature')}, one for each joint"
            raise IdentificationError("friction depends on temperature here", argument="temperature", remedy=remedy)
        out = np.empty((*q.shape, self.n_columns))
        kernel = self._kernel if max(len(q), total) >= KERNEL_STATES else None
        of_links = [k for k, own in enumerate(self.base.parameters) if own.is_link]
        # The links' columns come first as a rule: a block is written several times as fast as a choice.
        first = of_links == list(range(len(of_links)))
        block: slice | list[int] = slice(len(of_links)) if first else of_links
        if kernel is not None and first:
            kernel(q, qd, qdd, out=out[:, :, block])
        elif kernel is not None:
            out[:, :, block] = kernel(q, qd, qdd)
        else:
            out[:, :, block] = regressor(self.robot, q, qd, qdd)[:, :, [self.base.pivots[k] for k in of_links]]
        others = [k for k in range(self.n_columns) if k not in of_links]
        out[:, :, slice(len(of_links), None) if first else others] = 0.0
        rates, accelerations = qd @ self.loops.T, qdd @ self.loops.T
        for k, own in enumerate(self.base.parameters):
            if not own.is_link:
                (body,) = own.joints
                value = self._drive_column(own.group, body, rates[:, body], accelerations[:, body])
                for j in np.flatnonzero(self.loops[body]):
                    out[:, j, k] = value * self.loops[body, j]
        for k, term in enumerate(self.terms):
            out[:, :, self.base.n + k] = term.torque(q, qd, qdd)
            if term.is_thermal and temperature is not None:
                out[:, :, self.base.n + k] *= temperature - REFERENCE_TEMPERATURE
        return out

    def _drive_column(self, group: str, body: int, rate: Array, acceleration: Array) -> Array:
        """(N,) torque of one of a joint's own parameters for a value of one."""
        if group == "coulomb":
            return step(rate, self.widths[body])
        return {"rotor": acceleration, "viscous": rate, "offset": np.ones_like(rate)}[group]

    @property
    def has_own_columns(self) -> bool:
        """Whether a user's own function is among the terms."""
        return any(isinstance(term, Column) for term in self.terms)

    @cached_property
    def felt(self) -> tuple[slice, ...]:
        """Per joint, from the first to the last column that it feels: of its own drive and of the links it carries."""
        q, qd, qdd = np.random.default_rng(0).uniform(0.5, 1.0, (3, 1, self.robot.n_joints))
        some: AnyArray = self.columns(q, qd, qdd, temperature=q + REFERENCE_TEMPERATURE)[0] != 0
        # A user's column may be zero at this state and nowhere else.
        some[:, [self.base.n + k for k, term in enumerate(self.terms) if isinstance(term, Column)]] = True
        felt = [np.flatnonzero(row) for row in some]
        return tuple(slice(int(k[0]), int(k[-1]) + 1) if len(k) else slice(0) for k in felt)

    def sharp_columns(self, q: Array, qd: Array, qdd: Array) -> Iterator[tuple[int, int, Array]]:
        """(column, joint, (N,) torque) of what jumps or bends where a velocity changes its sign."""
        rates = qd @ self.loops.T
        for k, own in enumerate(self.base.parameters):
            if own.group == "coulomb":
                (body,) = own.joints
                jump = step(rates[:, body], self.widths[body])
                for j in np.flatnonzero(self.loops[body]):
                    yield k, int(j), jump * self.loops[body, j]
        for k, term in enumerate(self.terms):
            if term.is_sharp:
                torque = term.torque(q, qd, qdd)
                for j in np.flatnonzero(torque.any(axis=0)):
                    yield self.base.n + k, int(j), torque[:, j]

    @cached_property
    def _kernel(self) -> Callable[..., Array] | None:
        """Compiled columns of the links, five times as quick for long batches; None where there is none."""
        # A compiled base regressor has columns for the drives too, where the robot declares them.
        bare = replace(
            self.robot,
            joints=tuple(
                replace(joint, rotor_inertia=None, viscous=0.0, coulomb=0.0, offset=0.0) for joint in self.robot.joints
            ),
        )
        pivots = tuple(p for p in self.base.pivots if self.robot.layout.is_link(p))
        if bare.closure is not None or base_parameters(bare).pivots != pivots:
            return None
        try:
            return compiled(bare, "base_regressor")
        except GenerationError:
            return None

    def with_terms(self, terms: Sequence[Term | Column], widths: Sequence[float] | None = None) -> Design:
        """The same base parameters with other terms."""
        return replace(self, terms=tuple(terms), widths=tuple(self.widths if widths is None else widths))
