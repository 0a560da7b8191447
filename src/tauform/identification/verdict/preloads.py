"""Constant torques that are no friction: preloaded springs, cables, offsets of sensors.

Friction of F+ one way and F- the other is Fc sign(qd) + Fo with Fc = (F+ + F-) / 2 and Fo = (F+ - F-) / 2, so that
|Fo| <= Fc whatever the asymmetry. A constant torque beyond that is something else.
"""

from __future__ import annotations

from tauform.description.drives import Drive, Smooth, Stiffness
from tauform.identification.fitted.model import FittedModel

# Deviations beyond which it is none by chance, and share of a joint's torque peak from which on it matters.
MIN_DEVIATIONS, MIN_PEAK_SHARE = 3.0, 0.05


def find_preloads(fit: FittedModel) -> list[str]:
    """A sentence for each joint that a constant torque acts at."""
    said = []
    for j, (offset, friction) in preloaded(fit).items():
        joint, value = fit.robot.joints[j], float(fit.values[offset])
        force, position = ("N m", "rad") if joint.type.is_angle else ("N", "m")
        figure = (
            f"{fit.names[offset]} is {value:.3g} {force}, more than friction of {friction:.2g} {force} can differ by "
            "direction"
        )
        spring = _only_spring(fit, j)
        if spring is None:
            said.append(
                f"a constant torque acts at {joint.name}: {figure}; a preloaded spring, a cable, a weight that never "
                "turns, or the zero of the torque sensor"
            )
            continue
        # K (q - rest) + Fo = 0
        slack = spring[0].rest - value / spring[1]
        name = spring[0].name
        said.append(
            f"the spring of {joint.name} is preloaded: {figure}; with {name} it is slack at {slack:.3g} {position}"
        )
    return said


def _only_spring(fit: FittedModel, joint: int) -> tuple[Stiffness, float] | None:
    """A joint's spring and its stiffness; beside another pull its own zero would mean nothing."""
    pulls = [
        (term, float(fit.values[k]))
        for k, term in enumerate(fit.terms, fit.design.base.n)
        if isinstance(term, Drive) and term.joints == (joint,) and "q" in term.reads
    ]
    term, stiffness = pulls[0] if len(pulls) == 1 else (None, 0.0)
    return (term, stiffness) if isinstance(term, Stiffness) and stiffness else None


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
