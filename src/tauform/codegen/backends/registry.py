"""Targets by name: the one place that knows which backends there are; each is imported when it is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Literal, get_args

from tauform.messages import no_such

if TYPE_CHECKING:
    # Help texts list the targets; they need no backend for that.
    from tauform.codegen.backends.backend import Backend

Target = Literal[
    "c", "cpp", "javascript", "matlab", "rust", "casadi", "ros2", "fmu", "opencl", "cuda", "wasm", "simulink"
]
TARGETS: tuple[Target, ...] = get_args(Target)


def backend(target: str) -> Backend:
    """The backend of that name.

    Raises:
        UnknownNameError: no such target.
    """
    if target not in TARGETS:
        raise no_such("target", target, TARGETS)
    # Imported late: one backend's dependencies are no condition for the others.
    found: Backend = import_module(f"tauform.codegen.backends.{target}.backend").BACKEND
    return found
