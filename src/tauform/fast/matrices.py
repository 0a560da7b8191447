"""Mass and Coriolis matrices, regressors, energies."""

from __future__ import annotations

from numpy.typing import ArrayLike

from tauform.arrays import Array
from tauform.closedform.base import regressor as base
from tauform.description.parameter_groups import Include
from tauform.description.robot import Robot
from tauform.fast.dispatch import Tiered
from tauform.fast.tier import Tier
from tauform.rigidbody import coriolis, energy
from tauform.rigidbody import regressor as whole
from tauform.rigidbody.energy import Energy
from tauform.rigidbody.inertia import mass_matrix as inertia
from tauform.rigidbody.inertia.mass_matrix import MassMatrixMethod


def _scalar(values: Array) -> Array:
    """Energies: kernels write arrays of one entry."""
    return values.reshape(values.shape[:-1])


_MASS = Tiered(inertia.mass_matrix)
_CORIOLIS = Tiered(coriolis.coriolis_matrix)
# `tf.compile` makes none with these columns, or of this name: nothing to adopt.
_REGRESSOR = Tiered(whole.regressor, adopts=False)
_SLOTINE_LI = Tiered(whole.slotine_li_regressor, adopts=False)
_BASE = Tiered(base.base_regressor)
_KINETIC = Tiered(energy.kinetic_energy, result=_scalar, adopts=False)
_POTENTIAL = Tiered(energy.potential_energy, result=_scalar, adopts=False)
_ENERGY = Tiered(energy.energy_regressor, adopts=False)


@_MASS.public
def mass_matrix(robot: Robot, q: ArrayLike, method: MassMatrixMethod = "auto", *, tier: Tier | None = None) -> Array:
    """Mass matrix M(q), rotor inertia included."""
    # "auto" is the textbook's own default; a named method asks for that algorithm itself.
    return _MASS(robot, {"q": q}, {"method": None if method == "auto" else method}, tier)


@_CORIOLIS.public
def coriolis_matrix(robot: Robot, q: ArrayLike, qd: ArrayLike, *, tier: Tier | None = None) -> Array:
    """Coriolis matrix C(q, qd) of Christoffel symbols: C qd are the velocity torques, Mdot - 2C is skew."""
    return _CORIOLIS(robot, {"q": q, "qd": qd}, {}, tier)


@_REGRESSOR.public
def regressor(
    robot: Robot,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    include: Include | None = None,
    temperature: ArrayLike | None = None,
    *,
    tier: Tier | None = None,
) -> Array:
    """Regressor Y with tau = Y @ robot.parameters, all drive terms included.  [Gautier1991, Eq. 5]"""
    options = {"include": include, "temperature": temperature}
    return _REGRESSOR(robot, {"q": q, "qd": qd, "qdd": qdd}, options, tier)


@_SLOTINE_LI.public
def slotine_li_regressor(
    robot: Robot,
    q: ArrayLike,
    qd: ArrayLike,
    qd_r: ArrayLike,
    qdd_r: ArrayLike,
    include: Include | None = None,
    temperature: ArrayLike | None = None,
    *,
    tier: Tier | None = None,
) -> Array:
    """Regressor with reference velocities: Y_r @ parameters = M qdd_r + C(q, qd) qd_r + g + friction."""
    states = {"q": q, "qd": qd, "qd_r": qd_r, "qdd_r": qdd_r}
    return _SLOTINE_LI(robot, states, {"include": include, "temperature": temperature}, tier)


@_BASE.public
def base_regressor(
    robot: Robot,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    temperature: ArrayLike | None = None,
    *,
    tier: Tier | None = None,
) -> Array:
    """Regressor Y with tau = Y @ theta, theta = tf.base_parameters(robot, include="declared").values(robot)."""
    return _BASE(robot, {"q": q, "qd": qd, "qdd": qdd}, {"temperature": temperature}, tier)


@_KINETIC.public
def kinetic_energy(robot: Robot, q: ArrayLike, qd: ArrayLike, *, tier: Tier | None = None) -> Array:
    """Kinetic energy qd^T M(q) qd / 2 of links, rotors and coupled rotors [J]."""
    return _KINETIC(robot, {"q": q, "qd": qd}, {}, tier)


@_POTENTIAL.public
def potential_energy(robot: Robot, q: ArrayLike, drives: bool = True, *, tier: Tier | None = None) -> Array:
    """Potential energy of gravity and springs [J]; gravity's is zero where all mass sits in the origin of the base."""
    return _POTENTIAL(robot, {"q": q}, {"drives": drives}, tier)


@_ENERGY.public
def energy_regressor(
    robot: Robot, q: ArrayLike, qd: ArrayLike, energy: Energy = "total", *, tier: Tier | None = None
) -> Array:
    """Row h with energy = h @ robot.parameters.  [Gautier1991, Eq. 10-12]"""
    return _ENERGY(robot, {"q": q, "qd": qd}, {"energy": energy}, tier)
