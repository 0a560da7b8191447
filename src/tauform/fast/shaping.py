"""Shapes of calls and results: arrays that a kernel takes, and what its outputs become."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tauform.arrays import Array
from tauform.description.robot import Robot
from tauform.errors import TauformError

Call = Callable[..., Any]
# The answer of a kernel that does not take a call; None may be a result.
NOTHING: Any = object()


def frames_of(robot: Robot, wrenches: Any) -> tuple[str, ...] | None:
    """Names of the frames that feel a wrench, in one order for all calls; None where the textbook function refuses."""
    try:
        names = tuple(sorted(robot.frame(name).name for name in wrenches))
    except (TauformError, TypeError, AttributeError):
        return None
    # The same frame by two names would be two ports for one wrench.
    is_usual = isinstance(wrenches, Mapping) and len(set(names)) == len(names)
    return names if is_usual else None


def plain_array(value: Any, n: int) -> Array | None:
    """Finite real numbers of shape (..., n) as doubles; None for anything else."""
    if type(value) is not np.ndarray:
        # Masked entries are refused by the textbook function.
        if value is None or np.ma.is_masked(value):
            return None
        try:
            value = np.asarray(value)
        except (TypeError, ValueError):
            return None
    if value.dtype != np.float64:
        # Complex numbers go to the textbook function, which computes with them.
        if value.dtype.kind not in "fiub":
            return None
        value = value.astype(np.float64)
    if value.ndim == 0 or value.shape[-1] != n or not np.isfinite(value).all():
        return None
    array: Array = value
    return array


def wrapped(result: Callable[..., Any], outputs: Any) -> Any:
    """The result that a kernel's outputs make."""
    return result(*outputs) if isinstance(outputs, tuple) else result(outputs)


class Answer:
    """A result that needs nothing more."""

    def __init__(self, value: Any) -> None:
        self.value = value


def making(compiled: Call, result: Call, general: Call) -> Call:
    """The compiled function with its outputs made into the result; calls that it passed on come back finished."""

    def ready(*state: Any) -> Any:
        outputs = compiled(*state)
        return outputs.value if type(outputs) is Answer else wrapped(result, outputs)

    return ready


def checking_pivots(compiled: Call, result: Call, general: Call) -> Call:
    """The same where the last output must be positive for the others to count."""

    def ready(*state: Any) -> Any:
        outputs = compiled(*state)
        if type(outputs) is Answer:
            return outputs.value
        return result(*outputs[:-1]) if outputs[-1].min() > 0 else general(*state).value

    return ready


def alone(output: Any) -> Any:
    """The only output, as it is."""
    return output


def has_pivots(kernel: Any) -> bool:
    """Whether the last output says if the mass matrix was definite."""
    return bool(kernel.program.outputs[-1].name == "pivots")
