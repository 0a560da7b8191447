"""A fit's robot with plain friction, Fv qd + Fc sign(qd) + Fo, for formats that hold no other, and what that costs."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tauform.description.robot import Robot
from tauform.errors import IdentificationError
from tauform.identification.fitted.model import FittedModel
from tauform.identification.regression.design import Design
from tauform.identification.regression.evidence import gather
from tauform.identification.regression.residuals import VALIDATION
from tauform.identification.regression.rows import RowSource
from tauform.identification.verdict.validate import residuals_of

# Where a robot is judged that takes the place of a fit, unless there are validation recordings.
FITTED = "the fitted rows"


@dataclass(frozen=True)
class Loss:
    """Errors on the same rows, of a fit and of what takes its place.

    Attributes:
        fit, other: RMS error over RMS torque.
        rows: which rows, in words.
    """

    fit: float
    other: float
    rows: str

    @property
    def points(self) -> float:
        """Loss of the other one, in per cent of the torque."""
        return 100 * (self.other - self.fit)

    def __str__(self) -> str:
        return f"{round(self.points, 2) + 0.0:.2f} %"  # rounding may leave a negative zero


def robot_with_plain_friction(fit: FittedModel) -> Robot:
    """Links and rotors as they are in the fit, with Fv, Fc and Fo that suit its recordings best.

    Raises:
        IdentificationError: the fit holds other friction, springs or couplings, and was loaded without its recordings.
    """
    from scipy.optimize import lsq_linear

    if fit.has_plain_friction:
        return fit.rigid_robot
    if fit.source is None:
        raise IdentificationError(
            f"the fit of {fit.robot.name} holds friction or couplings that need its recordings to become Fv and "
            "Fc; identify again, or use fit.write_code, which writes all terms"
        )
    # Widths of zero: sharp steps, the only Coulomb friction that such formats know.
    plain = Design.of(fit.design.robot).with_widths([0.0] * fit.robot.n_bodies)
    robot = plain.robot.with_parameters(fit.rigid_robot.parameters)
    source = replace(fit.source, design=plain)
    parameters = np.array(robot.parameters)
    # Links and rotors stay: only what they leave unexplained is friction.
    parameters[list(robot.layout.friction)] = 0.0
    stack = gather(source, source).stacked(fit.weights if fit.weights is not None else 1.0 / fit.sigma)
    # (rows,) weighted torques that the links do not explain.
    left = stack[:, -1] - stack[:, :-1] @ plain.base.values(parameters)
    columns = [k for k, pivot in enumerate(plain.base.pivots) if pivot in robot.layout.friction]
    pivots = [plain.base.pivots[k] for k in columns]
    # Unit columns: Fv and Fc are of different units and sizes.
    size = np.linalg.norm(stack[:, columns], axis=0)
    size = np.where(size > 0, size, 1.0)
    # Fv and Fc dissipate: a negative one would feed a simulation with energy; Fo has either sign.
    least = [-np.inf if pivot in robot.layout.signed else 0.0 for pivot in pivots]
    found = lsq_linear(stack[:, columns] / size, left, (least, np.inf), method="bvls").x / size
    parameters[pivots] = found
    return robot.with_parameters(parameters)


def loss_of(fit: FittedModel, robot: Robot) -> Loss:
    """Loss where a robot's torque, its friction sharp, takes the place of a fit's prediction."""
    if fit.others is not None and fit.validation is not None:
        return Loss(fit.validation.total, _error(fit.others, robot), VALIDATION)
    if fit.source is not None:
        return Loss(fit.residuals.total, _error(fit.source, robot), FITTED)
    # A fit that was loaded has no rows, and where there is something to write it holds plain friction alone.
    before, after = (
        np.sqrt(fit.evidence.residual_squares(values).sum() / max(float(fit.evidence.torque_squares.sum()), 1e-300))
        for values in (fit.values, fit.base.values(robot))
    )
    return Loss(float(before), float(after), FITTED)


def _error(source: RowSource, robot: Robot) -> float:
    plain = Design.of(robot)
    # Sharp friction, as the robot has it now: the design of the fit may smooth it.
    rows = replace(source, design=plain)
    residuals = residuals_of(plain.base.values(robot), rows, source.segments[0].rate)
    return residuals.total
