"""Observation matrices: one row a torque or an energy at a random state, one column a standard parameter.

From the dynamic model, from the velocity-free one (d0: accelerations stay, velocities are zero) and from the energy
model (Gautier1991, Eqs. 6, 9 and 12). The three span the same space.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tauform.arrays import Array
from tauform.description.robot import Robot
from tauform.portable.products import product
from tauform.portable.sampling import uniform
from tauform.rigidbody.energy import energy_regressor
from tauform.rigidbody.regressor import regressor

ROWS_PER_COLUMN = 3
# Velocities that stand for a path between two states, along which friction works.
STATES_PER_PATH = 4


def dynamic_matrix(robot: Robot, columns: Sequence[int], rng: np.random.Generator) -> Array:
    """Torques of each parameter at random positions, velocities and accelerations."""
    q, qd, qdd = random_states(robot, -(-ROWS_PER_COLUMN * len(columns) // robot.n_joints), rng)
    return _rows(regressor(robot, q, qd, qdd), columns)


def velocity_free_matrix(robot: Robot, columns: Sequence[int], rng: np.random.Generator) -> Array:
    """The same at rest; only friction, which is nothing at rest, keeps its velocities."""
    q, qd, qdd = random_states(robot, -(-ROWS_PER_COLUMN * len(columns) // robot.n_joints), rng)
    Y, moving = regressor(robot, q, 0 * qd, qdd), regressor(robot, q, qd, qdd)
    friction = list(robot.layout.friction)
    Y[..., friction] = moving[..., friction]
    return _rows(Y, columns)


def energy_matrix(robot: Robot, columns: Sequence[int], rng: np.random.Generator) -> Array:
    """Differences of energy between random states; friction's columns hold its work on a path between them."""
    n_states = ROWS_PER_COLUMN * len(columns) + 1
    q, qd, _ = random_states(robot, n_states, rng)
    h = energy_regressor(robot, q, qd)
    path = uniform(rng, -2.0, 2.0, (n_states, STATES_PER_PATH, robot.n_joints))
    F = robot.closure.F if robot.closure else np.eye(robot.n_bodies)
    speeds = product(path, F.T)
    viscous, coulomb, offset = (list(robot.layout.columns_of(group)) for group in ("viscous", "coulomb", "offset"))
    h[:, viscous], h[:, coulomb] = (speeds * speeds).mean(axis=1), np.abs(speeds).mean(axis=1)
    h[:, offset] = product(q, F.T)
    difference: Array = h[1:] - h[0]
    return difference[:, list(columns)]


def random_states(robot: Robot, n_states: int, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """(n_states, n_joints) each: any angle, slides within one length, velocities and accelerations within 2."""
    types = {joint.name: joint.type for joint in robot.joints}
    reach = np.array([types[name].generic_range for name in robot.joint_names])
    q = uniform(rng, -1.0, 1.0, (n_states, robot.n_joints)) * reach
    qd, qdd = uniform(rng, -2.0, 2.0, (2, n_states, robot.n_joints))
    return q, qd, qdd


def _rows(Y: Array, columns: Sequence[int]) -> Array:
    return Y.reshape(-1, Y.shape[-1])[:, list(columns)]
