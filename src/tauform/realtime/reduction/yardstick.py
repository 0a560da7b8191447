"""Yardstick: torque errors at sampled states as relative errors of the function that is reduced.

Inverse dynamics err by |dtau| / |tau|. Forward dynamics with a torque that is off by dtau err, to first order, by
|M^-1 dtau| / |qdd|, so light joints count as much as heavy ones there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tauform.arrays import Array
from tauform.closedform.profile import States
from tauform.closedform.reduction.streaming import sizes
from tauform.description.robot import Robot
from tauform.rigidbody.inverse_dynamics import inverse_dynamics
from tauform.rigidbody.mass_matrix import mass_matrix


@dataclass(frozen=True, eq=False)
class Yardstick:
    """States, the exact torques there, and what an error of them is worth.

    Attributes:
        function: "inverse_dynamics" or "forward_dynamics".
        torque: (N, n) exact torques.
        weight: (N, n, n) matrices that turn a torque error into a relative one.
        confidence: share of the states that counts.
        definite: whether mass matrices must stay positive definite.
    """

    robot: Robot
    function: str
    states: States
    torque: Array
    weight: Array
    confidence: float
    definite: bool

    @classmethod
    def at(cls, robot: Robot, function: str, states: States, confidence: float, definite: bool) -> Yardstick:
        """The yardstick of a function at some states."""
        torque = inverse_dynamics(robot, *states)
        result = states[2] if function == "forward_dynamics" else torque
        size = sizes(result)[:, None, None]
        unit = np.broadcast_to(np.eye(robot.n_joints), (len(torque), robot.n_joints, robot.n_joints))
        weight = np.linalg.inv(mass_matrix(robot, states[0])) if function == "forward_dynamics" else unit
        return cls(robot, function, states, torque, weight / size, confidence, definite)

    def weighed(self, torques: Array) -> Array:
        """(N, n, ...) torques, or columns of them, in units of the relative error."""
        listed = torques.reshape(*torques.shape[:2], -1)
        weighed: Array = (self.weight @ listed).reshape(torques.shape)
        return weighed

    def error(self, torque: Array) -> float:
        """Relative error that the share of the states stays below with these torques in place of the exact ones."""
        errors = np.linalg.norm(self.weighed(torque - self.torque), axis=1)
        return float(np.quantile(errors, self.confidence))
