"""FunctionSets: the sets that torques are searched in.  [Lloyd2021, Definitions 1 to 6]

    Z^(k)        sin^a cos^b of a joint that turns, a + b <= k
    D^(k)        powers of a joint that slides, up to k
    Upsilon^(k)  products of one of these for each joint
    A            g, qdd_i, qd_i qd_j
    Y^(k)        products of one of A and one of Upsilon^(k)

A function of q is a tuple with the exponents of q, sin q and cos q of each joint.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from tauform.description.joint_types import PRISMATIC, REVOLUTE, JointType
from tauform.description.robot import Robot
from tauform.errors import ModelError

# Exponents of q, sin q, cos q.
Multiplier = tuple[int, int, int]
Monomial = tuple[Multiplier, ...]
# Exponents of qd, then of qdd.
Acceleration = tuple[int, ...]
LETTERS: dict[str, JointType] = {own.letter: own for own in (REVOLUTE, PRISMATIC)}


@dataclass(frozen=True)
class FunctionSets:
    """The sets of a robot with these joints; call .table() for their sizes.

    Attributes:
        types: of the joints.
    """

    types: tuple[JointType, ...]

    @classmethod
    def of(cls, joints: Robot | str) -> FunctionSets:
        """Sets of a robot, or of joints by letters, "RRP".

        Raises:
            ModelError: a letter other than R and P, or a joint without such functions.
        """
        if isinstance(joints, Robot):
            types = tuple(joint.type for joint in joints.joints)
        elif joints and set(joints) <= set(LETTERS):
            types = tuple(LETTERS[letter] for letter in joints)
        else:
            raise ModelError(f"joints: expected letters R and P, one per joint, got {joints!r:.60}")
        strange = [own.name for own in types if own not in LETTERS.values()]
        if strange:
            raise ModelError(f"joints: the paper's functions are of revolute and prismatic joints, not {strange[0]}")
        return cls(types)

    @property
    def n(self) -> int:
        """Number of joints."""
        return len(self.types)

    def multipliers(self, joint: int, degree: int, independent: bool = False) -> list[Multiplier]:
        """Z^(k) or D^(k) of a joint.  [Lloyd2021, Eqs. 6, 7]

        Args:
            independent: leave out sin^a with a > 1, which sin^2 = 1 - cos^2 makes of others (the first pre-filter).
        """
        if not self.types[joint].is_angle:
            return [(power, 0, 0) for power in range(degree + 1)]
        # By total degree, so that low functions come first.
        pairs = [(a, b) for total in range(degree + 1) for a in range(total + 1) for b in [total - a]]
        # sin^a with a > 1 follows from sin^2 = 1 - cos^2.
        return [(0, a, b) for a, b in pairs if not independent or a < 2]

    def upsilon(self, degree: int, independent: bool = False, without: Sequence[int] = ()) -> list[Monomial]:
        """Upsilon^(k), the joints `without` left out of its functions.  [Lloyd2021, Eq. 8]"""
        one: list[Multiplier] = [(0, 0, 0)]
        return list(
            product(*(one if i in without else self.multipliers(i, degree, independent) for i in range(self.n)))
        )

    def accelerations(self) -> list[Acceleration]:
        """A: gravity, each acceleration, each product of two velocities.  [Lloyd2021, Eq. 13]"""
        zero = [0] * self.n
        unit = [[int(i == j) for j in range(self.n)] for i in range(self.n)]
        found: list[Acceleration] = [tuple(zero + zero), *(tuple(zero + one) for one in unit)]
        for i in range(self.n):
            # j from i on: qd_i qd_j and qd_j qd_i are one product.
            for j in range(i, self.n):
                found.append(tuple([a + b for a, b in zip(unit[i], unit[j], strict=True)] + zero))
        return found

    def table(self) -> dict[str, int]:
        """Sizes of the sets: as they are, after the pre-filters of section 3.1, and of the largest linear system."""
        n, nr = self.n, sum(own.is_angle for own in self.types)
        slides = n - nr
        first = (5, 0) if self.types[0].is_angle else (3, 1)
        # Independent functions of degree two: five of a turn, three of a slide; the first joint is left out.
        largest = 5**nr * 3**slides // first[0]
        return {
            "Z(1)": 3,
            "Z(2)": 6,
            "D(1)": 2,
            "D(2)": 3,
            "Upsilon(1)": 3**nr * 2**slides,
            "Upsilon(2)": 6**nr * 3**slides,
            "A": (n + 1) * (n + 2) // 2,
            "Y(1)": 3**nr * 2**slides * (n + 1) * (n + 2) // 2,
            "Y(2)": 6**nr * 3**slides * (n + 1) * (n + 2) // 2,
            "gravity after filters": 3**nr * 2**slides,
            "each acceleration after filters": largest,
            "largest linear system": max(largest, 3**nr * 2**slides),
        }
