"""Springs and other torques that depend on positions alone: they store energy.

A spring between two points of two links is what spring and gas counterbalances are. With r from one point to the other
and l = |r|, its energy changes with a joint between the links by l dl/dq = r . dr/dq.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from tauform.arrays import fixed_array
from tauform.description.drives.drive import Drive, Own, Quantity, not_negative, set_constants
from tauform.description.drives.scalars import cos, sin, sqrt
from tauform.description.fields import number
from tauform.errors import DescriptionError

if TYPE_CHECKING:
    from tauform.description.joint_types import JointType
    from tauform.description.tree import Tree

POSITION: frozenset[Quantity] = frozenset({"q"})


@dataclass(frozen=True, kw_only=True)
class Stiffness(Drive):
    """K (q - rest).

    Attributes:
        rest: position in which the spring is slack [rad or m].
    """

    rest: float = 0.0

    shape, kind, meaning = "stiffness", "K", "a spring or a cable that pulls"
    units, powers, reads = ("N m/rad", "N/m"), (1, 0), POSITION
    is_conservative: ClassVar[bool] = True

    def _check_constants(self) -> None:
        set_constants(self, rest=number(self.rest, f"{self.where}: rest"))

    def in_units(self, length: float, time: float, coordinate: float) -> Drive:
        # Rest is a coordinate: it changes with its unit.
        return replace(self, rest=self.rest / coordinate)

    @staticmethod
    def torque(own: Own, its: Any) -> Any:
        """Torque of a unit coefficient."""
        return own.q - its.rest

    @staticmethod
    def energy(own: Own, its: Any) -> Any:
        """Energy of a unit coefficient."""
        # A product, not a power: symbols and counters know no power.
        stretched = own.q - its.rest
        return 0.5 * stretched * stretched


@dataclass(frozen=True, kw_only=True)
class Sine(Drive):
    """Ks sin(q), of a joint that turns."""

    shape, kind, meaning, reads = "sine", "Ks", "torque that repeats with a turn", POSITION
    is_conservative: ClassVar[bool] = True

    @staticmethod
    def torque(own: Own, its: Any) -> Any:
        """Torque of a unit coefficient."""
        return sin(own.q)

    @staticmethod
    def energy(own: Own, its: Any) -> Any:
        """Energy of a unit coefficient."""
        return -cos(own.q)


@dataclass(frozen=True, kw_only=True)
class Cosine(Drive):
    """Kc cos(q), of a joint that turns."""

    shape, kind, meaning, reads = "cosine", "Kc", "torque that repeats with a turn", POSITION
    is_conservative: ClassVar[bool] = True

    @staticmethod
    def torque(own: Own, its: Any) -> Any:
        """Torque of a unit coefficient."""
        return cos(own.q)

    @staticmethod
    def energy(own: Own, its: Any) -> Any:
        """Energy of a unit coefficient."""
        return sin(own.q)


class End(NamedTuple):
    """A point of a link, in the link's frame [m]; link -1 is the base."""

    link: int
    point: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class BetweenPoints(Drive):
    """Shapes of a force along the line between two points of two links.

    Attributes:
        ends: where it is fixed.
    """

    ends: tuple[End, ...]

    reads = POSITION
    n_joints: ClassVar[int | None] = None
    is_conservative: ClassVar[bool] = True

    def _check_constants(self) -> None:
        try:
            ends = tuple(End(int(link), tuple(fixed_array(point, (3,), "point").tolist())) for link, point in self.ends)
        except (TypeError, ValueError):
            raise DescriptionError(f"{self.where}: ends are two pairs of a link and a point") from None
        if len(ends) != 2:
            raise DescriptionError(f"{self.where}: it has {len(ends)} ends; give two")
        set_constants(self, ends=ends)

    def dimension(self, types: Sequence[JointType]) -> tuple[int, int]:
        return -self.powers[0] + 1, -2

    def unit(self, types: Sequence[JointType]) -> str:
        return self.units[0]

    def moved(self, new_joint: Mapping[int, int]) -> Drive:
        """The same points of links that have other indices; the joints between them follow."""
        ends = tuple(replace_link(end, new_joint) for end in self.ends)
        # Joints are found again by `placed`.
        return replace(self, ends=ends, joints=())

    def placed(self, parents: Sequence[int]) -> Drive:
        """Place the spring: find the joints between the two links."""
        for end in self.ends:
            if not -1 <= end.link < len(parents):
                raise DescriptionError(f"{self.where}: link {end.link} does not exist; -1 is the base")
        # Joints on both paths move both ends alike: the distance feels those on one path only.
        joints = tuple(sorted(set(_path(parents, self.ends[0].link)) ^ set(_path(parents, self.ends[1].link))))
        if not joints:
            raise DescriptionError(f"{self.where}: both ends are fixed to the same link; no joint feels it")
        return replace(self, joints=joints)

    def in_units(self, length: float, time: float, coordinate: float) -> Drive:
        return replace(self, ends=self._scaled_ends(length))

    def _scaled_ends(self, length: float) -> tuple[End, ...]:
        return tuple(End(link, tuple(x / length for x in point)) for link, point in self.ends)


