"""Steps from a link to its parent that cost what their zeros leave over.

A joint turns about and slides along z; a frame of a DH table is then turned about x. Two turns about an axis cost eight
products per vector, one general rotation costs nine, and a tensor takes eight products per turn in place of 45
(Featherstone, Rigid Body Dynamics Algorithms, appendix A.4).
"""

from __future__ import annotations

from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from tauform.arrays import AnyArray
from tauform.description.tree import Tree
from tauform.rigidbody.sweeps.spatial import (
    ANGULAR,
    LINEAR,
    Transform,
    cross,
    joint_transform,
    rotate,
    rotated_tensor,
    shifted_inertia,
    stacked,
)

# Place of entry (i, j) of a tensor among the last six of the ten parameters.
_ENTRY = ((0, 1, 3), (1, 2, 4), (3, 4, 5))
_X, _Z = 0, 2


class Screw(NamedTuple):
    """A turn about a coordinate axis, then a shift p (3, N); None where there is none."""

    axis: int
    cosine: AnyArray
    sine: AnyArray
    p: AnyArray | None
    turns: bool = True  # False where sine and cosine are the numbers 0 and 1

    def rotate(self, v: AnyArray) -> AnyArray:
        """R v of (3, ..., N)."""
        if not self.turns:
            return v
        b, c = (self.axis + 1) % 3, (self.axis + 2) % 3
        turned: list[Any] = [None] * 3
        turned[self.axis] = v[self.axis]
        turned[b] = self.cosine * v[b] - self.sine * v[c]
        turned[c] = self.sine * v[b] + self.cosine * v[c]
        return stacked(turned)

    def rotated_tensor(self, six: AnyArray) -> list[AnyArray]:
        """The six entries of R I R^T."""
        a, b, c = self.axis, (self.axis + 1) % 3, (self.axis + 2) % 3
        turned = list(six)
        if not self.turns:
            return turned
        # Entries beside the axis turn as a vector does.
        beside = six[_ENTRY[a][b]], six[_ENTRY[a][c]]
        turned[_ENTRY[a][b]] = self.cosine * beside[0] - self.sine * beside[1]
        turned[_ENTRY[a][c]] = self.sine * beside[0] + self.cosine * beside[1]
        # With u = s (Ibb - Icc) + 2 c Ibc the others are Ibb - s u, Icc + s u and c u - Ibc.
        Ibb, Icc, Ibc = six[_ENTRY[b][b]], six[_ENTRY[c][c]], six[_ENTRY[b][c]]
        u = self.sine * (Ibb - Icc) + self.cosine * (Ibc + Ibc)
        moved = self.sine * u
        turned[_ENTRY[b][b]], turned[_ENTRY[c][c]] = Ibb - moved, Icc + moved
        turned[_ENTRY[b][c]] = self.cosine * u - Ibc
        return turned


Step = Screw | Transform


def steps_to_parent(tree: Tree, i: int, q: AnyArray) -> tuple[Step, ...]:
    """Steps from link i to its parent at q (N,): two turns of scalars in frames of a DH table, else one step."""
    R, p = tree.rotations[i], tree.translations[i]
    # Of arrays of numbers a call costs more than the products in it: one step is quicker there.
    if q.dtype != object or not _turns_about_x(R[..., 0]):
        return (joint_transform(tree, i, q),)
    # What the joint itself does, in a frame of its own: a turn about z and a shift along it.
    own = Transform(*tree.types[i].placed(np.eye(3, dtype=int)[..., None], np.zeros((3, 1), dtype=int), q))
    _, along = tree.types[i].screw
    joint = Screw(_Z, own.R[0, 0], own.R[1, 0], own.p if along else None)
    return joint, Screw(_X, R[1, 1], R[2, 1], p, not _are_numbers((R[1, 1, 0], R[2, 1, 0]), (1, 0)))


def wrenches_to_parent(steps: tuple[Step, ...], wrenches: AnyArray) -> AnyArray:
    """Wrenches (6, k, N) on a link, seen in its parent: f' = R f, n' = R n + p x f'."""
    for step in steps:
        n, f = (_rotated(step, part) for part in (wrenches[ANGULAR], wrenches[LINEAR]))
        wrenches = np.concatenate([n if step.p is None else n + cross(step.p[:, None], f), f])
    return wrenches


def inertia_by_steps(steps: tuple[Step, ...], ten: AnyArray) -> AnyArray:
    """Ten parameters of a link, seen in its parent."""
    for step in steps:
        if isinstance(step, Screw):
            Rh, tensor = step.rotate(ten[1:4]), step.rotated_tensor(ten[4:])
        else:
            Rh, tensor = rotate(step.R, ten[1:4]), rotated_tensor(step.R, ten[4:])
        ten = stacked([ten[0], *Rh, *tensor]) if step.p is None else shifted_inertia(step.p, ten[0], Rh, tensor)
    return ten


def _rotated(step: Step, v: AnyArray) -> AnyArray:
    return step.rotate(v) if isinstance(step, Screw) else rotate(step.R[:, :, None], v)


def _turns_about_x(R: AnyArray) -> bool:
    """Whether a rotation has the zeros of a turn about x, as numbers: symbols are never taken for zeros."""
    return _are_numbers((R[0, 0], R[0, 1], R[0, 2], R[1, 0], R[2, 0]), (1, 0, 0, 0, 0))


def _are_numbers(entries: tuple[Any, ...], numbers: tuple[int, ...]) -> bool:
    return all(isinstance(x, Real) and x == wanted for x, wanted in zip(entries, numbers, strict=True))
