"""Lanes: the columns of a Jacobian four at a time, as the lanes of vectors.

Derivatives along several directions take the same steps with other numbers. With a unit vector of four lanes as the
rate of change of each of four inputs, one sweep of tangents carries four columns:

    d f = sum_k (df/dx_k) e_k ,        lane k of d f  =  df/dx_k .

A program of vectors is a fraction as long as that of all columns one by one; code that fits into the processor's
instruction cache runs several times as fast as code that does not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tauform.arrays import AnyArray
from tauform.codegen.differentiation.tangent import tangents
from tauform.codegen.program.graph import Scalar
from tauform.codegen.program.program import LANES


def tangent_lanes(
    values: Sequence[Any],
    inputs: AnyArray,
    held: Mapping[int, int],
    finish: Callable[[AnyArray], AnyArray] = lambda change: change,
) -> AnyArray:
    """d values / d inputs, (values, inputs).

    Args:
        held: directions of intermediate values, as in `tangents`.
        finish: a linear map from the changes of the values to what is wanted.
    """
    graph = inputs[0].graph
    columns: list[list[Scalar]] = []
    for first in range(0, len(inputs), LANES):
        # The last may be short; its spare lanes are zero and cost nothing more.
        chunk = inputs[first : first + LANES]
        # Unit directions in different lanes: one sweep makes four columns.
        units = {scalar.reference: graph.unit(lane) for lane, scalar in enumerate(chunk)}
        vectors = finish(np.array(tangents(values, {**held, **units}), dtype=object))
        columns += [[Scalar(graph, graph.lane(v.reference, lane)) for v in vectors] for lane in range(len(chunk))]
    return np.array(columns, dtype=object).T
