"""Compiled functions with CPython's own calling convention as Python callables."""

from __future__ import annotations

import ctypes
import struct
import sys
import sysconfig
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

# METH_FASTCALL | METH_KEYWORDS of CPython.
_FASTCALL_WITH_KEYWORDS = 0x0080 | 0x0002
_ARRAY_NEW = 93  # position in NumPy's public table


class _MethodDefinition(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("document", ctypes.c_char_p),
    )


@cache
def is_supported() -> bool:
    """Whether objects are laid out as `backends.llvm.single` expects: 64-bit CPython with its interpreter lock."""
    return (
        sys.implementation.name == "cpython"
        and struct.calcsize("P") == 8
        # Without the interpreter lock, objects have other headers.
        and not sysconfig.get_config_var("Py_GIL_DISABLED")
    )


def numpy_table(capsule: str) -> Any:
    """One of NumPy's tables of C functions, as an array of pointers."""
    # NumPy 2 moved its core.
    core = "numpy._core" if int(np.__version__.split(".")[0]) > 1 else "numpy.core"
    umath = import_module(f"{core}._multiarray_umath")
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    return ctypes.cast(pointer(getattr(umath, capsule), None), ctypes.POINTER(ctypes.c_void_p))


def symbols() -> dict[str, int]:
    """Addresses that the compiled function refers to, by the names in its text."""

    def python(name: str) -> int:
        return int(ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value or 0)

    return {
        "tauform_array_type": id(np.ndarray),
        "tauform_float64": id(np.dtype(np.float64)),
        "tauform_float32": id(np.dtype(np.float32)),
        "tauform_array_new": numpy_table("_ARRAY_API")[_ARRAY_NEW],
        "tauform_vectorcall": python("PyObject_Vectorcall"),
        "tauform_tuple_new": python("PyTuple_New"),
        "tauform_tuple_set": python("PyTuple_SetItem"),
    }


def builtin(address: int, name: str, document: str, general: Callable[..., Any]) -> tuple[Any, Any]:
    """A builtin function whose code is at the address and whose `self` is `general`; and what must live as long."""
    definition = _MethodDefinition(name.encode(), address, _FASTCALL_WITH_KEYWORDS, document.encode())
    # The definition must outlive the function: CPython keeps a pointer to it.
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype, make.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p)
    return make(ctypes.addressof(definition), general, None), definition
