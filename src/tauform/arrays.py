"""Array aliases, shape checks of arguments, read-only arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tauform.errors import ShapeError

Array = NDArray[np.float64]
# Cores of algorithms also run on complex, counting or symbolic scalars.
AnyArray = NDArray[Any]
Mask = NDArray[np.bool_]
# No length, mass or inertia of a robot comes near this, and products of a few such numbers still do not overflow.
LARGEST = 1e50


def read_only(values: ArrayLike, dtype: Any = np.float64) -> Array:
    """A private copy that cannot be written to."""
    array = np.array(values, dtype=dtype)
    array.setflags(write=False)
    return array


def joint_vector(values: ArrayLike, n_joints: int, name: str, last: str = "the joint") -> AnyArray:
    """Check that values have shape (..., n_joints) and are finite; complex values pass (complex step).

    Args:
        last: what the last dimension is, where the entries are not the joints'.
    """
    try:
        if values is None:
            raise TypeError  # NumPy would make a NaN of it
        array = _unmasked(values)
        # Complex stays complex: derivatives by complex step run through the same cores.
        if array.dtype.kind != "c":
            array = array.astype(np.float64, copy=False)
    except (TypeError, ValueError, OverflowError):
        raise ShapeError(f"{name}: expected numbers of shape (..., {n_joints}), got {values!r:.60}") from None
    if array.ndim == 0 or array.shape[-1] != n_joints:
        # The commonest slip: samples along the wrong dimension.
        turned = array.ndim == 2 and array.shape[0] == n_joints
        remedy = f"pass {name}.T" if turned else f"the last dimension is {last}"
        raise ShapeError(f"{name}: expected shape (..., {n_joints}), got {array.shape}; {remedy}")
    if not np.isfinite(array).all():
        where = np.argwhere(~np.isfinite(array))[0].tolist()
        raise ShapeError(f"{name}: entry {where} is not finite; remove or repair that sample")
    return array


def _unmasked(values: ArrayLike) -> AnyArray:
    """As an array; texts and entries that are masked out are no numbers, though NumPy would take them for such."""
    array = np.asarray(values)
    if array.dtype.kind in "US" or np.ma.is_masked(values):
        raise TypeError
    return array


def fixed_array(values: ArrayLike, shape: tuple[int, ...], name: str) -> Array:
    """Check that values are finite numbers of exactly this shape, of a size that can be meant; a read-only copy."""
    try:
        array = read_only(_unmasked(values))
    except (TypeError, ValueError, OverflowError):
        raise ShapeError(f"{name}: expected numbers of shape {shape}, got {values!r:.60}") from None
    if array.shape != shape:
        raise ShapeError(f"{name}: expected shape {shape}, got {array.shape}")
    if not np.isfinite(array).all():
        raise ShapeError(f"{name}: holds a value that is not finite")
    if np.abs(array).max(initial=0.0) > LARGEST:
        raise ShapeError(f"{name}: holds {np.abs(array).max():g}, which cannot be meant; check the file and its units")
    return array
