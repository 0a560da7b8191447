"""A fit beside the model that was there before, such as a URDF as shipped."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tauform.arrays import Array
from tauform.description.robot import Robot
from tauform.errors import IdentificationError
from tauform.identification.fitted.model import FittedModel
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
            fit.evidence.residual_squares(values).sum(axis=0), fit.evidence.torque_squares, fit.evidence.n_rows, source
        )
        for values, source in ((before, other.name), (fit.values, "fit"))
    ]
    return Comparison(fit.names, before, fit.values, moved, *errors)
