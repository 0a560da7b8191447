"""Torques on the motion that a fit was judged on: measured, predicted, and as the description has them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tauform.arrays import AnyArray, Array
from tauform.fast.torques import inverse_dynamics
from tauform.identification.export.judged import FITTED_ROWS, judged_motion
from tauform.identification.fit import Fit
from tauform.pipeline.motion import reference_temperature


@dataclass(frozen=True, eq=False)
class JudgedTorques:
    """Rows of the verdict, filtered as there.

    Attributes:
        t: (R,) time [s], recordings one after another.
        states: (R, n) q, qd, qdd and, where friction depends on it, temperature; empty for fits that were loaded.
        measured, predicted, described: (R, n) torque [N m or N].
        source: which recordings, in words.
    """

    t: Array
    states: tuple[Array, ...]
    measured: Array
    predicted: Array
    described: Array | None
    source: str

    @property
    def errors(self) -> dict[str, Array]:
        """(n,) RMS error of each joint over its RMS torque, as described and as identified."""
        found = {} if self.described is None else {"as described": self._relative(self.described)}
        return found | {"identified": self._relative(self.predicted)}

    def _relative(self, torque: Array) -> Array:
        rms = np.sqrt((self.measured**2).mean(axis=0))
        # 1e-300 keeps a joint without torque from dividing by zero.
        return np.sqrt(((self.measured - torque) ** 2).mean(axis=0)) / np.maximum(rms, 1e-300)


def judged_torques(fit: Fit) -> JudgedTorques:
    """All rows that the verdict rests on; what the fit itself keeps of them where it was loaded from a file."""
    motion = judged_motion(fit)
    if motion is None:
        # Times of loaded fits count from zero: their rows are what is left of the recordings.
        residuals = fit.residuals
        t = np.arange(len(residuals.t)) / residuals.rate
        return JudgedTorques(t, (), residuals.measured, residuals.predicted, None, FITTED_ROWS)

    def described(q: AnyArray, qd: AnyArray, qdd: AnyArray, *temperature: AnyArray) -> AnyArray:
        # The described robot may have no friction by temperature where the identified one has.
        warm = temperature[0] if temperature and reference_temperature(fit.robot) else None
        return inverse_dynamics(fit.robot, q, qd, qdd, temperature=warm)

    return JudgedTorques(
        motion.times(),
        motion.states(),
        motion.measured,
        motion.rows_of(fit.predict),
        motion.rows_of(described),
        motion.source,
    )
