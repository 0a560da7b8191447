"""Terms: the products of generators (q, sin q, cos q, qd, qdd) that torques are sums of, and their coefficients.

Each row of the sweep serves one or two torques (the mass matrix is symmetric, two Christoffel symbols differ only
in sign), so the matrix from parameters to coefficients is the sweep's small matrix, rows repeated and scaled.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from tauform.arrays import Array
from tauform.closedform.expansion.rows import CoefficientRows, Keys
from tauform.closedform.expansion.sweep import (
    CENTRIFUGAL,
    COULOMB,
    COUPLED,
    DIFFERENCE,
    GRAVITY,
    INERTIA,
    N_KINDS,
    SUM,
    VISCOUS,
    KeyLayout,
)
from tauform.closedform.generators import Generators
from tauform.description.joint_types.functions import N_DIGITS
from tauform.description.robot import Robot
from tauform.portable.correct import power
from tauform.portable.products import norm

ABSENT = -1


@dataclass(frozen=True, eq=False)
class Coefficients:
    """Coefficients of every function for every unit parameter.

    Attributes:
        layout: meaning of the keys.
        keys: (m,) distinct functions, ascending.
        matrix: (m, n_parameters) sparse; columns are robot.parameters.
    """

    layout: KeyLayout
    keys: Keys
    matrix: scipy.sparse.csr_array

    @classmethod
    def gathered(cls, robot: Robot, links: Iterable[CoefficientRows], fixed: Container[int] = ()) -> Coefficients:
        """Gather the rows of all links; rotors and friction are added here, one function each.

        Fixed joints have no velocity, so that the functions of their Fv and Fc vanish.
        """
        n, layout, columns_of = robot.n_bodies, KeyLayout(robot.n_bodies), robot.layout
        keys, columns, values = [], [], []
        for k, rows in enumerate(links):
            row, column = np.nonzero(rows.values)
            keys.append(rows.keys[row])
            columns.append(column + columns_of.link(k).start)
            values.append(rows.values[row, column])
        # Ia stands with D_ii, an offset with gravity's constant part, Fv and Fc on their own.
        of_joints = {columns_of.rotor(i): layout.key(INERTIA, i, i) for i in range(n)}
        of_joints |= {columns_of.offset(i): layout.key(GRAVITY, 0, 0, i) for i in range(n)}
        senses: dict[int, float] = {}
        for own, term in zip(range(columns_of.n)[columns_of.further], robot.further_drives, strict=True):
            if term.is_inertial:  # a shared rotor is a constant D_xy
                of_joints[own], senses[own] = layout.key(INERTIA, *sorted(term.joints)), term.constants["sense"]
        for i in range(n):
            if i not in fixed:
                of_joints[columns_of.viscous(i)] = layout.key(VISCOUS, 0, 0, i)
                of_joints[columns_of.coulomb(i)] = layout.key(COULOMB, 0, 0, i)
        keys.append(np.array(list(of_joints.values()), dtype=np.int64))
        columns.append(np.array(list(of_joints)))
        values.append(np.array([senses.get(own, 1.0) for own in of_joints]))
        # Rows of different links with one key are one function: their coefficients stand in one row.
        distinct, row = np.unique(np.concatenate(keys), return_inverse=True)
        triplets = (np.concatenate(values), (row, np.concatenate(columns)))
        return cls(layout, distinct, scipy.sparse.coo_array(triplets, shape=(len(distinct), columns_of.n)).tocsr())

    def restricted(self, assumed: scipy.sparse.csr_array) -> Coefficients:
        """Coefficients for other parameters, standard = assumed @ other; functions that vanish are left out."""
        matrix = (self.matrix @ assumed).tocsr()
        if assumed.nnz > assumed.shape[1]:  # more than a choice of columns
            # Rounding is judged against the absolute products that were summed, as in the sweep.
            sizes = abs(self.matrix) @ abs(assumed)
            matrix = matrix.multiply((abs(matrix) - MAX_CANCELLED_SHARE * sizes) > 0).tocsr()
        present = np.flatnonzero(np.diff(matrix.indptr))
        return Coefficients(self.layout, self.keys[present], matrix[present])

    def units(self, robot: Robot, length: float) -> Array:
        """(m,) size of each function's coefficients in a robot of this length whose parameters have no units."""
        kind, x, y, z, monomial = self.layout.parts(self.keys)
        turns = 1 - np.array([joint.type.length_power for joint in robot.joints], dtype=np.int64)
        # D_xy has length to the number of angles; a derivative by, or a power of, a q that is a length takes one away.
        powers = np.where(kind == INERTIA, turns[x] + turns[y], turns[x] + turns[y] + turns[z] - 1)
        powers = np.where(kind == GRAVITY, turns[z], powers)
        for i, joint in enumerate(robot.joints):
            if joint.type.length_power:
                powers = powers - joint.type.functions.exponents[monomial // self.layout.step(i) % N_DIGITS, 0]
        gravity = norm(robot.gravity) or 1.0
        lowest = int(powers.min(initial=0))
        lengths = np.array([power(length, k) for k in range(lowest, int(powers.max(initial=0)) + 1)])
        sizes: Array = lengths[powers - lowest] * np.where(kind == GRAVITY, gravity, 1.0)
        return sizes


# Parameters that are assumed related may cancel; what is left of that is zero.
MAX_CANCELLED_SHARE = 1e-13


@dataclass(frozen=True, eq=False)
class Terms:
    """The terms of a model, and where each torque's coefficients come from.

    Attributes:
        exponents: (5 n, p) the paper's E.
        source: (r,) row of the coefficients.
        target: (r,) torque * p + term.
        factor: (r,) by which the row is scaled.
    """

    exponents: NDArray[np.int8]
    source: Keys
    target: Keys
    factor: Array

    @property
    def n_terms(self) -> int:
        return self.exponents.shape[1]


def terms_of(coefficients: Coefficients, robot: Robot, columns: Sequence[int], fixed: dict[int, float]) -> Terms:
    """Terms of the rigid bodies and rotors (friction stands beside them); motion of fixed joints is left out.

    Order: gravity, accelerations by joint, squared velocities, products of velocities; within each the
    monomials in q with the first joint first, in the order 1, cos, sin, cos^2, sin cos.
    """
    layout, n = coefficients.layout, robot.n_bodies
    kind, x, y, z, monomial = layout.parts(coefficients.keys)
    torque, acceleration, factor = _targets(n, fixed)
    meaning = ((kind * n + x) * n + y) * n + z
    rigid = ~np.isin(columns, robot.layout.friction)
    present = (abs(coefficients.matrix) @ rigid) > 0
    # Each row of the sweep serves up to two torques.
    source, use = np.nonzero((acceleration[meaning] != ABSENT) & present[:, None])
    at = meaning[source]
    distinct, term = np.unique(acceleration[at, use] * layout.n_monomials + monomial[source], return_inverse=True)
    target = torque[at, use] * len(distinct) + term
    return Terms(_exponents(distinct, layout, robot), source, target, factor[at, use])


def _targets(n: int, fixed: dict[int, float]) -> tuple[Keys, Keys, Array]:
    """Targets of each meaning (kind, x, y, z): up to two torques, the accelerations they multiply, and factors."""
    shape = (N_KINDS, n, n, n, 2)
    torque, factor = np.zeros(shape, dtype=np.int64), np.zeros(shape)
    acceleration = np.full(shape, ABSENT, dtype=np.int64)
    product = {pair: 1 + n + k for k, pair in enumerate(_velocity_pairs(n))}
    moving = [i not in fixed for i in range(n)]

    def put(kind: int, x: int, y: int, z: int, use: int, joint: int, what: tuple[int, ...], weight: float) -> None:
        if all(moving[i] for i in what):
            torque[kind, x, y, z, use], factor[kind, x, y, z, use] = joint, weight
            index = 0 if not what else 1 + what[0] if len(what) == 1 else product[what[0], what[1]]
            acceleration[kind, x, y, z, use] = index

    for x in range(n):
        put(GRAVITY, 0, 0, x, 0, x, (), 1.0)
        put(INERTIA, x, x, 0, 0, x, (x,), 1.0)
        for y in range(x + 1, n):
            # D_xy is in tau_x by qdd_y and in tau_y by qdd_x.
            put(INERTIA, x, y, 0, 0, x, (y,), 1.0)
            put(INERTIA, x, y, 0, 1, y, (x,), 1.0)
            put(CENTRIFUGAL, x, y, y, 0, x, (y, y), 1.0)
            # -1/2 dD_xx/dq_y qd_x^2 on y, dD_xx/dq_y qd_x qd_y on x: Christoffel symbols of a diagonal entry.
            put(COUPLED, x, x, y, 0, y, (x, x), -0.5)
            put(COUPLED, x, x, y, 1, x, (x, y), 1.0)
            for z in range(y + 1, n):
                put(SUM, x, y, z, 0, x, (y, z), 1.0)
                put(DIFFERENCE, x, y, z, 0, y, (x, z), 1.0)
                put(DIFFERENCE, x, y, z, 1, z, (x, y), -1.0)
    return torque.reshape(-1, 2), acceleration.reshape(-1, 2), factor.reshape(-1, 2)


def _velocity_pairs(n: int) -> list[tuple[int, int]]:
    """Squares first, then products."""
    return [(i, i) for i in range(n)] + [(i, j) for i in range(n) for j in range(i + 1, n)]


def _exponents(terms: Keys, layout: KeyLayout, robot: Robot) -> NDArray[np.int8]:
    n = layout.n
    acceleration, monomial = np.divmod(terms, layout.n_monomials)
    rows = Generators(n)
    E = np.zeros((rows.size, len(terms)), dtype=np.int8)
    for i, joint in enumerate(robot.joints):
        digit = monomial // layout.step(i) % N_DIGITS
        E[rows.of_joint(i)] = joint.type.functions.exponents[digit].T
    rates = np.zeros((2 * n, 1 + n + n * (n + 1) // 2), dtype=np.int8)  # exponents of qd, qdd in each acceleration
    rates[n + np.arange(n), 1 + np.arange(n)] = 1
    for k, (i, j) in enumerate(_velocity_pairs(n), start=1 + n):
        rates[i, k] += 1
        rates[j, k] += 1
    E[rows.rates] = rates[:, acceleration]
    E.setflags(write=False)
    return E
