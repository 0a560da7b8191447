"""The certificate of a kernel in single precision: the compiled code against its program in double precision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tauform.arrays import AnyArray
from tauform.codegen.backends.reference import LARGEST_ROUNDING, ROUNDING_MARGIN, SINGLE, SMALLEST_ENTRY, Reference
from tauform.codegen.certificate import within
from tauform.codegen.program.program import Certificate, Program
from tauform.codegen.states import random_inputs
from tauform.wording import argument

STATES = 200


def single_certificate(kernel: Callable[..., Any], program: Program) -> Certificate:
    """Cost of rounding: the largest deviation of an entry, relative to its largest magnitude over the states.

    Entries below a hundredth of the output's largest are measured against that: zeros hold rounding noise. The
    program as Python interprets it in single precision, on the same states, says how much rounding explains.

    Raises:
        VerificationError: it deviates by more than rounding explains, or the results are mostly rounding.
    """
    rng = np.random.default_rng(0)
    moved = iter(random_inputs(program, [port for port in program.inputs if not port.shared], 3.0, STATES, rng))
    shared = zip(program.inputs, Reference(program, SINGLE).inputs, strict=True)
    arrays = [(values if port.shared else next(moved)).astype(np.float32) for port, values in shared]
    # From the rounded inputs: the deviation is that of the computation alone.
    exact = _entries(program, program(*(array.astype(np.float64) for array in arrays)))

    def deviation(results: Any) -> float:
        largest = [np.abs(right).max(axis=0) for right in exact]
        scales = [np.maximum(entry, SMALLEST_ENTRY * entry.max() or 1.0) for entry in largest]
        found = zip(_entries(program, results), exact, scales, strict=True)
        return max(float((np.abs(a - b) / scale).max()) for a, b, scale in found)

    what = f"{program.name} of {program.robot} in single precision"
    remedy = f'straighten what is almost aligned ({argument("snap")}), or compile it with real="double"'
    # The interpreter in single precision: what rounding alone explains.
    rounding = deviation(program(*arrays))
    within(rounding, LARGEST_ROUNDING, what, remedy)
    # Two digits: the figure does not hang on the last bits.
    tolerance = max(SINGLE.tolerance, float(f"{ROUNDING_MARGIN * rounding:.1e}"))
    error = deviation(kernel(*arrays))
    within(error, tolerance, what, remedy)
    return Certificate(STATES, error, tolerance, f"the same program in double precision{_of(program)}")


def _entries(program: Program, results: Any) -> list[AnyArray]:
    """Results as (states, entries), in double precision."""
    listed = results if isinstance(results, tuple) else (results,)
    pairs = zip(listed, program.outputs, strict=True)
    return [np.broadcast_to(r, (STATES, *p.shape)).astype(np.float64).reshape(STATES, p.size) for r, p in pairs]


def _of(program: Program) -> str:
    certificate = program.certificate
    return "" if certificate is None else f", which agrees with {certificate.reference} to {certificate.error:.1e}"
