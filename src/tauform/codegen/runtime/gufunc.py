"""Compiled loops as NumPy generalised ufuncs, through NumPy's C interface.

NumPy then does broadcasting, strides, type conversion, `out=` and the release of the interpreter lock, at a tenth of
the cost of a ctypes call with three arrays.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from tauform.codegen.backends.llvm.fastcall import numpy_table
from tauform.codegen.backends.llvm.text import ScalarType
from tauform.codegen.program.port import Port

# Positions in NumPy's public tables, fixed by its binary interface.
_FROM_FUNC_AND_DATA_AND_SIGNATURE = 31
_NO_IDENTITY = -1


@dataclass(frozen=True, eq=False)
class GeneralizedUfunc:
    """A ufunc with what NumPy reads from it as long as it lives."""

    call: Any
    _kept: tuple[Any, ...]


@cache
def _constructor() -> Any:
    """PyUFunc_FromFuncAndDataAndSignature."""
    table = numpy_table("_UFUNC_API")
    integers = (ctypes.c_int,) * 4
    texts = (ctypes.c_char_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p)
    # PYFUNCTYPE holds the interpreter lock and passes Python's errors on.
    kind = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, *integers, *texts)
    return kind(table[_FROM_FUNC_AND_DATA_AND_SIGNATURE])


def signature(inputs: Sequence[Port], outputs: Sequence[Port]) -> str:
    """Signature such as (6),(6),(6)->(6)."""

    def sizes(ports: Sequence[Port]) -> str:
        return ",".join("(" + ",".join(map(str, port.shape)) + ")" for port in ports)

    return f"{sizes(inputs)}->{sizes(outputs)}"


def generalized_ufunc(
    address: int, name: str, document: str, inputs: Sequence[Port], outputs: Sequence[Port], real: ScalarType
) -> GeneralizedUfunc:
    """Wrap a loop over numbers of that type at that address."""
    n_arguments = len(inputs) + len(outputs)
    # NumPy keeps pointers to these arrays: they must live as long as the ufunc.
    functions = (ctypes.c_void_p * 1)(address)
    data = (ctypes.c_void_p * 1)(None)
    types = (ctypes.c_byte * n_arguments)(*[real.numpy_number] * n_arguments)
    texts = name.encode(), document.encode(), signature(inputs, outputs).encode()
    ufunc = _constructor()(
        ctypes.addressof(functions),
        ctypes.addressof(data),
        ctypes.addressof(types),
        # One loop, for one type; NumPy converts all others to it.
        1,
        len(inputs),
        len(outputs),
        _NO_IDENTITY,
        texts[0],
        texts[1],
        # An unused argument of NumPy's interface.
        0,
        texts[2],
    )
    assert isinstance(ufunc, np.ufunc)
    return GeneralizedUfunc(ufunc, (functions, data, types, texts))
