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

    one_by_one = np.frompyfunc(of_object, 1, 1)

    def apply(x: Any) -> Any:
        if not isinstance(x, np.ndarray | np.generic):
            return of_object(x)
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
