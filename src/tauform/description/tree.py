"""Tree: a robot as the plain arrays that every algorithm runs on.

Arrays carry their components first and one batch dimension last (length 1 here), so that the same algorithm runs
on batches of numbers, on complex numbers, on counting scalars and on symbolic scalars (object arrays).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tauform.arrays import AnyArray, Array
from tauform.description.layout import Layout


@dataclass(frozen=True, eq=False, repr=False)
class Tree:
    """Structure and numbers of a tree of bodies.

    Attributes:
        parents: index of each body's parent, -1 for the base.
        revolute: whether each joint turns (else it slides).
        rotations: (n, 3, 3, 1) constant rotation, parent from joint.
        translations: (n, 3, 1) joint origin in the parent.
        inertias: (n, 10, 1) link parameters.
        joint_parameters: (n, 4, 1) Ia, Fv, Fc, Fo.
        gravity: (3, 1).
    """

    parents: tuple[int, ...]
    revolute: tuple[bool, ...]
    rotations: AnyArray
    translations: AnyArray
    inertias: AnyArray
    joint_parameters: AnyArray
    gravity: AnyArray

    @classmethod
    def of(
        cls,
        parents: tuple[int, ...],
        revolute: tuple[bool, ...],
        parent_from_joint: Array,
        inertias: Array,
        joint_parameters: Array,
        gravity: Array,
    ) -> Tree:
        """From arrays without the batch dimension."""
        return cls(
            parents=parents,
            revolute=revolute,
            rotations=parent_from_joint[:, :3, :3, None],
            translations=parent_from_joint[:, :3, 3, None],
            inertias=inertias[..., None],
            joint_parameters=joint_parameters[..., None],
            gravity=np.asarray(gravity)[:, None],
        )

    @property
    def n(self) -> int:
        """Number of bodies."""
        return len(self.parents)

    @cached_property
    def layout(self) -> Layout:
        """Which parameter is which."""
        return Layout.of(self.revolute)

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
        kinds = "".join("R" if turns else "P" for turns in self.revolute)
        return f"Tree({kinds}, parents {self.parents})"