@dataclass(frozen=True, kw_only=True)
class PointSpring(BetweenPoints):
    """Kp (l - rest) dl/dq.

    Attributes:
        rest: length at which the spring is slack [m].
    """

    rest: float = 0.0

    shape, kind, meaning = "spring", "Kp", "a spring between two points"
    units, powers = ("N/m", "N/m"), (1, 0)

    def _check_constants(self) -> None:
        super()._check_constants()
        set_constants(self, rest=not_negative(self.rest, f"{self.where}: rest, its length without force,"))

    def in_units(self, length: float, time: float, coordinate: float) -> Drive:
        return replace(self, ends=self._scaled_ends(length), rest=self.rest / length)

    @staticmethod
    def torque(own: Own, its: Any) -> Any:
        """Torque of a unit coefficient."""
        square, slopes = stretched(own.tree, its.ends, own.joints, own.q)
        # Without a rest length no root is needed: Kp l dl/dq.
        if not its.rest:
            return slopes
        # (l - rest) dl/dq = (1 - rest / l) l dl/dq.
        slack = 1 - its.rest / sqrt(square)
        return tuple(slope * slack for slope in slopes)

    @staticmethod
    def energy(own: Own, its: Any) -> Any:
        """Energy of a unit coefficient."""
        square, _ = stretched(own.tree, its.ends, own.joints, own.q)
        if not its.rest:
            return 0.5 * square
        pulled = sqrt(square) - its.rest
        return 0.5 * pulled * pulled


@dataclass(frozen=True, kw_only=True)
class PointForce(BetweenPoints):
    """Fp dl/dq: a force that pulls the points together, whatever their distance."""

    shape, kind, meaning = "force", "Fp", "a counterbalance, a constant force between two points"
    units, powers = ("N", "N"), (0, 0)

    @staticmethod
    def torque(own: Own, its: Any) -> Any:
        """Torque of a unit coefficient."""
        square, slopes = stretched(own.tree, its.ends, own.joints, own.q)
        length = sqrt(square)
        # dl/dq = (l dl/dq) / l; the points must not coincide.
        return tuple(slope / length for slope in slopes)

    @staticmethod
    def energy(own: Own, its: Any) -> Any:
        """Energy of a unit coefficient."""
        return sqrt(stretched(own.tree, its.ends, own.joints, own.q)[0])


def replace_link(end: End, new_index: Mapping[int, int]) -> End:
    """The same point where links have other indices."""
    return End(new_index.get(end.link, -1), end.point)


def stretched(tree: Tree, ends: Sequence[End], joints: Sequence[int], q: Sequence[Any]) -> tuple[Any, tuple[Any, ...]]:
    """l^2, and l dl/dq of each joint between the two points; q of any scalar."""
    position = dict(zip(joints, q, strict=True))
    # Only joints between the two ends: those above move both.
    paths = [[j for j in _path(tree.parents, end.link) if j in position] for end in ends]
    inward = [_seen_inward(tree, end.point, path, position) for end, path in zip(ends, paths, strict=True)]
    # Both points in the frame of the last link that they share: joints above it change no distance.
    r = [b - a for a, b in zip(inward[0][-1], inward[1][-1], strict=True)]
    slopes: dict[int, Any] = {}
    # r = b - a: the first end's motion counts with a minus.
    for path, points, sense in zip(paths, inward, (-1, 1), strict=True):
        seen = r
        # Outwards again: r in the axes of each link, where S is a constant.
        for j, p in zip(reversed(path), reversed(points[:-1]), strict=True):
            seen = _to_link(tree, j, position[j], seen)
            # S . r of the motion subspace S: z . (p x r) of a turn, z . r of a shift
            about, along = tree.types[j].screw
            turn = p[0] * seen[1] - p[1] * seen[0] if about else 0.0
            slope = turn + along * seen[2] if along else turn
            slopes[j] = slope if sense > 0 else -slope
    return r[0] * r[0] + r[1] * r[1] + r[2] * r[2], tuple(slopes[j] for j in joints)


def _path(parents: Sequence[int], link: int) -> list[int]:
    path = []
    while link >= 0:
        path.append(link)
        link = parents[link]
    return path


def _seen_inward(tree: Tree, point: Sequence[float], path: Sequence[int], q: Mapping[int, Any]) -> list[list[Any]]:
    """The point in the frame of each link on the path, and last in that of the link they all hang on."""
    points: list[list[Any]] = [list(point)]
    for j in path:
        (x, y, z), (about, along) = points[-1], tree.types[j].screw
        if about:
            # The joint turns about z, then slides along it, before the constant placement.
            s, c = sin(q[j]), cos(q[j])
            x, y = c * x - s * y, s * x + c * y
        if along:
            z = z + along * q[j]
        points.append(
            [_dot(row, (x, y, z)) + _number(t) for row, t in zip(tree.rotations[j], tree.translations[j], strict=True)]
        )
    return points


def _to_link(tree: Tree, j: int, q: Any, vector: Sequence[Any]) -> list[Any]:
    """A vector of the parent's axes in those of link j."""
    x, y, z = (_dot(column, vector) for column in np.swapaxes(tree.rotations[j], 0, 1))
    about, _ = tree.types[j].screw
    if not about:
        return [x, y, z]
    s, c = sin(q), cos(q)
    return [c * x + s * y, c * y - s * x, z]


def _dot(weights: Any, vector: Sequence[Any]) -> Any:
    """Dot product without the terms that are zero: most rotations are quarter turns."""
    total: Any = 0.0
    for weight, x in zip(weights, vector, strict=True):
        factor = _number(weight)
        if not isinstance(factor, float) or factor:
            total = x * factor + total
    return total


def _number(entry: Any) -> Any:
    """An entry (1,) of the tree's geometry, as a plain number where it is one."""
    return entry if entry.dtype == object else float(entry[0])
