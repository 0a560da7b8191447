"""Generators: which row of the paper's E belongs to which function of which joint.  [Lloyd2021, section 3]"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

# q, sin q, cos q, qd and qdd of every joint.
PER_JOINT = 5


@dataclass(frozen=True)
class Generators:
    """Rows of E: all q, all sin q, all cos q, all qd, all qdd, of n joints each."""

    n: int

    @classmethod
    def of(cls, exponents: Any) -> Generators:
        """Those of an E (5 n, p)."""
        return cls(len(exponents) // PER_JOINT)

    @property
    def size(self) -> int:
        """Rows of E."""
        return PER_JOINT * self.n

    @property
    def functions(self) -> slice:
        """Rows of q, sin q and cos q: what a term is as a function of posture."""
        return slice(3 * self.n)

    @property
    def rates(self) -> slice:
        """Rows of qd and qdd; a term without any of them is gravity's."""
        return slice(3 * self.n, self.size)

    @property
    def velocities(self) -> slice:
        """Rows of qd."""
        return slice(3 * self.n, 4 * self.n)

    @property
    def accelerations(self) -> slice:
        """Rows of qdd; a term of the mass matrix has one of them, the column that it belongs to."""
        return slice(4 * self.n, self.size)

    def of_joint(self, i: int) -> list[int]:
        """Rows of q_i, sin q_i and cos q_i."""
        return [i, self.n + i, 2 * self.n + i]

    def velocity(self, i: int) -> int:
        """Row of qd_i."""
        return 3 * self.n + i
