"""Kernels: programs compiled in-process for this machine, called on NumPy arrays of any leading shape."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from numbers import Integral
from types import MethodType
from typing import Any

import llvmlite.binding as llvm
import numpy as np

from tauform.codegen.backends.llvm.fastcall import builtin
from tauform.codegen.backends.llvm.module import (
    compile_object,
    has_single,
    host,
    kernel_vector,
    load_object,
    print_module,
)
from tauform.codegen.backends.llvm.text import DOUBLE, FLOAT, Vector
from tauform.codegen.program.document import encoded
from tauform.codegen.program.port import misfit
from tauform.codegen.program.program import Program
from tauform.codegen.runtime.cache import cached
from tauform.codegen.runtime.content import package
from tauform.codegen.runtime.gufunc import generalized_ufunc, signature
from tauform.codegen.runtime.single_precision import single_certificate
from tauform.codegen.runtime.slices import in_slices
from tauform.errors import GenerationError, ShapeError
from tauform.escaping.shown import visible
from tauform.notebook import Displayed

REALS = {real.name: real for real in (DOUBLE, FLOAT)}


class Kernel(Displayed):
    """A compiled program.

    Attributes:
        program: what was compiled.
        lanes: states that are computed at once.
        real: "double" or "float", what it computes in.
        certificate: what it was compared with; in single precision, the compiled code itself with double precision.
    """

    def __init__(self, program: Program, engine: Any, vector: Vector, single: bool = True) -> None:
        self.program = program
        self.lanes = vector.lanes
        self.real = vector.scalar.name
        self.certificate = program.certificate
        self._engine = engine  # owns the code that is called
        self._ufunc = generalized_ufunc(
            self.loop_address, program.name, repr(program), program.inputs, program.outputs, vector.scalar
        )
        self._dtype = vector.scalar.dtype
        # doubles are rounded where single precision was asked for; integers are taken as they are by either
        rounded = {"dtype": self._dtype, "casting": "same_kind"}
        self._call = self._ufunc.call if self.real == "double" else partial(self._ufunc.call, **rounded)
        self._shared = tuple(k for k, port in enumerate(program.inputs) if port.shared)
        self._has_single = single and has_single(program)
        if self._has_single:
            self._answer_single_states()

    @property
    def loop_address(self) -> int:
        """Address of the loop over a batch: that of a NumPy generalised ufunc."""
        return int(self._engine.get_function_address("loop"))

    def answering(self, general: Callable[..., Any]) -> tuple[Any, Any] | None:
        """A function that answers one finite state by compiled code and passes all other calls on to `general`.

        Returns:
            The function and what must live as long as it does; None where this machine, program or kernel has none.
        """
        if not self._has_single:
            return None
        address = self._engine.get_function_address("single")
        return builtin(address, self.program.name, repr(self.program), general)

    def _answer_single_states(self) -> None:
        """Put compiled code in the place of __call__."""
        # The method of the class itself: the replaced __call__ would call itself for ever.
        answering = self.answering(MethodType(Kernel.__call__, self))
        assert answering is not None
        function, self._definition = answering
        # Python looks up __call__ on the class: a class of its own lets compiled code be it.
        self.__class__ = type("Kernel", (Kernel,), {"__call__": function, "__module__": __name__})

    def __call__(self, *arrays: Any, out: Any = None, threads: int | None = None) -> Any:
        """Evaluate on arrays of shape (..., *port.shape); leading dimensions broadcast.

        Angles may have any size; NaN in a state makes that state's results NaN.

        Args:
            arrays: one for each input port; shared ports take one block for the whole batch.
            out: array (or tuple of arrays, with several outputs) to write into.
            threads: how many threads may work on a large batch; one if not given.

        Returns:
            The output array, or a tuple when the program has several outputs.

        Raises:
            ShapeError: the arrays do not fit the ports.
        """
        try:
            # NumPy's loops compute with the entries that a mask hides.
            if any(np.ma.is_masked(array) for array in arrays if isinstance(array, np.ma.MaskedArray)):
                raise misfit(self.program.name, self.program.inputs, arrays) or TypeError
            if self._shared:
                self._check_shared(arrays)
            # One thread needs no slices: straight to NumPy.
            if threads is None or threads == 1:
                return self._call(*arrays) if out is None else self._call(*arrays, out=out)
            if not isinstance(threads, Integral) or threads < 1:
                raise ShapeError(f"threads: expected a positive whole number, got {threads!r:.60}")
            return in_slices(
                self._call, self.program.inputs, self.program.outputs, arrays, out, int(threads), self._dtype
            )
        except (ValueError, TypeError) as error:
            raise self._explained(arrays, error) from None

    def _check_shared(self, arrays: Sequence[Any]) -> None:
        for k in self._shared:
            port = self.program.inputs[k]
            if k < len(arrays) and np.shape(arrays[k]) != port.shape:
                raise ShapeError(
                    f"{port.name}: expected shape {port.shape}, the same for all states, got {np.shape(arrays[k])}"
                )

    def _explained(self, arrays: Sequence[Any], error: Exception) -> Exception:
        """The error with the port that caused it."""
        if isinstance(error, ShapeError):
            return error
        # NumPy's words speak of operands; the fault names the port.
        fault = misfit(self.program.name, self.program.inputs, arrays)
        words = f"{self.program.name}: {error}; the leading dimensions must broadcast and hold real numbers"
        return fault or ShapeError(words)

    def __reduce__(self) -> tuple[Any, ...]:
        # Machine code is not pickled: the other process compiles or reads it for its own processor.
        return compile_program, (self.program, self.real, self._has_single)

    def __repr__(self) -> str:
        shapes = signature(self.program.inputs, self.program.outputs)
        name = f"{self.program.name!r} of {visible(self.program.robot)}"
        return f"Kernel({name}: {shapes}, {self.real}, {self.lanes} states at once)"


def compile_program(program: Program, real: str = "double", single: bool = True) -> Kernel:
    """Compile a program for this machine; the result is kept on disk (see `tauform.codegen.runtime.cache`).

    Args:
        real: "double", or "float" for single precision, whose kernel is compared with double precision here.
        single: whether single states get code of their own; a kernel for batches alone is compiled in a third to half
            of the time, and takes single states as batches of one.

    Raises:
        GenerationError: a port is empty, there is no such type, or LLVM rejects the program.
        VerificationError: single precision is not enough for this program.
    """
    if real not in REALS:
        raise GenerationError(f"real: expected one of {', '.join(REALS)}, got {real!r:.60}")
    for port in (*program.inputs, *program.outputs):
        if port.size == 0:
            raise GenerationError(f"{program.name}: {port.name} has shape {port.shape} and holds nothing to compute")
    vector = kernel_vector(program, REALS[real])
    version = ".".join(map(str, llvm.llvm_version_info))
    # not by the text for LLVM, which takes longer to print than the kernel to load
    kind = real if single else f"{real}, batches"
    key = "\n".join([package(), version, *host(), kind, encoded(program).decode()])
    code = cached(key, lambda: compile_object(print_module(program, vector, single)))
    kernel = Kernel(program, load_object(code), vector, single)
    # Single precision is certified by what was compiled: rounding depends on its order.
    if real == "float":
        kernel.certificate = single_certificate(kernel, program)
    return kernel
