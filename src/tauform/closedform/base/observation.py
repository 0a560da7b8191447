"""Observation matrices: one row per torque or energy at a random state, one column per standard parameter.

From the dynamic model, from the velocity-free one (d0: accelerations stay, velocities are zero) and from the energy
model (Gautier1991, Eqs. 6, 9 and 12). The three span the same space.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tauform.arrays import Array
from tauform.description.robot import GeneralClosure, Robot
from tauform.portable.sampling import uniform
from tauform.rigidbody.energy import energy_regressor
from tauform.rigidbody.load import has_load
from tauform.rigidbody.regressor import regressor
from tauform.rigidbody.sweeps.evaluation import tree_motion

# More rows than columns: random states may be nearly dependent by chance.
ROWS_PER_COLUMN = 3
# Velocities that stand for a path between two states, along which friction works.
STATES_PER_PATH = 4
# Of joints whose friction depends on it [degrees Celsius].
TEMPERATURES = (0.0, 60.0)


def dynamic_matrix(robot: Robot, columns: Sequence[int], rng: np.random.Generator) -> Array:
    """Torques of each parameter at random positions, velocities and accelerations."""
    observed = _observed(robot, columns, rng)
    return _rows(observed.regressor(observed.qd), columns)


def velocity_free_matrix(robot: Robot, columns: Sequence[int], rng: np.random.Generator) -> Array:
    """The same at rest; only friction, which is nothing at rest, keeps its velocities."""
    observed = _observed(robot, columns, rng)
    # Velocity terms are derivatives of inertial ones: without them the same parameters stay apart.
    Y, moving = observed.regressor(0 * observed.qd), observed.regressor(observed.qd)
    friction = list(robot.layout.friction)
    Y[..., friction] = moving[..., friction]
    return _rows(Y, columns)


def energy_matrix(robot: Robot, columns: Sequence[int], rng: np.random.Generator) -> Array:
    """Differences of energy between random states; friction's columns hold its work on a path between them."""
    n_states = ROWS_PER_COLUMN * len(columns) + 1
    q, qd, _ = random_states(robot, n_states, rng)
    h = energy_regressor(robot, q, qd)
    path = uniform(rng, -2.0, 2.0, (n_states, STATES_PER_PATH, robot.n_joints))
    # Energy of friction does not exist: its work along a path takes its place, linear in the same coefficients.
    losing = _losing_columns(robot)
    h[:, losing] = _work(robot, columns, q, path, rng)[:, losing]
    h[:, list(robot.layout.columns_of("offset"))] = tree_motion(robot, {"q": q.T}).vectors["q"].T
    # A difference of two energies, as between two instants of a motion: the zero of potential energy drops out.
    difference: Array = h[1:] - h[0]
    return difference[:, list(columns)]


@dataclass(frozen=True, eq=False)
class _Observed:
    """States at which a robot is observed: (N, n_joints) each, temperatures where friction depends on them."""

    robot: Robot
    q: Array
    qd: Array
    qdd: Array
    temperature: Array | None

    def regressor(self, qd: Array) -> Array:
        return regressor(self.robot, self.q, qd, self.qdd, temperature=self.temperature)


def _observed(robot: Robot, columns: Sequence[int], rng: np.random.Generator) -> _Observed:
    # Rounded up: at least so many rows.
    q, qd, qdd = random_states(robot, -(-ROWS_PER_COLUMN * len(columns) // robot.n_joints), rng)
    return _of_states(robot, columns, q, qd, qdd, rng)


def _of_states(
    robot: Robot, columns: Sequence[int], q: Array, qd: Array, qdd: Array, rng: np.random.Generator
) -> _Observed:
    """The states, with velocities at which friction bends and links of their own where it depends on load."""
    if has_load(robot.tree):
        # What joints carry depends on values; the base parameters do not.
        robot = robot.with_parameters(uniform(rng, 0.5, 1.5, (robot.layout.n,)))
    temperature = uniform(rng, *TEMPERATURES, qd.shape) if robot.needs_temperature else None
    return _Observed(robot, q, qd * _paces(robot, columns, len(qd)), qdd, temperature)


def _paces(robot: Robot, columns: Sequence[int], n_states: int) -> Array:
    """(n_states, 1) factors of velocity: widths over which friction changes, beside one."""
    drives = zip(range(robot.layout.n)[robot.layout.drives], robot.drives, strict=True)
    # A smooth step looks like its sign at speed and like viscous friction at rest: only near its width is it itself.
    widths = {float(term.constants.get("width", 0.0)) for column, term in drives if column in set(columns)}
    return np.resize([1.0, *sorted(widths - {0.0})], n_states)[:, None]


def _losing_columns(robot: Robot) -> list[int]:
    """Columns of drive terms that neither store energy nor are constant."""
    terms = zip(range(robot.layout.n)[robot.layout.drives], robot.drives, strict=True)
    return [column for column, term in terms if not (term.is_inertial or term.is_conservative or not term.reads)]


def _work(robot: Robot, columns: Sequence[int], q: Array, path: Array, rng: np.random.Generator) -> Array:
    """(n_states, n_parameters) mean power on each path."""
    n_states, n_steps = path.shape[:2]
    # Position stays at the state; only velocities vary along its path.
    along = np.repeat(q, n_steps, axis=0)
    velocities = path.reshape(n_states * n_steps, -1)
    # Any accelerations will do: only columns of friction are read.
    observed = _of_states(robot, columns, along, velocities, velocities, rng)
    power = (observed.regressor(observed.qd) * observed.qd[..., None]).sum(axis=1)
    return power.reshape(n_states, n_steps, -1).mean(axis=1)


def random_states(robot: Robot, n_states: int, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """(n_states, n_joints) each: any angle, slides within one length, velocities and accelerations within 2."""
    types = {joint.name: joint.type for joint in robot.joints}
    reach = np.array([types[name].generic_range for name in robot.joint_names])
    # Evenly spread: rank needs states in general position, not likely ones.
    q = reachable(robot, uniform(rng, -1.0, 1.0, (n_states, robot.n_joints)) * reach)
    qd, qdd = uniform(rng, -2.0, 2.0, (2, n_states, robot.n_joints))
    return q, qd, qdd


def reachable(robot: Robot, q: Array) -> Array:
    """Random positions (..., n), folded to where general loops close."""
    return robot.closure.inside(q) if isinstance(robot.closure, GeneralClosure) else q


def _rows(Y: Array, columns: Sequence[int]) -> Array:
    return Y.reshape(-1, Y.shape[-1])[:, list(columns)]
