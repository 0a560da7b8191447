"""Functions whose code is chosen when they run: one body, compiled for every processor and for newer ones.

The body is a static function that compilers put into each variant, so that its text stands in the file once. Calls look
at the processor themselves: no table that a loader fills, and none of it where compiler or system do not know the
processor, or where the compiler was told that it is a newer one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tauform.codegen.backends.c.config import RealType
from tauform.codegen.backends.c.templates import template

LANES_PARAMETER = "lanes"


def dispatch_definitions(real: RealType) -> str:
    """The macros that the texts below use."""
    # Lanes of registers of 256 bits on newer processors, of 128 bits on all.
    return template("dispatch.c").substitute(wide=256 // real.bits, narrow=128 // real.bits)


@dataclass(frozen=True)
class CFunction:
    """A function in C.

    Attributes:
        parameters: their declarations.
        arguments: their names.
        linkage: what stands before the type.
    """

    name: str
    parameters: Sequence[str]
    arguments: Sequence[str]
    linkage: str = ""

    @property
    def body(self) -> str:
        """Name of the body that runs on every processor."""
        return f"{self.name}_body"

    @property
    def newer_body(self) -> str:
        """Name of the body for newer processors alone, where it has other statements."""
        return f"{self.name}_vectors"

    def plain(self, statements: str) -> str:
        """The function without variants."""
        return f"{self.linkage}void {self.name}({', '.join(self.parameters)})\n{{\n{statements}}}\n"

    def body_text(self, statements: str) -> str:
        """The body on every processor."""
        return self._body(f"INLINE void {self.body}", statements)

    def newer_body_text(self, statements: str) -> str:
        """The body for newer processors alone."""
        return self._body(f"INLINE AVX2 void {self.newer_body}", statements)

    def variants(self, newer: str | None = None) -> str:
        """The function itself, behind its bodies.

        Args:
            newer: name of the body for newer processors, if not the same.
        """
        parameters, arguments = ", ".join(self.parameters), ", ".join(self.arguments)
        # VARIANTS defines one function per kind of processor, RUN calls the one that fits.
        names = f"{self.name}, {newer or self.body}, {self.body}"
        call = f"    RUN({names}, {arguments});\n"
        return f"VARIANTS({names}, ({parameters}), {arguments})\n\n{self.plain(call)}"

    def _body(self, head: str, statements: str) -> str:
        # the angles that one register takes are known where the body is put into a variant
        # Bodies without angles do not read the parameter; compilers would warn.
        unused = "" if f"({LANES_PARAMETER}, " in statements else f"    (void){LANES_PARAMETER};\n"
        parameters = ", ".join([f"int {LANES_PARAMETER}", *self.parameters])
        return f"static {head}({parameters})\n{{\n{unused}{statements}}}\n"
