"""Plausible: whether a recording is one of this robot in the units that were stated, judged by the fleet's own model.

Faults change torques by parts of them; a unit that changed in the middle of a data set (N mm for N m, degrees for
radians) changes them tenfold and more, and would pass for a payload of tons.
"""

from __future__ import annotations

import numpy as np

from tauform.fleet.condensed import Plan
from tauform.identification.regression.evidence import Evidence

# Torques that differ from the predicted ones by more than this factor are no fault of a robot.
MAX_FACTOR = 10.0
# Correlation of measured and predicted torque above which they differ by a factor alone.
MIN_CORRELATION = 0.8


def implausible(evidence: Evidence, plan: Plan) -> str:
    """Why a recording cannot be what the data set says; empty where it can."""
    # m = A x of the pooled values, y measured; R holds the same squares and products as all rows.
    R = evidence.triangles[0]
    predicted, measured = R[:, :, : len(plan.values)] @ plan.values, R[:, :, -1]
    m, y = np.linalg.norm(predicted, axis=1), np.linalg.norm(measured, axis=1)
    alike = (predicted * measured).sum(axis=1) / np.maximum(m * y, 1e-300)
    factor = y / np.maximum(m, 1e-300)
    # All joints together: a logger that changes its unit changes all of them; one joint alone may have lost its drive.
    typical = float(np.median(factor))
    if float(np.median(alike)) > MIN_CORRELATION and not 1 / MAX_FACTOR < typical < MAX_FACTOR:
        return (
            f"measured torques are {typical:.3g} times what the fleet's model predicts for this motion, so their unit "
            "changed; convert this log, or put such logs into a data set with gains of their own"
        )
    worst = int(np.argmin(np.where(y > 0, factor, np.inf)))
    if y[worst] > 0 and factor[worst] < 1 / MAX_FACTOR and alike[worst] < MIN_CORRELATION:
        return (
            f"the motion of {plan.robot.joint_names[worst]} would take {1 / factor[worst]:.3g} times the torque that "
            "was measured, so its positions or the time are in another unit, or another robot made the log; convert it"
        )
    return ""
