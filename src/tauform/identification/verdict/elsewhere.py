"""Errors in postures that nobody recorded, of joints that move as far and as fast as they did, but not together so.

Held-out blocks are of one motion: values that it never tells apart leave no error in any block, and do elsewhere. With
the values x_k without each of K blocks, these directions are those in which they scatter (jackknife),

    V = (K - 1) / K sum_k (x_k - x) (x_k - x)',

whatever the estimator, and whether noise or a missing law is the reason. A row A of columns has the variance A V A'.
Where each joint is taken at another time of the recording, it is larger than in recorded postures by what is unseen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tauform.arrays import Array
from tauform.closedform.threads import on_one_thread
from tauform.identification.diagnosis.samples import sampled
from tauform.identification.regression.residuals import Errors
from tauform.identification.regression.rows import RowSource

# Sets of times that joints are taken at, and the share of the recording between one joint's time and the next one's: no
# multiples of the golden ratio come close to each other.
N_DRAWS, GOLDEN = 3, (np.sqrt(5.0) - 1) / 2


def with_elsewhere(errors: Errors, source: RowSource, values: Array, left_out: Sequence[Array]) -> Errors:
    """Errors on held-out blocks with what is expected elsewhere; as they are for loops and thermal friction.

    Args:
        source: of the fitted rows.
        values: of the fit.
        left_out: values without each block.
    """
    design = source.design
    # Joints of a loop do not move one by one, and temperatures belong to their own instants.
    if design.robot.closure is not None or design.is_thermal or len(left_out) < 2:
        return errors
    return replace(errors, elsewhere=_expected(errors, source, values, np.array(left_out)))


@on_one_thread
def _expected(errors: Errors, source: RowSource, values: Array, left_out: Array) -> float:
    s = sampled(source)
    spread = (left_out - left_out.mean(axis=0)) * np.sqrt((len(left_out) - 1) / len(left_out))
    here = _squares(source.design.columns(s.q, s.qd, s.qdd), spread)
    there, torque = np.zeros((2, s.tau.shape[1]))
    for draw in range(N_DRAWS):
        q, qd, qdd = (_apart(x, draw) for x in (s.q, s.qd, s.qdd))
        A = source.design.columns(q, qd, qdd)
        there, torque = there + _squares(A, spread) / N_DRAWS, torque + ((A @ values) ** 2).mean(axis=0) / N_DRAWS
    squares = errors.rms**2 + np.maximum(there - here, 0.0)
    return float(np.sqrt(squares.sum() / max(float(torque.sum()), 1e-300)))


def _squares(A: Array, spread: Array) -> Array:
    """(n,) mean variance of torques of columns (N, n, p) for values that scatter so (K, p)."""
    return np.asarray(((A @ spread.T) ** 2).sum(axis=-1).mean(axis=0))


def _apart(states: Array, draw: int) -> Array:
    """(N, n) states with each joint at a time of its own."""
    n_joints = states.shape[1]
    shares = (np.arange(n_joints) + n_joints * draw + 1) * GOLDEN % 1.0
    shifts = (shares * len(states)).astype(int).tolist()
    return np.column_stack([np.roll(column, shift) for column, shift in zip(states.T, shifts, strict=True)])
