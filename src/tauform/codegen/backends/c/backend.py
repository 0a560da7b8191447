"""C99 as a target: functions without state or allocation, a self-test, a Makefile and a CMakeLists.txt."""

from __future__ import annotations

from collections.abc import Sequence

from tauform.codegen.backends.backend import Request
from tauform.codegen.backends.c.config import REALS, real_type
from tauform.codegen.backends.c.project import project_files
from tauform.codegen.names import c_prefix


class C:
    """The backend; see `tauform.codegen.backends.backend.Backend`."""

    title = "C99"
    reals = tuple(REALS)
    has_batch = True
    has_single_header = True
    functions: tuple[str, ...] = ()

    def prefix(self, name: str | None, robot: str) -> str:
        """An identifier that C, make and CMake take."""
        return c_prefix(name, robot)

    def files(self, request: Request) -> dict[str, str]:
        """Header, source (or one header for both), self-test, build files and README."""
        return project_files(
            request.programs,
            request.prefix,
            real_type(request.real),
            request.batch,
            single_header=request.single_header,
            replay=request.replay,
            remarks=request.remarks,
            bounds=request.bounds,
        )

    def build_products(self, prefix: str) -> tuple[str, ...]:
        """The compiled self-test."""
        return (f"test_{prefix}",)

    def check_commands(self, prefix: str) -> tuple[Sequence[str], ...]:
        """The self-test, compiled and run."""
        return (("make", "check"),)


BACKEND = C()
