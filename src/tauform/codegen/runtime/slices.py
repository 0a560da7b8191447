"""Large batches in slices, one for each thread; NumPy releases the interpreter lock in each.

The contract is that of the call without threads: whatever slices could change (conversions, subclasses, results that
overlap the inputs, arrays that do not fit) is left to it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import cache
from typing import Any

import numpy as np

from tauform.arrays import AnyArray
from tauform.codegen.program.port import Port

# Fewer states than this a thread are not worth handing over.
STATES_PER_THREAD = 2000

Call = Callable[..., Any]


def in_slices(
    call: Call,
    inputs: Sequence[Port],
    outputs: Sequence[Port],
    arrays: Sequence[Any],
    out: Any,
    threads: int,
    dtype: type[np.floating],
) -> Any:
    """call(*arrays, out=out) on so many threads at most; results have that type."""
    batch = _batch_shape(arrays, inputs, dtype)
    n_states = 0 if batch is None else int(np.prod(batch, dtype=int))
    # A small batch takes fewer threads than were asked for.
    n_slices = min(threads, n_states // STATES_PER_THREAD)
    if batch is None or n_slices < 2:
        return call(*arrays, out=out)
    given = out if isinstance(out, tuple) else (out,)
    results = tuple(np.empty(batch + port.shape, dtype) for port in outputs) if out is None else given
    if out is not None and not _independent(results, [batch + port.shape for port in outputs], arrays, dtype):
        return call(*arrays, out=out)
    states = [
        a if p.shared else _rows(np.broadcast_to(a, batch + p.shape), p) for a, p in zip(arrays, inputs, strict=True)
    ]
    rows = [_rows(array, port) for array, port in zip(results, outputs, strict=True)]
    edges = [n_states * k // n_slices for k in range(n_slices + 1)]

    # What np.errstate says is a matter of the thread before NumPy 2, and of the context since.
    said = np.geterr()

    def run(k: int) -> None:
        part = slice(edges[k], edges[k + 1])
        own = (a if p.shared else a[part] for a, p in zip(states, inputs, strict=True))
        with np.errstate(**said):
            call(*own, out=tuple(row[part] for row in rows))

    running = [_pool().submit(copy_context().run, run, k) for k in range(n_slices)]
    # result() raises here what was raised in a thread.
    for future in running:
        future.result()
    return results[0] if len(results) == 1 else results


def _batch_shape(arrays: Sequence[Any], ports: Sequence[Port], dtype: type[np.floating]) -> tuple[int, ...] | None:
    """Leading dimensions of plain arrays that fit the ports; None where anything else was given."""
    leading = []
    for array, port in zip(arrays, ports, strict=False):
        # Subclasses and conversions are left to NumPy itself.
        if type(array) is not np.ndarray or not np.can_cast(array.dtype, dtype, "safe"):
            return None
        inner = array.ndim - len(port.shape)
        if inner < 0 or array.shape[inner:] != port.shape:
            return None
        # Shared ports have no part in the batch.
        leading.append(array.shape[:inner] if not port.shared else ())
    if len(arrays) != len(ports):
        return None
    try:
        return np.broadcast_shapes(*leading)
    except ValueError:
        return None


def _independent(
    results: tuple[Any, ...], shapes: list[tuple[int, ...]], arrays: Sequence[AnyArray], dtype: type[np.floating]
) -> bool:
    """Whether results can be written in any order: plain arrays of the right shape, apart from all others."""
    if len(results) != len(shapes):
        return False
    for k, (result, shape) in enumerate(zip(results, shapes, strict=True)):
        if type(result) is not np.ndarray or result.shape != shape or result.dtype != np.dtype(dtype):
            return False
        # Only contiguous rows are views: else results would be written to copies.
        if not (result.flags.c_contiguous and result.flags.writeable):
            return False
        # By bounds only, which errs on the safe side and costs nothing.
        if any(np.may_share_memory(result, other) for other in (*arrays, *results[:k])):
            return False
    return True


def _rows(array: AnyArray, port: Port) -> AnyArray:
    """(N, *port.shape), a view of contiguous arrays."""
    return array.reshape(-1, *port.shape)


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(os.cpu_count() or 1, thread_name_prefix="tauform")


if hasattr(os, "register_at_fork"):
    # the threads of a pool do not live on in a forked process
    os.register_at_fork(after_in_child=_pool.cache_clear)
