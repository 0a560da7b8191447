"""C99 as a target: functions without state or allocation, a self-test, a Makefile and a CMakeLists.txt."""

from __future__ import annotations

from collections.abc import Sequence

from tauform.codegen.backends.backend import Backend, Request
from tauform.codegen.backends.c.config import REALS
from tauform.codegen.backends.c.project import project_files


class C(Backend):
    """The backend."""

    title = "C99"
    reals = tuple(REALS)
    has_batch = True
    has_single_header = True
    has_loops = True

    def files(self, request: Request) -> dict[str, str]:
        """Header, source (or one header for both), self-test, build files and README."""
        return project_files(request)

    def build_products(self, prefix: str) -> tuple[str, ...]:
        """The compiled self-test."""
        return (f"test_{prefix}",)

    def check_commands(self, prefix: str) -> tuple[Sequence[str], ...]:
        """The self-test, compiled and run."""
        return (("make", "check"),)


BACKEND = C()
