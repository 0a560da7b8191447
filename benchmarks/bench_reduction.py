"""Reduced models beside the exact program, for every cell of Lloyd2021 Table 3."""

from __future__ import annotations

from collections.abc import Iterator

import tauform as tf
from benchmarks.timing import Row
from tauform.realtime.figures import accuracy_table

TITLE = (
    "The fastest program within an error, for a share of the states (1,000,000 fresh ones), beside our own exact "
    "program; time of a state in a batch, one core."
)


def rows() -> Iterator[Row]:
    """KR6 and LBR7, slow and fast profiles, 1 % and 0.1 %, 95 % and 99.9 %."""
    for name in ("kr6_r700", "lbr7"):
        for cell in accuracy_table(tf.load(name)):
            found, exact = cell.reduction.program.n_operations, cell.reduction.exact.n_operations
            paper = f", paper {cell.paper} of {cell.paper_exact} us" if cell.paper else ""
            yield Row(
                f"{name}, {cell.profile}, {cell.tolerance:.1%}, {cell.confidence:.1%}",
                ours=1e-9 * cell.nanoseconds,
                peer=1e-9 * cell.exact_nanoseconds,
                peer_name="our exact program",
                note=f"{found} of {exact} operations ({cell.reduction.route}), error {cell.reduction.error:.2%}{paper}",
            )
