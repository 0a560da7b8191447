"""Columns of drive terms: the shapes' one definition, evaluated on many states, in the coordinates of q."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tauform.arrays import AnyArray, Array
from tauform.description.drives import Drive
from tauform.description.drives.drive import Quantity
from tauform.description.drives.groups import Group, JointState, grouped
from tauform.description.robot import GeneralClosure, Robot
from tauform.rigidbody.inverse_dynamics import inverse_dynamics
from tauform.rigidbody.load import leading_joints
from tauform.rigidbody.sweeps.evaluation import TreeMotion, tree_motion


@dataclass(frozen=True, eq=False)
class DriveColumns:
    """Drive terms with their places among the columns of a design.

    Attributes:
        robot: whose joints the terms act on; its own friction plays no part.
        drives: the terms.
        places: column of each term.
        carrier: links and rotors whose torque friction by load grows with.
    """

    robot: Robot
    drives: tuple[Drive, ...]
    places: tuple[int, ...]
    carrier: Robot | None = None

    @cached_property
    def reads(self) -> frozenset[Quantity]:
        """Quantities that the terms depend on; the torque that is carried depends on the whole motion."""
        read: frozenset[Quantity] = frozenset().union(*(term.reads for term in self.drives))
        if isinstance(self.robot.closure, GeneralClosure):
            read |= {"q", "qd"}  # G depends on the posture
        return read | {"q", "qd", "qdd"} if "carried" in read else read

    @cached_property
    def sharp(self) -> DriveColumns:
        """Terms that jump or bend where a velocity changes its sign."""
        # Filters must not smear these over the samples around a reversal.
        chosen = [k for k, term in enumerate(self.drives) if term.is_sharp]
        drives, places = (tuple(x[k] for k in chosen) for x in (self.drives, self.places))
        return DriveColumns(self.robot, drives, places, self.carrier)  # type: ignore[arg-type]

    def torques(
        self, q: Array, qd: Array, qdd: Array, temperature: Array | None = None
    ) -> Iterator[tuple[int, int, Array]]:
        """(column, joint, (N,) torque for a coefficient of one) wherever a term acts; states are (N, n)."""
        loops = tree_motion(self.robot, {"q": q.T, "qd": qd.T, "qdd": qdd.T})
        motion = self._motion(loops, q, qd, qdd, temperature)
        # Terms of one shape at once: one call for all joints.
        for group in self._groups:
            own = group.torques(group.own(self.robot.tree, motion))
            for k, term in enumerate(group.columns.tolist()):
                for joint, torque in self._projected(loops, group, k, own).items():
                    yield self.places[term], joint, torque

    def felt(self) -> Iterator[tuple[int, int]]:
        """(column, joint) wherever a term can act."""
        for place, term in zip(self.places, self.drives, strict=True):
            yield from ((place, int(j)) for j in np.flatnonzero(self._reach[list(term.joints)].any(axis=0)))

    @cached_property
    def _reach(self) -> AnyArray:
        """(n_bodies, n) whether a joint of the tree moves with each coordinate of q."""
        closure = self.robot.closure
        if not isinstance(closure, GeneralClosure):
            return self.robot.tree_rates != 0
        # In the middle of the ranges, where no entry is zero by chance of a limit.
        return np.asarray((closure.at(closure.ranges.mean(axis=1)[:, None]).G[..., 0]) != 0)

    @cached_property
    def _groups(self) -> tuple[Group, ...]:
        return grouped(self.drives)

    def _motion(self, loops: TreeMotion, q: Array, qd: Array, qdd: Array, temperature: Array | None) -> JointState:
        """Motion that the terms act on, for each joint of the tree."""
        positions, rates, accelerations = loops.vectors.values()
        carried = None
        if "carried" in self.reads:
            assert self.carrier is not None, "load friction without links that carry"
            carried = self._of_leading(inverse_dynamics(self.carrier, q, qd, qdd, drives=False))
        warm = None if temperature is None else self._of_leading(temperature)
        return JointState(positions, rates, accelerations, warm, carried)

    def _of_leading(self, values: Array) -> Array:
        """(n_bodies, N) of (N, n) values that only the joints in q have."""
        if self.robot.closure is None:
            return values.T
        rows = np.zeros((self.robot.n_bodies, len(values)))
        rows[leading_joints(self.robot)] = values.T
        return rows

    def _projected(self, loops: TreeMotion, group: Group, k: int, torques: tuple[Array, ...]) -> dict[int, Array]:
        """Torque of the k-th term of a group on each joint of q: tau = G^T tau_tree."""
        found: dict[int, Array] = {}
        for bodies, torque in zip(group.joints, torques, strict=True):
            for j in np.flatnonzero(self._reach[bodies[k]]).tolist():
                # The power of tau_tree qd_tree is that of tau qd: tau = G^T tau_tree.
                weight = 1.0 if loops.G is None else loops.G[bodies[k], j]
                own = torque[k] if np.ndim(weight) == 0 and weight == 1.0 else weight * torque[k]
                found[j] = found[j] + own if j in found else own
        return found
