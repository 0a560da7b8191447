"""All coefficients of the dynamics of a chain, by one sweep from base to tip.

Every entry of the mass matrix is a product of one matrix per joint,

    D_xy = S_x^T X_{x+1}(q) ... X_y(q) A_y T_{y+1}(q) ... T_k(q) phi_k        (x <= y <= k, summed over links k)

with X moving wrenches, T moving the ten inertial parameters phi_k of link k, and A_y the wrench of a body whose
joint y accelerates. Each factor is a short sum of functions of one joint (basis.py), so the coefficients on the
whole tensor product of functions follow joint by joint, by multiplying rows with the matrix of each function and
keeping the rows that are not zero. The work is proportional to the result; nothing is sampled or solved.

Potential energy is the row (0, -g) moved the same way. Velocity torques are Christoffel symbols: derivatives act on
one factor, and for x < y < z only two of them are needed,

    E1 = d D_xz / d q_y (a wrench factor),  E2 = d D_xy / d q_z (an inertia factor):
    tau_x has (E1 + E2) qd_y qd_z,  tau_y has (E2 - E1) qd_x qd_z,  tau_z has (E1 - E2) qd_x qd_y.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from tauform.arrays import Array
from tauform.closedform.expansion.basis import JointMatrices, joint_matrices
from tauform.closedform.expansion.rows import CoefficientRows, Keys, aligned
from tauform.description.joint_types import JointType
from tauform.description.joint_types.functions import N_DIGITS
from tauform.description.robot import Robot
from tauform.messages import Reached

# What a row stands for; x, y, z are joints in ascending order (or equal, where two are needed).
INERTIA, POTENTIAL, GRAVITY, CENTRIFUGAL, COUPLED, SUM, DIFFERENCE, VISCOUS, COULOMB = range(9)
#   INERTIA     D_xy                 CENTRIFUGAL  d D_xz / d q_z   (z = y)
#   GRAVITY     d U / d q_z          COUPLED      d D_xx / d q_z   (y = x)
#   SUM         E1 + E2              DIFFERENCE   E2 - E1
N_KINDS = 9


@dataclass(frozen=True)
class KeyLayout:
    """A key is kind, x, y, z and the monomial, as digits of one integer; the first joint's digit weighs most."""

    n: int

    @property
    def n_monomials(self) -> int:
        return N_DIGITS**self.n

    def step(self, joint: int) -> int:
        """Weight of a joint's digit in the monomial."""
        return int(N_DIGITS ** (self.n - 1 - joint))

    def key(self, kind: int, x: int = 0, y: int = 0, z: int = 0) -> int:
        """Key of the monomial 1."""
        return (((kind * self.n + x) * self.n + y) * self.n + z) * self.n_monomials

    def parts(self, keys: Keys) -> tuple[Keys, Keys, Keys, Keys, Keys]:
        """kind, x, y, z, monomial."""
        meaning, monomial = np.divmod(keys, self.n_monomials)
        meaning, z = np.divmod(meaning, self.n)
        meaning, y = np.divmod(meaning, self.n)
        kind, x = np.divmod(meaning, self.n)
        return kind, x, y, z, monomial


@dataclass(frozen=True, eq=False)
class LinkCoefficients:
    """Coefficients at one link: rows over its ten parameters, and rows over wrenches on it.

    Attributes:
        energies: INERTIA and POTENTIAL, still to be differentiated by later joints.
        torques: all other kinds.
        forces: (6) S_x^T X ... X, keyed INERTIA x, and with one factor differentiated, keyed SUM x y.
    """

    energies: CoefficientRows
    torques: CoefficientRows
    forces: CoefficientRows


def sweep(robot: Robot, fixed: dict[int, float], progress: Reached | None = None) -> Iterator[CoefficientRows]:
    """Rows over the ten parameters of link 0, 1, ...: INERTIA and torque kinds, all monomials."""
    layout = KeyLayout(robot.n_bodies)
    # U = -g . h: a row over the link's first moments.
    potential = np.concatenate([[0.0], -_without_noise(robot.gravity), np.zeros(6)])
    level = LinkCoefficients(
        CoefficientRows.one(layout.key(POTENTIAL), potential).where(slice(0, int(potential.any()))),
        CoefficientRows.empty(10),
        CoefficientRows.empty(6),
    )
    # A link's rows grow from those of its parent, so branches share what lies before them.
    levels = {-1: level}
    for z, joint in enumerate(joint_matrices(robot, fixed)):
        level = levels[z] = _next_level(layout, levels[robot.joints[z].parent], z, joint, robot.joints[z].type)
        kinds = layout.parts(level.energies.keys)[0]
        yield CoefficientRows.joined(level.energies.where(kinds == INERTIA), level.torques)
        if progress:
            progress(N_DIGITS ** (z + 1 - layout.n))


