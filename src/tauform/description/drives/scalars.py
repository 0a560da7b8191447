"""Functions of any scalar: floats, complex numbers (complex steps), counting and symbolic scalars, dual numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tauform.arrays import AnyArray
from tauform.portable import elementwise


def _of_floats(name: str, function: Callable[[AnyArray], AnyArray]) -> Callable[[Any], Any]:
    """The function on arrays of numbers; everything else brings a method of that name."""

    def of_object(scalar: Any) -> Any:
        method = getattr(scalar, name, None)
        return function(np.asarray(scalar, dtype=float)).item() if method is None else method()

    # Object arrays hold symbols: one call each.
    one_by_one = np.frompyfunc(of_object, 1, 1)

    def apply(x: Any) -> Any:
        if not isinstance(x, np.ndarray | np.generic):
            return of_object(x)
        # Arrays of numbers take the portable functions, which give the same bits on every machine.
        return one_by_one(x) if x.dtype == object else function(np.asarray(x))

    return apply


def _absolute(x: AnyArray) -> AnyArray:
    # |x| = sign(x) x is analytic beside zero, where the absolute value of a complex number is not
    return np.sign(x.real) * x if np.iscomplexobj(x) else np.abs(x)


# sign(0) = 0; of a complex number that of its real part, so that a complex step sees no slope.
sign = _of_floats("sign", lambda x: np.sign(x.real))
absolute = _of_floats("abs", _absolute)
sin = _of_floats("sin", elementwise.sin)
cos = _of_floats("cos", elementwise.cos)
tanh = _of_floats("tanh", elementwise.tanh)
exp = _of_floats("exp", elementwise.exp)
sqrt = _of_floats("sqrt", np.sqrt)


def arctan2(y: Any, x: Any) -> Any:
    """Angle of the point (x, y) [rad]; of complex numbers to first order in imaginary parts (complex steps)."""
    for one in (y, x):
        if not isinstance(one, np.ndarray | np.generic | int | float | complex):
            # y may be a number beside a symbol x: adding zero makes it one.
            return (y if hasattr(y, "arctan2") else y + 0 * one).arctan2(x)
    if np.iscomplexobj(y) or np.iscomplexobj(x):
        (a, b), (c, d) = (np.real(y), np.imag(y)), (np.real(x), np.imag(x))
        # First order: d atan2 = (x dy - y dx) / (x^2 + y^2).
        return elementwise.arctan2(np.asarray(a), np.asarray(c)) + 1j * (c * b - a * d) / (a * a + c * c)
    angles = elementwise.arctan2(np.asarray(y, dtype=float), np.asarray(x, dtype=float))
    return angles if angles.ndim else angles.item()
