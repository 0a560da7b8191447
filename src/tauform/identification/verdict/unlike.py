"""Why validation recordings are predicted worse than the fitted ones where the fit is not to blame."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tauform.arrays import Array
from tauform.identification.regression.rows import Rows

if TYPE_CHECKING:
    from tauform.identification.fitted.model import FittedModel

# A joint stands below this many times the speed at which it would without any noise of its sensor.
REST_SPEED_FACTOR = 10.0
# Shares of the time and of the squared error at rest from which on they explain an error.
MIN_TIME_SHARE_AT_REST, MIN_ERROR_SHARE_AT_REST = 0.2, 0.5
# How much further than the fitted motion another one goes where a model is extrapolated.
MIN_EXTRAPOLATION = 1.5


def unlike(fit: FittedModel, rows: Iterable[Rows], rest: Array | None) -> tuple[tuple[str, str], ...]:
    """(what, remedy) of what sets these rows apart from those of the fit, and explains their errors.

    Args:
        rest: (n,) speeds below which joints stand, as in RowSource.
    """
    n = fit.robot.n_joints
    squares, at_rest, times, speeds, torques = np.zeros((5, n))
    count, slow = 0, np.zeros(n) if rest is None else REST_SPEED_FACTOR * rest
    for part in rows:
        # (R, n) squared errors, and which joints stand.
        stands, left = np.abs(part.qd) < slow, (part.tau - part.A @ fit.values) ** 2
        squares, at_rest = squares + left.sum(axis=0), at_rest + (left * stands).sum(axis=0)
        times, count = times + stands.sum(axis=0), count + len(part.t)
        speeds, torques = (np.maximum(x, np.abs(y).max(axis=0)) for x, y in ((speeds, part.qd), (torques, part.tau)))
    standing = _standing(fit.robot.joint_names, squares, at_rest, times / max(1, count))
    # Rest explains an error by itself; extrapolation is asked only then.
    return standing or _further(fit, speeds, torques)


def _standing(names: Sequence[str], squares: Array, at_rest: Array, times: Array) -> tuple[tuple[str, str], ...]:
    """Errors of joints that stand: friction may have any value there."""
    share = float(at_rest.sum() / max(squares.sum(), 1e-300))
    long = [
        j
        for j in range(len(names))
        if times[j] > MIN_TIME_SHARE_AT_REST and at_rest[j] > MIN_ERROR_SHARE_AT_REST * squares[j]
    ]
    if share < MIN_ERROR_SHARE_AT_REST or not long:
        return ()
    which = ", ".join(names[j] for j in long)
    what = (
        f"{100 * share:.0f} % of the squared error on validation recordings is of joints at rest, where friction may "
        f"have any value up to its limit ({which}, up to {100 * times[long].max():.0f} % of the time)"
    )
    return ((what, "validate on motion without long rests (recording.between cuts them out); the fit may be good"),)


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
