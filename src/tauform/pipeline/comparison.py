"""Base parameters and closed forms against Newton-Euler, in every parameter and not only in this robot's values.

Torques are linear in the parameters, so random values show a wrong number in any column; the robot's own would hide it
where they are zero, and a model is saved to be bound to other values.
"""

from __future__ import annotations

import numpy as np

from tauform.arrays import Array
from tauform.closedform.base.baseset import BaseParameters
from tauform.closedform.expansion.dimensionless import parameter_factors, units
from tauform.closedform.model.model import ClosedFormModel
from tauform.codegen.certificate import EXACT_MODEL, REPORT_IT, relative_error, within
from tauform.description.robot import Robot
from tauform.rigidbody.regressor import regressor

N_STATES = 200
# At which friction that depends on it is not zero [degrees Celsius].
TEMPERATURE = 37.0


def base_error(robot: Robot, base: BaseParameters) -> float:
    """Largest difference that regrouping makes, relative to the largest torque of that joint.

    Raises:
        VerificationError: it is more than rounding.
    """
    states, parameters = _states(robot), _values(robot, base)
    Y = _regressor(robot, states)
    # Y pi = Y[pivots] (grouping pi) for every pi: the definition of base parameters.  [Gautier1991]
    found = Y[..., list(base.pivots)] @ (base.grouping @ parameters)
    return _checked(robot, "base parameters", found, Y @ parameters)


def closed_form_error(robot: Robot, model: ClosedFormModel) -> float:
    """Largest difference of a closed form's torques from Newton-Euler, relative to the largest of that joint.

    Parameters that the model leaves out, or assumes to be zero, are left out of the comparison.

    Raises:
        VerificationError: it is more than rounding.
    """
    states, parameters = _states(robot), _values(robot, model.base)
    expected = _regressor(robot, states) @ parameters
    found = model.bind(model.base.grouping @ parameters).textbook.inverse_dynamics(*states)
    return _checked(robot, "closed form", found, expected)


def _regressor(robot: Robot, states: Array) -> Array:
    q, qd, qdd = states
    return regressor(robot, q, qd, qdd, temperature=np.full(robot.n_joints, TEMPERATURE))


def _states(robot: Robot) -> Array:
    return np.random.default_rng(0).uniform(-np.pi, np.pi, (3, N_STATES, robot.n_joints))


def _values(robot: Robot, base: BaseParameters) -> Array:
    """(14 n_bodies,) random values of the parameters that take part, of the same size without units."""
    values = np.zeros(len(robot.parameters))
    columns = list(base.columns)
    values[columns] = np.random.default_rng(1).uniform(0.5, 1.5, len(columns))
    # Units of the robot's size: without them a small robot's inertias would vanish beside its masses.
    return values / parameter_factors(robot, *units(robot))


def _checked(robot: Robot, what: str, found: Array, expected: Array) -> float:
    error = relative_error(found, expected)
    within(error, EXACT_MODEL, f"the {what} of {robot.name}", REPORT_IT)
    return error