def _next_level(
    layout: KeyLayout, level: LinkCoefficients, z: int, joint: JointMatrices, own_type: JointType
) -> LinkCoefficients:
    step = layout.step(z)
    # S_z, where a new x begins: the row of a wrench that joint z feels.
    own = CoefficientRows.one(layout.key(INERTIA, z), own_type.moved(np.zeros(6), 1.0))
    whole = layout.parts(level.forces.keys)[0] == INERTIA
    slopes = level.forces.where(whole).times(joint.wrench_rate, step)
    # d/dq_z of a wrench factor: remember z in the place of y
    slopes = slopes.with_keys(slopes.keys + layout.key(SUM) - layout.key(INERTIA) + layout.key(0, 0, z))
    forces = CoefficientRows.joined(level.forces.times(joint.wrench, step), slopes, own)

    # Joint z is the new y of D_xy: every wrench row meets the momentum of a link that accelerates there.
    bodies = forces.times(joint.momentum[None], 0)
    kind, x, y, _, monomial = layout.parts(bodies.keys)
    inertia, E1 = bodies.where(kind == INERTIA), bodies.where(kind == SUM)
    inertia = inertia.with_keys(_keys(layout, INERTIA, x, z, 0, monomial)[kind == INERTIA])
    E1 = E1.with_keys(_keys(layout, SUM, x, y, z, monomial)[kind == SUM])

    # d/dq_z of inertia and potential: this joint's factor differentiated, all others as they are.
    rates = level.energies.times(joint.ten_rate, step)
    return LinkCoefficients(
        energies=CoefficientRows.joined(level.energies.times(joint.ten, step), inertia),
        torques=CoefficientRows.joined(level.torques.times(joint.ten, step), *_new_torques(layout, E1, rates, z)),
        forces=forces,
    )


def _new_torques(layout: KeyLayout, E1: CoefficientRows, rates: CoefficientRows, z: int) -> list[CoefficientRows]:
    """Torques that joint z brings: gravity on it, and products of velocities with z as the last joint."""
    kind, x, y, _, monomial = layout.parts(rates.keys)
    # Which derivative becomes which torque, by the kind of what was differentiated.
    gravity, diagonal = kind == POTENTIAL, (kind == INERTIA) & (x == y)
    triple = (kind == INERTIA) & (x < y)
    own = layout.parts(E1.keys)[2] == z
    _, x1, y1, _, monomial1 = layout.parts(E1.keys)
    new = [
        rates.where(gravity).with_keys(_keys(layout, GRAVITY, 0 * x, 0 * y, z, monomial)[gravity]),
        rates.where(diagonal).with_keys(_keys(layout, COUPLED, x, y, z, monomial)[diagonal]),
        E1.where(own).with_keys(_keys(layout, CENTRIFUGAL, x1, y1, z, monomial1)[own]),
    ]
    E2 = rates.where(triple).with_keys(_keys(layout, SUM, x, y, z, monomial)[triple])
    a, b = aligned(E1.where(~own), E2)
    # Sizes are summed, not compared, so that a difference of large numbers counts as rounding in both rows.
    sizes = a.sizes + b.sizes
    to_difference = layout.key(DIFFERENCE) - layout.key(SUM)
    new.append(CoefficientRows(a.keys, b.values + a.values, sizes).cleaned())
    new.append(CoefficientRows(a.keys + to_difference, b.values - a.values, sizes).cleaned())
    return new


def _keys(layout: KeyLayout, kind: int, x: Keys, y: Keys | int, z: int, monomial: Keys) -> Keys:
    return ((((kind * layout.n + x) * layout.n + y) * layout.n) + z) * layout.n_monomials + monomial


def _without_noise(gravity: Array) -> Array:
    clean = np.array(gravity)
    clean[np.abs(clean) <= 4 * np.finfo(float).eps * np.abs(clean).max(initial=0.0)] = 0.0
    return clean
