"""Choices of the C backend: the floating-point type and how C spells numbers."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np

from tauform.codegen.backends import reference
from tauform.codegen.backends.reference import Precision
from tauform.errors import GenerationError
from tauform.portable import exponential
from tauform.portable.exponential import Exponential
from tauform.portable.sincos import DOUBLE, FLOAT, SinCos

# A longer function is cut into parts of PART_SIZE operations.
# Operations of one C function: compilers need more than linear time beyond.
LONGEST_FUNCTION = 8000
PART_SIZE = 1500

# Bytes of a row of the block that a batch function works on at once: a multiple of every vector register, and several
# of them, so that loops are worth their beginning.
BATCH_ROW = 128


@dataclass(frozen=True)
class RealType(Precision):
    """A floating-point type of C, by the name that C has for it.

    Attributes:
        suffix: of literals and of the functions in math.h.
        vectors: the preprocessor's condition for registers of four such numbers.
        vectors_are_newer: whether they belong to the processors that code is compiled for a second time.
    """

    suffix: str
    sincos: SinCos
    exponential: Exponential
    vectors: str
    vectors_are_newer: bool

    @property
    def batch_block(self) -> int:
        """States that a batch function works on at once."""
        return 8 * BATCH_ROW // self.bits

    def number(self, value: float) -> str:
        """The shortest decimal that reads back as exactly this number (of this type)."""
        # NumPy finds the digits; Python lays them out, in the same way with every version of NumPy.
        # Shortest digits: the same text, and the same double, on every machine.
        return f"{float(np.format_float_scientific(self.dtype(value)))!r}{self.suffix}"

    def bits_of(self, value: float) -> str:
        # In the machine's own byte order: the literal is a number, so its text is the same everywhere.
        """The bits of a number of this type as an unsigned literal."""
        return self.unsigned(int.from_bytes(self.dtype(value).tobytes(), sys.byteorder))

    def unsigned(self, value: int) -> str:
        """An unsigned literal as wide as this type."""
        return f"{value:#x}{'u' if self.bits == 32 else 'ull'}"


REALS = {
    "double": RealType(
        **vars(reference.DOUBLE),
        suffix="",
        sincos=DOUBLE,
        # Four doubles are 256 bits (AVX2), which not every x86-64 has: the choice may fall at run time.
        exponential=exponential.DOUBLE,
        vectors="defined(DISPATCH) || (defined(__AVX2__) && defined(__FMA__))",
        vectors_are_newer=True,
    ),
    "float": RealType(
        **vars(reference.SINGLE),
        suffix="f",
        sincos=FLOAT,
        # Four floats are 128 bits: every x86-64 and ARM with NEON has them, so no second body is needed.
        exponential=exponential.FLOAT,
        vectors="defined(__SSE2__) || defined(__ARM_NEON)",
        vectors_are_newer=False,
    ),
}


def real_type(name: str) -> RealType:
    """The type of that name."""
    if name not in REALS:
        raise GenerationError(f"real: expected one of {', '.join(REALS)}, got {name!r}")
    return REALS[name]
