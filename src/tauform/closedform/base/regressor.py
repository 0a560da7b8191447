"""The regressor of base parameters: the columns of the whole regressor that they stand for."""

from __future__ import annotations

from functools import lru_cache

from numpy.typing import ArrayLike

from tauform.arrays import Array
from tauform.closedform.base.baseset import BaseParameters
from tauform.closedform.base.parameters import base_parameters
from tauform.description.robot import Robot
from tauform.rigidbody.regressor import regressor

# Robots whose base parameters are remembered: finding them takes longer than a batch of regressors.
REMEMBERED = 16


@lru_cache(REMEMBERED)
def declared_base(robot: Robot) -> BaseParameters:
    """Base parameters of all that is declared."""
    return base_parameters(robot, include="declared")


def base_columns(robot: Robot) -> list[int]:
    """Columns of the regressor that these stand for."""
    return list(declared_base(robot).pivots)


def base_regressor(
    robot: Robot, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, temperature: ArrayLike | None = None
) -> Array:
    """Regressor Y with tau = Y @ theta, theta = tf.base_parameters(robot, include="declared").values(robot).

    Args:
        q: (..., n) joint positions [rad or m].
        qd: (..., n) joint velocities.
        qdd: (..., n) joint accelerations.
        temperature: (..., n) of the joints [degrees Celsius]; needed where friction depends on it.

    Returns:
        (..., n, l), columns in the order of those base parameters.

    Raises:
        ShapeError: a last dimension differs from robot.n_joints, or a value is not finite.
    """
    return regressor(robot, q, qd, qdd, None, temperature)[..., base_columns(robot)]
