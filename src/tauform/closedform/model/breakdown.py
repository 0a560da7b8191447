"""Breakdown: a torque by origin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tauform.arrays import Array
from tauform.deferred import deferred


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
