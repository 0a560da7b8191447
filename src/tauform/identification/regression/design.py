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
from tauform.description.drives import Drive
from tauform.description.parameter_groups import PARAMETER_GROUPS, Include, ParameterGroup
from tauform.description.robot import Robot
from tauform.errors import GenerationError, IdentificationError
from tauform.identification.regression.drive_columns import DriveColumns
from tauform.identification.regression.terms import Column, Term
from tauform.rigidbody.regressor import regressor
from tauform.wording import argument

# Batches from this length on are worth a second of compiling.
KERNEL_STATES = 10_000
# Everything that a description declares takes part, and the rotor and friction of every joint.
DEFAULT_INCLUDE: tuple[ParameterGroup, ...] = PARAMETER_GROUPS


@dataclass(frozen=True, eq=False)
class Design:
    """Base parameters with rotors and plain friction, then further terms.

    Attributes:
        robot: the described links, with rotor, viscous, Coulomb and offset terms of each joint; the width of a
            joint's Coulomb step is the one that its column has.
        base: its base parameters.
        terms: further columns; their coefficients are those of the description.
        order: names that the base parameters keep first; see `base_parameters`.
        carrier: links and rotors whose torque friction by load grows with.
        dependent: names of drive terms that no motion tells from other columns, which hold their torque.
    """

    robot: Robot
    base: BaseParameters
    terms: tuple[Term, ...] = ()
    order: tuple[str, ...] = ()
    carrier: Robot | None = None
    dependent: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        robot: Robot,
        include: Include = DEFAULT_INCLUDE,
        terms: Sequence[Term] = (),
        order: Sequence[str] = (),
    ) -> Design:
        """All base parameters of the chosen groups, the robot's further drive terms of these, then more terms.

        Raises:
            DescriptionError: a drive term does not fit the robot's joints.
        """
        # Base parameters of links, rotors and plain friction: what further terms add is judged beside them.
        own = replace(robot, further_drives=())
        base = base_parameters(own, include=include, order=order or None)
        declared = [term for term in robot.further_drives if include == "declared" or term.shape in include]
        drives = (*declared, *(term for term in terms if isinstance(term, Drive)))
        # A robot checks that terms fit its joints, and finds the joints between the ends of a spring.
        placed = replace(own, further_drives=drives)
        columns = [term for term in terms if isinstance(term, Column)]
        # A dependent term would make A singular; what it would have said, base parameters say.
        kept = _independent(placed, include, base)
        dependent = tuple(term.name for term in placed.further_drives if term not in kept)
        return cls(own, base, (*kept, *columns), tuple(order), dependent=dependent)

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
        """Kind of each column, `Izz` or `K`, and the joints it belongs to; both empty where nobody knows."""
        own = [(parameter.kind, parameter.joints) for parameter in self.base.parameters]
        return (*own, *((term.kind, term.joints) if isinstance(term, Drive) else ("", ()) for term in self.terms))

    @property
    def units(self) -> tuple[str, ...]:
        """SI unit of each value; empty where nobody knows."""
        types = [joint.type for joint in self.robot.joints]
        further = (term.unit(types) if isinstance(term, Drive) else "" for term in self.terms)
        return (*(parameter.unit for parameter in self.base.parameters), *further)

    @property
    def widths(self) -> tuple[float, ...]:
        """(n_bodies,) velocity over which each joint's Coulomb friction changes sign; 0 is a sharp sign."""
        return tuple(joint.coulomb_width for joint in self.robot.joints)

    @property
    def is_thermal(self) -> bool:
        """Whether temperatures take part."""
        return "temperature" in self._drives.reads

    @property
    def is_loaded(self) -> bool:
        """Whether friction grows with the torque that a joint carries."""
        return "carried" in self._drives.reads

    @cached_property
    def _drives(self) -> DriveColumns:
        """All columns but those of links and of the user."""
        first = self.robot.layout.drives.start
        own = [k for k, parameter in enumerate(self.base.parameters) if not parameter.is_link]
        further = [k for k, term in enumerate(self.terms) if isinstance(term, Drive)]
        # A pivot among the drives is the coefficient of one drive term, whose shape gives the column.
        drives = [self.robot.drives[self.base.pivots[k] - first] for k in own]
        drives += [term for term in self.terms if isinstance(term, Drive)]
        places = (*own, *(self.base.n + k for k in further))
        return DriveColumns(self.robot, tuple(drives), places, self.carrier)

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
        # Not zeros: most columns are written anyway, and the array is the largest in a fit.
        out = np.empty((*q.shape, self.n_columns))
        kernel = self._kernel if max(len(q), total) >= KERNEL_STATES else None
        # Links come compiled; drive terms are evaluated by their shapes, a few per joint.
        of_links = self.links
        # The links' columns come first as a rule: a block is written several times as fast as a choice.
        first = of_links == list(range(len(of_links)))
        block: slice | list[int] = slice(len(of_links)) if first else of_links
        if kernel is not None and first:
            kernel(q, qd, qdd, out=out[:, :, block])
        elif kernel is not None:
            out[:, :, block] = kernel(q, qd, qdd)
        else:
            out[:, :, block] = self.link_columns(q, qd, qdd)
        others = [k for k in range(self.n_columns) if k not in of_links]
        out[:, :, slice(len(of_links), None) if first else others] = 0.0
        for column, joint, torque in self._drives.torques(q, qd, qdd, temperature):
            out[:, joint, column] = torque
        for column, own in self._own_columns:
            out[:, :, column] = own.torque(q, qd, qdd)
        return out

    @property
    def links(self) -> list[int]:
        """Numbers of the columns that are base parameters of links."""
        return [k for k, own in enumerate(self.base.parameters) if own.is_link]

    def link_columns(self, q: Array, qd: Array, qdd: Array) -> Array:
        """(N, n, L) columns of the links alone."""
        return regressor(self.robot, q, qd, qdd)[:, :, [self.base.pivots[k] for k in self.links]]

    def drive_torques(
        self, q: Array, qd: Array, qdd: Array, temperature: Array | None = None
    ) -> Iterator[tuple[int, int, Array]]:
        """(column, joint, (N,) torque for a value of one) of all drive terms, links left out."""
        yield from self._drives.torques(q, qd, qdd, temperature)

    @cached_property
    def _own_columns(self) -> list[tuple[int, Column]]:
        return [(self.base.n + k, term) for k, term in enumerate(self.terms) if isinstance(term, Column)]

    @property
    def has_own_columns(self) -> bool:
        """Whether a user's own function is among the terms."""
        return bool(self._own_columns)

    @cached_property
    def felt(self) -> tuple[slice, ...]:
        """Range of columns, per joint, that it feels: of its own drive and of the links it carries."""
        links = [(k, pivot) for k, pivot in enumerate(self.base.pivots) if self.robot.layout.is_link(pivot)]
        # Away from zero, where sines and velocities would hide a column by chance.
        q, qd, qdd = np.random.default_rng(0).uniform(0.5, 1.0, (3, self.robot.n_joints))
        some: AnyArray = np.zeros((self.robot.n_joints, self.n_columns), dtype=bool)
        Y = regressor(self.robot, q, qd, qdd)
        for k, pivot in links:
            some[:, k] = Y[:, pivot] != 0
        for column, joint in self._drives.felt():
            some[joint, column] = True
        # A user's column may be zero at one state and nowhere else.
        some[:, [column for column, _ in self._own_columns]] = True
        felt = [np.flatnonzero(row) for row in some]
        return tuple(slice(int(k[0]), int(k[-1]) + 1) if len(k) else slice(0) for k in felt)

    @property
    def sharp_reads(self) -> frozenset[str]:
        """Quantities that the sharp columns depend on; of a user's column everything may count."""
        return frozenset({"q", "qd", "qdd"}) if self.has_own_columns else frozenset(self._drives.sharp.reads)

    def sharp_columns(self, q: Array, qd: Array, qdd: Array) -> Iterator[tuple[int, int, Array]]:
        """(column, joint, (N,) torque) of what jumps or bends where a velocity changes its sign."""
        yield from self._drives.sharp.torques(q, qd, qdd)
        for column, own in self._own_columns:
            if own.is_sharp:
                torque = own.torque(q, qd, qdd)
                for j in np.flatnonzero(torque.any(axis=0)):
                    yield column, int(j), torque[:, j]

    @cached_property
    def _kernel(self) -> Callable[..., Array] | None:
        """Compiled columns of the links, five times as quick for long batches; None where there is none."""
        # A compiled base regressor has columns for the drives too, where the robot declares them.
        # The kernel must have exactly the links' pivots; where drives change these, there is none.
        bare = self.robot.without_drives()
        # Declared rotors would add columns to the compiled regressor.
        bare = replace(bare, joints=tuple(replace(joint, rotor_inertia=None) for joint in bare.joints))
        pivots = tuple(p for p in self.base.pivots if self.robot.layout.is_link(p))
        if bare.closure is not None or base_parameters(bare).pivots != pivots:
            return None
        try:
            return compiled(bare, "base_regressor")
        except GenerationError:
            return None

    def with_terms(self, terms: Sequence[Term]) -> Design:
        """The same base parameters with other terms."""
        return replace(self, terms=tuple(terms))

    def with_widths(self, widths: Sequence[float]) -> Design:
        """The same columns with Coulomb steps of other widths."""
        joints = (
            replace(joint, coulomb_width=float(width)) for joint, width in zip(self.robot.joints, widths, strict=True)
        )
        return replace(self, robot=replace(self.robot, joints=tuple(joints)))

    def carried_by(self, carrier: Robot | None) -> Design:
        """The same columns, friction by load growing with the torque of this robot; without such friction for None."""
        if carrier is not None:
            return replace(self, carrier=carrier.rigid)
        return self.with_terms([t for t in self.terms if not isinstance(t, Drive) or "carried" not in t.reads])

    def base_values(self, robot: Robot) -> Array:
        """Base parameters of another model of the robot; its further drive terms are none of them."""
        return self.base.values(robot.parameters[: self.robot.layout.n])

    def values_of(self, robot: Robot) -> Array:
        """Values of all columns in another model of the robot; zero where it has no such term."""
        # By name: another model may list its terms in another order.
        held = {term.name: term.coefficient for term in robot.further_drives}
        return np.append(self.base_values(robot), [held.get(term.name, 0.0) for term in self.terms])


def _independent(robot: Robot, include: Include, base: BaseParameters) -> list[Drive]:
    """Further drive terms that motions can tell from all else; what the others do, base parameters do as well.

    About a horizontal axis sin q and cos q are those of a weight, and two springs at one joint are one.
    """
    if not robot.further_drives:
        return []
    groups: Include = "declared"
    if include != "declared":
        # Groups of the further terms too, or the base parameters could not know them.
        groups = [g for g in PARAMETER_GROUPS if g in include or g in {term.shape for term in robot.further_drives}]
    # The base parameters stay what they are; only what they cannot do is new.
    order = [robot.parameter_names[pivot] for pivot in base.pivots]
    pivots = set(base_parameters(robot, include=groups, order=order or None).pivots)
    first = robot.layout.further.start
    return [term for k, term in enumerate(robot.further_drives) if first + k in pivots]
