"""Why validation recordings are predicted worse than the fitted ones where the fit is not to blame."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from tauform.arrays import Array
from tauform.identification.regression.rows import Rows

if TYPE_CHECKING:
    from tauform.identification.fitted.model import FittedModel

# How much further than the fitted motion another one goes where a model is extrapolated.
MIN_EXTRAPOLATION = 1.5


def unlike(fit: FittedModel, rows: Iterable[Rows]) -> tuple[tuple[str, str], ...]:
    """(what, remedy) of what sets these rows apart from those of the fit, and explains their errors."""
    speeds, torques = np.zeros((2, fit.robot.n_joints))
    for part in rows:
        speeds, torques = (np.maximum(x, np.abs(y).max(axis=0)) for x, y in ((speeds, part.qd), (torques, part.tau)))
    return _further(fit, speeds, torques)


def _further(fit: FittedModel, speeds: Array, torques: Array) -> tuple[tuple[str, str], ...]:
    """Joints that are faster, or carry more, than in the fitted recordings."""
    names, base, layout = fit.robot.joint_names, fit.design.base, fit.robot.layout
    column = {pivot: k for k, pivot in enumerate(base.pivots)}
    said = []
    for j, name in enumerate(names):
        # In closed loops a viscous column is shared by several joints: its peak is no speed.
        viscous = column.get(layout.viscous(j)) if fit.robot.closure is None else None
        peaks = {"torque": (torques[j], fit.evidence.torque_peaks[j])}
        if viscous is not None:
            # The column of Fv is the velocity itself: its peak is the fastest motion that was fitted.
            peaks["speed"] = (speeds[j], fit.evidence.peaks[j, viscous])
        more = {
            kind: there / max(here, 1e-300) for kind, (there, here) in peaks.items() if there > MIN_EXTRAPOLATION * here
        }
        said += [f"{ratio:.2g} times the {kind} of {name}" for kind, ratio in more.items()]
    if not said:
        return ()
    return ((f"validation recordings reach {', '.join(said)}", "fit a recording with such motion too"),)
