"""Guard of the divisions in forward dynamics: each pivot is the inertia that a joint alone has to move."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from tauform.arrays import AnyArray
from tauform.description.robot import Robot
from tauform.errors import SingularMassMatrixError

# A pivot below this fraction of the terms it is the difference of has no correct digit.
PIVOT_TOLERANCE = 1e-13


class PivotError(ArithmeticError):
    """Pivot of joint `index` is not positive in state `state` of the batch."""

    def __init__(self, index: int, state: int) -> None:
        super().__init__(index, state)
        self.index, self.state = index, state


def check_pivot(pivot: AnyArray, terms: Sequence[AnyArray], index: int) -> None:
    """Raise PivotError unless the pivot is positive beside these terms; symbolic and counting scalars pass."""
    if np.asarray(pivot).dtype == object:
        return
    # Complex steps move the imaginary part alone: the real part decides whether a state is singular.
    scale = sum(np.abs(np.real(term)) for term in terms)
    good = np.real(pivot) > PIVOT_TOLERANCE * scale
    if not np.all(good):
        raise PivotError(index, int(np.argmin(np.ravel(good))))


@contextmanager
def named_pivots(robot: Robot) -> Iterator[None]:
    """Turn a PivotError into one that names the joint and its link."""
    try:
        yield
    except PivotError as error:
        if robot.closure is not None:
            where = f"coordinate {robot.joint_names[error.index]!r}"
        else:
            where = f"link {robot.links[error.index].name!r} (joint {robot.joints[error.index].name!r})"
        raise SingularMassMatrixError(
            f"the mass matrix of {robot.name!r} is not positive definite: {where} has no inertia about its joint, or "
            "an unphysical one; give the link an inertia or the joint a rotor inertia (robot.check() lists the links)"
        ) from None
