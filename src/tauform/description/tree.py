"""Tree: a robot as the plain arrays that every algorithm runs on.

Arrays carry their components first and one batch dimension last (length 1 here), so that the same algorithm runs
on batches of numbers, on complex numbers, on counting scalars and on symbolic scalars (object arrays).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from tauform.arrays import AnyArray, Array
from tauform.description.drives import OF_JOINTS, Coulomb, Offset, Rotor, Viscous
from tauform.description.drives.drive import Drive
from tauform.description.drives.groups import Group, grouped
from tauform.description.joint import Joint
from tauform.description.joint_types import JointType
from tauform.description.layout import Layout


@dataclass(frozen=True, eq=False, repr=False)
class Tree:
    """Structure and numbers of a tree of bodies.

    Attributes:
        parents: index of each body's parent, -1 for the base.
        types: of the joints.
        rotations: (n, 3, 3, 1) constant rotation, parent from joint.
        translations: (n, 3, 1) joint origin in the parent.
        inertias: (n, 10, 1) link parameters.
        drives: all drive terms, in the order of the layout; their own coefficients do not count.
        coefficients: (n_drives, 1) of the drive terms.
        gravity: (3, 1).
    """

    parents: tuple[int, ...]
    types: tuple[JointType, ...]
    rotations: AnyArray
    translations: AnyArray
    inertias: AnyArray
    drives: tuple[Drive, ...]
    coefficients: AnyArray
    gravity: AnyArray

    @classmethod
    def of(
        cls,
        parents: tuple[int, ...],
        types: tuple[JointType, ...],
        parent_from_joint: Array,
        inertias: Array,
        joint_parameters: Array,
        gravity: Array,
        drives: Sequence[Drive] | None = None,
        further: Sequence[Any] = (),
    ) -> Tree:
        """Tree of arrays without the batch dimension.

        Args:
            joint_parameters: (n, 4) Ia, Fv, Fc, Fo.
            drives: all drive terms; those that every joint has if not given.
            further: coefficients of the drive terms beyond those.
        """
        # Joint by joint, four each: the order of `drives`.
        own = joint_parameters.reshape(-1)
        return cls(
            parents=parents,
            types=types,
            rotations=parent_from_joint[:, :3, :3, None],
            translations=parent_from_joint[:, :3, 3, None],
            inertias=inertias[..., None],
            drives=tuple(joint_drives(len(parents)) if drives is None else drives),
            # Of the joints' own type: symbols stay symbols beside further numbers.
            coefficients=np.concatenate([own, np.asarray(further, dtype=own.dtype)])[:, None],
            gravity=np.asarray(gravity)[:, None],
        )

    @property
    def n(self) -> int:
        """Number of bodies."""
        return len(self.parents)

    @cached_property
    def q_rows(self) -> tuple[int | slice, ...]:
        """Rows of q (n_q, N) that belong to each joint: an index, or a slice where it has several coordinates."""
        return _rows([own.n_q for own in self.types])

    @cached_property
    def v_rows(self) -> tuple[int | slice, ...]:
        """The same of qd, qdd and tau (n_v, N)."""
        return _rows([own.n_v for own in self.types])

    @cached_property
    def n_v(self) -> int:
        """Number of velocities."""
        return sum(own.n_v for own in self.types)

    @cached_property
    def driven_rows(self) -> dict[str, AnyArray]:
        """(n,) row of each joint in q, in qd, qdd and tau, and in what is given once per joint.

        Drive terms act on joints of one coordinate; of others they have no coefficient, and read the first row.
        """
        q, v = np.array([[own.n_q, own.n_v] for own in self.types]).T
        # The first row of each joint: the sum of what the joints before it have.
        q, v = np.cumsum(q) - q, np.cumsum(v) - v
        return {"q": q, "qd": v, "qdd": v, "carried": v, "temperature": np.arange(self.n)}

    def by_joint(self, parts: Sequence[AnyArray]) -> AnyArray:
        """(n_v, N) of what each joint has: (N,), or (its n_v, N)."""
        # One velocity per joint: the parts are rows already.
        if self.n_v == self.n:
            return np.stack(parts)
        pairs = zip(parts, self.types, strict=True)
        return np.concatenate([part if own.n_v > 1 else part[None] for part, own in pairs])

    @cached_property
    def layout(self) -> Layout:
        """Meaning of each parameter."""
        # Every joint's four are implied; the layout lists what comes beyond them.
        return Layout.of(self.types, self.drives[len(OF_JOINTS) * self.n :])

    @cached_property
    def drive_groups(self) -> tuple[Group, ...]:
        """The drive terms by shape."""
        return grouped(self.drives)

    @property
    def rotors(self) -> AnyArray:
        """(n, 1) rotor inertias."""
        # Ia is the first of each joint's four terms.
        return self.coefficients[: len(OF_JOINTS) * self.n : len(OF_JOINTS)]

    @cached_property
    def centred(self) -> Tree:
        """The same dynamics with the base's origin at the mounting of the first joint.

        Sums about the base's origin lose digits with the square of the distance to it.
        """
        # Where the base's origin lies plays no part in torques: gravity is the same everywhere.
        first = self.translations[0]
        # Bodies on the base move their mounting; all others stand relative to their parents.
        moved = [
            0 * first if i == 0 else p - first if self.parents[i] < 0 else p for i, p in enumerate(self.translations)
        ]
        return replace(self, translations=np.stack(moved))

    def children(self, i: int) -> tuple[int, ...]:
        """Bodies mounted on body i."""
        return tuple(k for k, parent in enumerate(self.parents) if parent == i)

    def ancestors(self, i: int) -> tuple[int, ...]:
        """Body i, its parent, and so on to the base."""
        path = []
        while i >= 0:
            path.append(i)
            i = self.parents[i]
        return tuple(path)

    def __repr__(self) -> str:
        letters = "".join(own.letter for own in self.types)
        return f"Tree({letters}, parents {self.parents})"


def _rows(counts: Sequence[int]) -> tuple[int | slice, ...]:
    ends = np.cumsum(counts).tolist()
    # A plain index for one coordinate: rows stay (N,), without a dimension of one.
    return tuple(end - 1 if count == 1 else slice(end - count, end) for count, end in zip(counts, ends, strict=True))


@lru_cache(maxsize=64)
def joint_drives(n: int) -> tuple[Drive, ...]:
    """The four terms that each of n joints has."""
    return tuple(shape(joints=(j,)) for j in range(n) for shape in OF_JOINTS)


def own_drives(joints: Iterable[Joint]) -> tuple[Drive, ...]:
    """The four terms of each joint, as its fields say."""
    terms: list[Drive] = []
    for j, joint in enumerate(joints):
        terms += [
            Rotor(joints=(j,), coefficient=joint.rotor_inertia or 0.0),
            Viscous(joints=(j,), coefficient=joint.viscous),
            Coulomb(joints=(j,), coefficient=joint.coulomb, width=joint.coulomb_width),
            Offset(joints=(j,), coefficient=joint.offset),
        ]
    return tuple(terms)
