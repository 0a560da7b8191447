"""The certificate of a kernel in single precision: the compiled code against its program in double precision."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tauform.codegen.backends.reference import SINGLE, SMALLEST_ENTRY, Reference
from tauform.codegen.certificate import within
from tauform.codegen.program.program import Certificate, Program
from tauform.codegen.states import random_inputs

STATES = 200


def single_certificate(kernel: Callable[..., Any], program: Program) -> Certificate:
    """What rounding costs: the largest deviation of an entry, relative to its largest magnitude over the states.

    Entries below a hundredth of the output's largest are measured against that: zeros hold rounding noise.

    Raises:
        VerificationError: it deviates by more than rounding explains, or the results are mostly rounding.
    """
    reference = Reference(program, SINGLE)
    rng = np.random.default_rng(0)
    moved = iter(random_inputs(program, [port for port in program.inputs if not port.shared], 3.0, STATES, rng))
    given = zip(program.inputs, reference.inputs, strict=True)
    arrays = [(values if port.shared else next(moved)).astype(np.float32) for port, values in given]
    exact, found = program(*(array.astype(np.float64) for array in arrays)), kernel(*arrays)
    error = 0.0
    for port, right, rounded in zip(program.outputs, _listed(exact), _listed(found), strict=True):
        entries = np.broadcast_to(right, (STATES, *port.shape)).reshape(STATES, -1)
        largest = np.abs(entries).max(axis=0)
        scale = np.maximum(largest, SMALLEST_ENTRY * largest.max() or 1.0)
        error = max(error, float((np.abs(rounded.reshape(STATES, -1) - entries) / scale).max()))
    within(
        error, reference.tolerance, f"{program.name} of {program.robot} in single precision", 'compile real="double"'
    )
    return Certificate(STATES, error, reference.tolerance, f"the same program in double precision{_of(program)}")


def _of(program: Program) -> str:
    certificate = program.certificate
    return "" if certificate is None else f", which agrees with {certificate.reference} to {certificate.error:.1e}"


def _listed(outputs: Any) -> list[Any]:
    return list(outputs) if isinstance(outputs, tuple) else [outputs]
