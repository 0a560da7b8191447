"""Torque by origin: terms that multiply accelerations, products of velocities, or neither; and their sums."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tauform.arrays import Array
from tauform.closedform.coordinates import Coordinates
from tauform.closedform.model.equations import term_kinds
from tauform.closedform.terms.monomials import Projection, differentiated
from tauform.deferred import deferred

# Kinds of `term_kinds`: the powers of qd and qdd in a term say where its torque comes from.
GRAVITY, INERTIAL, CENTRIFUGAL, CORIOLIS = range(4)


@dataclass(frozen=True, eq=False)
class TermsByKind:
    """Terms of tau = D qdd + C qd + g, each kind ready to evaluate; made when first asked for.

    Attributes:
        exponents: (5 n, p) powers of the generators.
        coefficients: (n, p).
        moving: indices of the joints that are not fixed.
        coordinates: what functions are taken of.
    """

    exponents: NDArray[np.int8]
    coefficients: Array
    moving: tuple[int, ...]
    coordinates: Coordinates

    @cached_property
    def _kinds(self) -> NDArray[np.int64]:
        return term_kinds(self.exponents)

    def _of(self, chosen: NDArray[np.bool_]) -> Projection:
        return Projection.of(self.exponents[:, chosen], self.coefficients[:, chosen], self.coordinates)

    @cached_property
    def everything(self) -> Projection:
        """D qdd + C qd + g."""
        return Projection.of(self.exponents, self.coefficients, self.coordinates)

    @cached_property
    def inertial(self) -> Projection:
        """D qdd."""
        return self._of(self._kinds == INERTIAL)

    @cached_property
    def inertial_rate(self) -> Projection:
        """D' of the rows that fixed joints have."""
        rows = self.coefficients.copy()
        # Only rows of fixed joints: those of moving ones come from the Christoffel symbols.
        rows[list(self.moving)] = 0.0
        used = (self._kinds == INERTIAL) & rows.any(axis=0)
        slopes = differentiated(self.exponents[:, used], rows[:, used], self.coordinates)
        return Projection.of(*slopes, self.coordinates)

    @cached_property
    def centrifugal(self) -> Projection:
        """Terms with the square of one velocity."""
        return self._of(self._kinds == CENTRIFUGAL)

    @cached_property
    def coriolis(self) -> Projection:
        """Terms with the product of two velocities."""
        return self._of(self._kinds == CORIOLIS)

    @cached_property
    def velocity(self) -> Projection:
        """C qd: centrifugal and Coriolis terms."""
        return self._of(self._kinds >= CENTRIFUGAL)

    @cached_property
    def gravity(self) -> Projection:
        """g: neither velocities nor accelerations."""
        return self._of(self._kinds == GRAVITY)

    @cached_property
    def induced(self) -> Projection:
        """C qd + g."""
        # What forward dynamics takes off tau before it solves with D.
        return self._of(self._kinds != INERTIAL)


@dataclass(frozen=True, eq=False)
class Breakdown:
    """A torque by origin; the parts add up to inverse_dynamics. All (..., n)."""

    inertial: Array
    coriolis: Array
    centrifugal: Array
    gravity: Array
    friction: Array

    @property
    def total(self) -> Array:
        """The whole torque."""
        total: Array = self.inertial + self.coriolis + self.centrifugal + self.gravity + self.friction
        return total

    def plot(self) -> Any:
        """The parts over the states, joint by joint, a figure of Plotly."""
        return deferred("plot_breakdown")(self)
