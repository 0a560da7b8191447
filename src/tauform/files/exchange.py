"""Two folders exchange their names in one step, so that no moment knows one without the other."""

from __future__ import annotations

import ctypes
import os
import sys
from functools import cache
from pathlib import Path
from typing import Any

_AT_CURRENT_FOLDER = -100
_EXCHANGE = 2  # RENAME_EXCHANGE of Linux, RENAME_SWAP of macOS


def exchange(one: Path, other: Path) -> bool:
    """Exchange two paths; False where the system or the file system cannot, and nothing has changed."""
    call = _system_call()
    return call is not None and call(os.fsencode(one), os.fsencode(other)) == 0


@cache
def _system_call() -> Any:
    # Python has no call for it; both systems' C libraries do.
    library: Any = ctypes.CDLL(None) if os.name == "posix" else None
    if sys.platform == "darwin" and hasattr(library, "renamex_np"):
        return lambda one, other: library.renamex_np(one, other, ctypes.c_uint(_EXCHANGE))
    if hasattr(library, "renameat2"):
        here = ctypes.c_int(_AT_CURRENT_FOLDER)
        return lambda one, other: library.renameat2(here, one, here, other, ctypes.c_uint(_EXCHANGE))
    return None
