"""Friction that changes while a recording lasts, as drives warm up.

What a fit leaves at a joint is compared with friction whose size runs from -1/2 at the beginning to +1/2 at the end:

    e = u(t) (a qd + b sign(qd)),   u(t) = t / T - 1/2.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tauform.arrays import Array
from tauform.identification.diagnosis.suspicion import SPOILS, Suspicion
from tauform.identification.regression.design import Design
from tauform.identification.regression.rows import Rows
from tauform.wording import argument

# Change of a joint's friction worth a word, share of the residuals' squares that it must explain, and of the torque's.
MIN_FRICTION_CHANGE, MIN_EXPLAINED_SHARE, MIN_TORQUE_SHARE = 0.1, 0.3, 2.5e-5


def find_drift(design: Design, values: Array, rows: Iterable[Rows]) -> list[Suspicion]:
    """Joints whose friction rises or falls by more than a tenth of itself in the course of a recording."""
    parts = list(rows)
    friction = _friction_columns(design)
    said = []
    for j, name in enumerate(design.robot.joint_names):
        own = friction.get(j, [])
        if not own:
            continue
        u = np.concatenate([_course(part, parts) for part in parts])
        shape = np.concatenate([part.A[:, j, own] for part in parts])
        left = np.concatenate([part.tau[:, j] - part.A[:, j] @ values for part in parts])
        whole = sum(float((part.tau[:, j] ** 2).sum()) for part in parts)
        known = shape @ values[own]
        moving = u * known
        size = float(moving @ moving)
        if not size > 0:
            continue
        change = float(moving @ left) / size
        explained = change**2 * size
        if abs(change) > MIN_FRICTION_CHANGE and explained > max(
            MIN_EXPLAINED_SHARE * float(left @ left), MIN_TORQUE_SHARE * whole
        ):
            said.append(f"that of {name} {'grows' if change > 0 else 'falls'} by {100 * abs(change):.0f} %")
    if not said:
        return []
    remedy = (
        f"warm the robot up before recording, or record temperatures and take {argument('friction', 'thermal')}; "
        "the fit holds the mean"
    )
    return [Suspicion(f"friction drifts during the recording: {', '.join(said)}", remedy, SPOILS, is_cause=False)]


def _friction_columns(design: Design) -> dict[int, list[int]]:
    """Joint -> columns of its viscous and Coulomb friction."""
    found: dict[int, list[int]] = {}
    for k, own in enumerate(design.base.parameters):
        if own.group in ("viscous", "coulomb") and len(own.joints) == 1:
            found.setdefault(own.joints[0], []).append(k)
    return found


def _course(part: Rows, parts: list[Rows]) -> Array:
    """(N,) from -1/2 at the beginning of a recording to 1/2 at its end."""
    same = [other.t for other in parts if other.recording == part.recording]
    first, last = min(float(t[0]) for t in same), max(float(t[-1]) for t in same)
    return (part.t - first) / max(last - first, 1e-300) - 0.5
