"""Plausible: whether a recording is one of this robot in the units that were stated, judged by the fleet's own model.

Faults change torques by parts of them. A unit of measurement that changed in the middle of a data set (N mm for N m,
degrees for radians) changes them tenfold and more, and would pass for a payload of tons; another robot fits nowhere.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from tauform.arrays import Array

# Torques that differ from the predicted ones by more than this factor are no fault of a robot.
MAX_TORQUE_FACTOR = 10.0
# Correlation of measured and predicted torque above which they differ by a factor alone.
MIN_CORRELATION = 0.8
# Share of a joint's torque that the model of its robot explains at least, and share of joints that it must not fail at.
MAX_UNEXPLAINED, MAX_STRANGE_JOINTS = 0.7, 2 / 3
# What the model itself does not know of a motion, in standard deviations.
MAX_UNKNOWN = 3.0


def implausible(measured: Array, predicted: Array, unknown: Array, names: Sequence[str]) -> str:
    """Why a recording cannot be one of this robot in the units that were stated; empty where it can.

    Args:
        measured: (n, rows) torques.
        predicted: (n, n, rows) at the rows of joint j: the torque that the pooled values predict for joint k.
        unknown: (n,) standard deviation of what they predict, square root of its sum over the rows.
        names: of the joints.
    """
    own = np.array([predicted[j, j] for j in range(len(measured))])
    m, y = np.linalg.norm(own, axis=1), np.linalg.norm(measured, axis=1)
    alike = (own * measured).sum(axis=1) / np.maximum(m * y, 1e-300)
    factor = y / np.maximum(m, 1e-300)
    # All joints together: a logger that changes its unit changes all of them; one joint alone may have lost its drive.
    typical = float(np.median(factor))
    if float(np.median(alike)) > MIN_CORRELATION and not 1 / MAX_TORQUE_FACTOR < typical < MAX_TORQUE_FACTOR:
        return (
            f"measured torques are {typical:.3g} times what the fleet's model predicts for this motion, so their unit "
            "changed, or another robot made the log; convert it, or put such logs into a data set of their own"
        )
    worst = int(np.argmin(np.where(y > 0, factor, np.inf)))
    if y[worst] > 0 and factor[worst] < 1 / MAX_TORQUE_FACTOR and alike[worst] < MIN_CORRELATION:
        return (
            f"the motion of {names[worst]} would take {1 / factor[worst]:.3g} times the torque that was measured, so "
            "its positions or the time are in another unit, or another robot made the log; convert it, or leave it out"
        )
    left = _unexplained(np.linalg.norm(measured[:, None] - predicted, axis=2))
    strange = (left > MAX_UNEXPLAINED * y) & (left > MAX_UNKNOWN * unknown)
    # All joints that measure anything together: worse than no model at all.
    heard = factor > 1 / MAX_TORQUE_FACTOR
    off, known = float(np.linalg.norm(left[heard])), float(np.linalg.norm(unknown[heard]))
    of_all = off / max(float(np.linalg.norm(y[heard])), 1e-300)
    if strange.mean() > MAX_STRANGE_JOINTS or (of_all > 1 and off > MAX_UNKNOWN * known):
        return (
            f"what the fleet's model predicts for this motion is off by {100 * of_all:.0f} % of the torques, so "
            "another robot made the log; put it into a data set of its own"
        )
    return ""


def _unexplained(off: Array) -> Array:
    """(n,) what is left of each joint's torque, two of them exchanged where that leaves less: a fault that is named.

    Args:
        off: (n, n) distance of the torque of joint j from the one that is predicted for joint k.
    """
    orders = [np.arange(len(off))]
    for i, k in itertools.combinations(range(len(off)), 2):
        order = np.arange(len(off))
        order[[i, k]] = k, i
        orders.append(order)
    return min((off[np.arange(len(off)), order] for order in orders), key=lambda left: float(left @ left))
