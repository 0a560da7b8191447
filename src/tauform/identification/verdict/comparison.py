"""A fit beside the model that was there before, such as a URDF as shipped, and beside fits of single recordings."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tauform.arrays import Array
from tauform.description.robot import Robot
from tauform.errors import IdentificationError
from tauform.identification.fitted.model import FittedModel
from tauform.identification.regression.estimate import least_squares
from tauform.identification.regression.residuals import Errors


@dataclass(frozen=True, eq=False)
class Comparison:
    """Two sets of values for the same columns, and the torque that each leaves unexplained.

    Attributes:
        names: of the values.
        before, after: (p,) values of the other model and of the fit; what the other model does not have is zero.
        moved: (p,) difference in standard deviations of the fit.
        error_before, error_after: on the fitted rows, joint by joint.
    """

    names: tuple[str, ...]
    before: Array
    after: Array
    moved: Array
    error_before: Errors
    error_after: Errors

    @property
    def improvement(self) -> Array:
        """(n,) how many times smaller the fit's residual is at each joint."""
        return self.error_before.rms / np.maximum(self.error_after.rms, 1e-300)


def compared_with(fit: FittedModel, other: Robot | None = None) -> Comparison:
    """Compare a fit with another model of the same robot, by default with the robot it was identified on.

    Raises:
        IdentificationError: the other robot has other joints.
    """
    other = fit.robot if other is None else other
    if other.joint_names != fit.robot.joint_names:
        raise IdentificationError(
            f"compared_with: {other.name} has the joints {', '.join(other.joint_names)}, the fit is of "
            f"{', '.join(fit.robot.joint_names)}"
        )
    # In base parameters: full ones are not unique, so that two models cannot be compared by them.
    before = fit.design.values_of(other)
    # In deviations of the fit: a large change of an unknown value is no news.
    moved = (fit.values - before) / np.maximum(fit.deviations, 1e-300)
    errors = [
        # From the condensed rows: no torque is predicted again.
        Errors.of_squares(
            fit.evidence.residual_squares(values).sum(axis=0),
            fit.evidence.torque_squares,
            fit.evidence.rows_heard,
            source,
        )
        for values, source in ((before, other.name), (fit.values, "fit"))
    ]
    return Comparison(fit.names, before, fit.values, moved, *errors)


# Estimates from each recording on its own, and how they scatter.  [Izaguirre1992, Tables 1 and 2]


@dataclass(frozen=True, eq=False)
class Scatter:
    """Statistics over recordings.

    Attributes:
        names: of the values.
        estimates: (recordings, p), one row per recording.
        condition: (recordings,) of the columns as they are.
    """

    names: tuple[str, ...]
    estimates: Array
    condition: Array

    @property
    def mean(self) -> Array:
        """(p,) average."""
        return self.estimates.mean(axis=0)

    @property
    def std(self) -> Array:
        """(p,) standard deviation."""
        # An estimate of the spread from few recordings: n - 1 of them are free.
        return self.estimates.std(axis=0, ddof=1)

    @property
    def maximum(self) -> Array:
        """(p,) largest."""
        return self.estimates.max(axis=0)

    @property
    def minimum(self) -> Array:
        """(p,) smallest."""
        return self.estimates.min(axis=0)


def per_recording(fit: FittedModel) -> Scatter:
    """Identify each recording on its own with the fit's columns and weights.

    Raises:
        IdentificationError: there is only one recording, or one alone leaves values open.
    """
    recordings = sorted(set(fit.evidence.recordings))
    if len(recordings) < 2:
        raise IdentificationError("per_recording: there is only one recording; give several to identify")
    estimates, conditions = [], []
    for recording in recordings:
        # Blocks know their recording: no row is evaluated again.
        blocks = [k for k, r in enumerate(fit.evidence.recordings) if r == recording]
        try:
            # The weights of the whole fit, so that only the data differ.
            found = least_squares(fit.evidence.blocks(blocks), sigma=fit.sigma)
        except IdentificationError:
            raise IdentificationError(
                f"recording {recording + 1} alone does not show every value; fit.reduced() may leave what it shows"
            ) from None
        estimates.append(found.values)
        conditions.append(found.raw_condition)
    return Scatter(fit.names, np.array(estimates), np.array(conditions))
