"""Drive terms of the same shape, to be evaluated together: one call of the shape's torque for all their joints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tauform.arrays import AnyArray
from tauform.description.drives.drive import Drive, Own

if TYPE_CHECKING:
    from tauform.description.tree import Tree


class JointState(NamedTuple):
    """Motion of all joints: arrays (n, N) of any scalar, one row per joint of the tree; None where not needed."""

    q: AnyArray | None
    qd: AnyArray | None
    qdd: AnyArray | None = None
    temperature: AnyArray | None = None
    carried: AnyArray | None = None


@dataclass(frozen=True, eq=False)
class Group:
    """Terms of one shape whose joints all differ.

    Attributes:
        columns: (k,) their places among the drive terms.
        joints: (m, k) the joints that each acts on.
        constants: an object with (k, 1) values of each constant, or the term itself where it stands alone.
    """

    shape: type[Drive]
    columns: AnyArray
    joints: AnyArray
    constants: Any

    def own(self, tree: Tree, motion: JointState) -> Own:
        """The motion of its joints."""
        # Rows of q and of qd differ where a joint has more velocities than coordinates or the reverse.
        row_of = tree.driven_rows
        seen = {
            name: None if rows is None else self._rows(rows, row_of[name]) for name, rows in motion._asdict().items()
        }
        return Own(**seen, joints=tuple(self.joints[:, 0].tolist()), tree=tree)

    def torques(self, own: Own) -> tuple[Any, ...]:
        """Torques (k, N) for coefficients of one, per joint that a term acts on."""
        torque = self.shape.torque(own, self.constants)
        # Shapes of one joint return an array, those of several a tuple.
        return (torque,) if self.shape.n_joints == 1 else torque

    def energy(self, own: Own) -> Any:
        """(k, N) energies for coefficients of one."""
        return self.shape.energy(own, self.constants)

    def velocities(self, tree: Tree) -> AnyArray:
        """(m, k) rows of qd, qdd and tau that belong to the joints."""
        return tree.driven_rows["qd"][self.joints]

    def _rows(self, rows: AnyArray, row_of: AnyArray) -> Any:
        chosen = row_of[self.joints]
        return rows[chosen[0]] if self.shape.n_joints == 1 else tuple(rows[own] for own in chosen)


@lru_cache(maxsize=64)
def grouped(drives: tuple[Drive, ...]) -> tuple[Group, ...]:
    """All drive terms, each in one group."""
    waiting: dict[Any, list[list[int]]] = {}
    for k, term in enumerate(drives):
        # Smooth and sharp steps are different functions; between points every term has a path of its own.
        alike = (type(term), term.constants.get("width", 0.0) > 0) if term.n_joints is not None else k
        places = waiting.setdefault(alike, [])
        # Joints of a group differ, so that its torques are added by index without losing one.
        fitting = (place for place in places if not any(set(drives[c].joints) & set(term.joints) for c in place))
        place = next(fitting, None)
        if place is None:
            places.append([k])
        else:
            place.append(k)
    return tuple(_group([drives[k] for k in place], place) for places in waiting.values() for place in places)


def _group(terms: Sequence[Drive], columns: Sequence[int]) -> Group:
    constants: Any = terms[0]
    if terms[0].n_joints is not None:
        # (k, 1) columns: they stretch over the batch.
        columns_of = {name: [[getattr(term, name)] for term in terms] for name in terms[0].constant_names()}
        constants = SimpleNamespace(**{name: np.array(own, dtype=float) for name, own in columns_of.items()})
    # (m, k): m joints that each term acts on, k terms.
    joints = np.array([term.joints for term in terms], dtype=int).T
    return Group(type(terms[0]), np.array(columns, dtype=int), joints, constants)


def acting(groups: Sequence[Group], coefficients: AnyArray) -> Iterator[tuple[Group, AnyArray]]:
    """The groups with a coefficient that is not zero, and their coefficients (k, 1)."""
    for group in groups:
        own = coefficients[group.columns]
        # A symbol counts as not zero, whatever value it takes later.
        if any(not isinstance(value, int | float) or value for value in own.ravel().tolist()):
            yield group, own
