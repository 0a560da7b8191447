"""Breakdown: a torque by origin."""

from __future__ import annotations

from dataclasses import dataclass

from tauform.arrays import Array


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
