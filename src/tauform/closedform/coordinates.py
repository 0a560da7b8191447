"""Coordinates that the functions of a closed form are taken of: q itself, or q from another zero in another unit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tauform.arrays import AnyArray, Array, read_only


@dataclass(frozen=True, eq=False)
class Coordinates:
    """x = scale q + offset: the generators q, sin q and cos q of E are those of x; qd and qdd stay as they are.

    Attributes:
        offset: (n,) of joints whose zero makes more terms than another one would.
        scale: (n,) 1, but for joints that others follow by a fraction of their angle.
    """

    offset: Array
    scale: Array

    @classmethod
    def plain(cls, n: int) -> Coordinates:
        """q itself."""
        return cls(read_only(np.zeros(n)), read_only(np.ones(n)))

    @classmethod
    def from_zeros(cls, offset: Array) -> Coordinates:
        """q from other zeros."""
        return cls(read_only(offset), read_only(np.ones(len(offset))))

    @property
    def is_plain(self) -> bool:
        """Whether x is q."""
        return not self.offset.any() and bool((self.scale == 1).all())

    def of(self, i: int, q: Any) -> Any:
        """x of joint i; nothing is computed where it is q."""
        scale, offset = float(self.scale[i]), float(self.offset[i])
        x = q if scale == 1 else scale * q
        return x if offset == 0 else x + offset

    def all_of(self, q: AnyArray) -> AnyArray:
        """(n, ...) x of all joints, on any scalar."""
        return q if self.is_plain else np.array([self.of(i, x) for i, x in enumerate(q)], dtype=q.dtype)
