"""Constant torques that are no friction: preloaded springs, cables, offsets of sensors.

Friction of F+ one way and F- the other is Fc sign(qd) + Fo with Fc = (F+ + F-) / 2 and Fo = (F+ - F-) / 2, so that
|Fo| <= Fc whatever the asymmetry. A constant torque beyond that is something else.
"""

from __future__ import annotations

from tauform.description.drives import Smooth
from tauform.identification.fitted.model import FittedModel

# Deviations beyond which it is none by chance, and share of a joint's torque peak from which on it matters.
MIN_DEVIATIONS, MIN_PEAK_SHARE = 3.0, 0.05


def find_preloads(fit: FittedModel) -> list[str]:
    """A sentence for each joint that a constant torque acts at."""
    said = []
    for j, (offset, friction) in preloaded(fit).items():
        joint = fit.robot.joints[j]
        unit = "N m" if joint.type.is_angle else "N"
        said.append(
            f"a constant torque acts at {joint.name}: {fit.names[offset]} is {fit.values[offset]:.3g} {unit}, more "
            f"than friction of {friction:.2g} {unit} can differ by direction; a preloaded spring, a cable, a weight "
            "that never turns, or the zero of the torque sensor"
        )
    return said


def preloaded(fit: FittedModel) -> dict[int, tuple[int, float]]:
    """Joint that a constant torque acts at -> its column, and the friction that it is beyond."""
    if fit.robot.closure is not None:
        return {}
    parameters = fit.design.base.parameters
    own = {(p.group, p.joints): k for k, p in enumerate(parameters) if p.group in ("coulomb", "offset")}
    found = {}
    for j in range(fit.robot.n_joints):
        offset, coulomb = (own.get((group, (j,))) for group in ("offset", "coulomb"))
        if offset is None or coulomb is None:
            continue
        steps = [coulomb, *(fit.design.base.n + k for k, t in enumerate(fit.terms)
                            if isinstance(t, Smooth) and t.joints == (j,))]  # fmt: skip
        value, friction = float(fit.values[offset]), float(fit.values[steps].sum())
        matters = abs(value) > MIN_PEAK_SHARE * fit.evidence.torque_peaks[j]
        sure = abs(value) - MIN_DEVIATIONS * float(fit.deviations[offset]) > max(friction, 0.0)
        if matters and sure:
            found[j] = offset, max(friction, 0.0)
    return found
