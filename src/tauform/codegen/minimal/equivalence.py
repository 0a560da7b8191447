"""Changes of the parameters that no torque can show, as null vectors over the eleven parameters of each body.

Mass on a revolute joint's axis may be counted with either side of the joint; across a prismatic joint all second
moments may be. What the base cannot excite (the first links of a robot on a fixed base) is found by sampling.
`regrouping.py` uses this freedom to make chosen parameters vanish.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tauform.arrays import Array
from tauform.codegen.minimal.bodies import (
    HX,
    HZ,
    KZZ,
    N_PARAMETERS,
    SECOND,
    Bodies,
    M,
    axial_shift,
    from_second_moments,
)
from tauform.codegen.minimal.regrouping import ROUNDING
from tauform.description.inertia import LINK_PARAMETERS
from tauform.description.joint import JOINT_PARAMETERS
from tauform.description.tree import Tree
from tauform.portable.factorization import by_size, first_largest
from tauform.portable.products import chain, product
from tauform.rigidbody.regressor import inverse_regressor

# Columns of a noise-free regressor: equal or zero beyond rounding. Far below 5e-12 rad, the error of 1.57079632679 in
# many a URDF: what such an angle moves is small, and no rounding.
COLUMN_TOLERANCE = 1e-13
# States; each gives n rows, a torque of every joint.
_SAMPLES = 30
# A fixed base ties the parameters of the links next to it; sampling more than these costs the cube of their number.
FIRST_LINKS = 60


def exact_null_vectors(bodies: Bodies) -> Array:
    """(k, 11 n) those of `null_vectors` that geometry gives without sampling: no torque is too small to count."""
    return np.array(_across_joints(bodies)).reshape(-1, bodies.n * N_PARAMETERS)


def null_vectors(bodies: Bodies) -> Array:
    """(k, 11 n) changes of the parameters that leave every torque as it is."""
    n_all, columns = bodies.n * N_PARAMETERS, _sampled_columns(bodies.first(FIRST_LINKS))
    size = np.abs(columns).max(axis=-1)
    # Parameters without any effect may be zero right away.
    quiet = np.flatnonzero(size <= COLUMN_TOLERANCE * size.max())
    unseen = (np.arange(n_all) == quiet[:, None]).astype(float)
    # Exact vectors first: sampling finds the same space, but with numbers that carry rounding.
    known = [*_across_joints(bodies), *unseen]
    vectors = np.array(known).reshape(len(known), -1)
    further = _further(columns, size, vectors)
    return np.concatenate([vectors, np.pad(further, ((0, 0), (0, n_all - further.shape[1])))])


def shifted_null_vectors(null: Array, bodies: Bodies, shifts: Sequence[float]) -> Array:
    """The null vectors of bodies whose frames were shifted along their axes, from those before.

    What a base cannot excite is sampled once: parameters are a linear function of those in the frames before.

    Args:
        bodies: after the shifts.
        shifts: of each body.
    """
    # The exact ones stand first in `null` and are made anew in the shifted geometry.
    across = np.array(_across_joints(bodies)).reshape(-1, null.shape[1])
    moved = null[len(across) :].reshape(-1, bodies.n, N_PARAMETERS).copy()
    for i, shift in enumerate(shifts):
        if shift:
            moved[:, i, :10] = product(moved[:, i, :10], axial_shift(shift).T)
    moved[np.abs(moved) <= ROUNDING * np.abs(moved).max(axis=(1, 2), keepdims=True)] = 0.0
    return np.concatenate([across, moved.reshape(-1, null.shape[1])])


def _across_joints(bodies: Bodies) -> list[Array]:
    vectors = []
    axes = bodies.X[:, :, 2]
    # P P^T, P z^T and z z^T of all joints at once.
    PP, Pz, zz = (a[:, :, None] * b[:, None] for a, b in ((bodies.P, bodies.P), (bodies.P, axes), (axes, axes)))
    for j, parent in enumerate(bodies.parents):
        X, P, z = bodies.X[j], bodies.P[j], axes[j]
        if bodies.turns(j):
            # a line of mass on the axis: its mass, first and second moment; a shift along it feels the first two
            moves = [
                (M, 1.0, P, PP[j]),
                (HZ, 0.0, z, Pz[j] + Pz[j].T),
                (KZZ, 0.0, 0 * z, zz[j]),
                # With a lead, only the second moment is free: mass on the axis moves along it.
            ][2 if bodies.shift(j) else 0 :]
        else:
            units = [(a, b, _symmetric_unit(a, b)) for a in range(3) for b in range(a, 3)]
            # A slide never turns its body against the parent: all six second moments may change sides.
            moves = [(int(SECOND[a, b]), 0.0, 0 * z, chain(X, E, X.T)) for a, b, E in units]
        for place, mass, first, second in moves:
            vector = np.zeros((bodies.n, N_PARAMETERS))
            # Taken from the body, given to its parent; on the base it is simply gone.
            vector[j, place] = -1.0
            if parent >= 0:
                vector[parent, M] = mass
                vector[parent, HX : HX + 3] = first
                vector[parent, SECOND] = second
            vectors.append(vector.ravel())
    return vectors


def _symmetric_unit(a: int, b: int) -> Array:
    E = np.zeros((3, 3))
    E[a, b] = E[b, a] = 1.0
    return E


def _further(columns: Array, size: Array, known: Array) -> Array:
    """Null vectors beyond the known ones: what a fixed base cannot excite ties the parameters of its first links."""
    # Without the parameters that known vectors can make vanish, only what a fixed base ties is left.
    rest = np.setdiff1d(np.arange(len(columns)), _eliminated(known))
    scaled = columns[rest] / size[rest, None]
    largest = float(np.sqrt((scaled * scaled).sum(axis=1).max(initial=0.0)))
    triangle = by_size(scaled.T, COLUMN_TOLERANCE * largest)
    kept, others = rest[triangle.chosen], rest[triangle.others]
    vectors = np.zeros((len(others), len(columns)))
    for vector, dependent, weight in zip(vectors, others, triangle.weights().T, strict=True):
        weight = np.where(np.abs(weight) > COLUMN_TOLERANCE, weight, 0.0)
        # Back from unit columns to the parameters' own sizes.
        ratio = weight * size[dependent] / size[kept]
        # Ratios of a fixed base are mostly 1 and -1: as exact numbers they cost no products.
        whole = np.round(ratio)
        vector[kept] = -np.where(np.abs(ratio - whole) < COLUMN_TOLERANCE, whole, ratio)
        vector[dependent] = 1.0
    # Each must hold at all samples, or it would change torques.
    shown = np.abs(product(vectors, columns)).max(axis=1, initial=0.0)
    return vectors[shown <= COLUMN_TOLERANCE * (np.abs(vectors) * size).max(axis=1, initial=0.0)]


def _eliminated(vectors: Array) -> list[int]:
    """Places of parameters that the vectors can make vanish, one per independent vector."""
    vectors, places = vectors.copy(), []
    for row in vectors:
        place = first_largest(np.abs(row))
        if abs(row[place]) > ROUNDING:
            places.append(place)
            others = np.flatnonzero(vectors[:, place])
            # Gauss-Jordan: the place vanishes from all other rows too.
            vectors[others] -= np.outer(vectors[others, place] / row[place], row.copy())
    return places


def _sampled_columns(bodies: Bodies) -> Array:
    """(11 n, samples) regressor columns of the parameters at random states."""
    n = bodies.n
    # A fixed seed: what is found decides the text of the program.
    q, qd, qdd = 4 * np.random.default_rng(0).random((3, n, _SAMPLES)) - 2
    placement = np.tile(np.eye(4), (n, 1, 1))
    placement[:, :3, :3], placement[:, :3, 3] = bodies.X, bodies.P
    links, joints = np.zeros((n, len(LINK_PARAMETERS))), np.zeros((n, len(JOINT_PARAMETERS)))
    # Geometry alone: a regressor does not depend on the parameters it multiplies.
    tree = Tree.of(bodies.parents, bodies.types, placement, links, joints, bodies.gravity)
    Y = inverse_regressor(tree, q, qd, qdd)  # (n, n_parameters, samples)
    columns = tree.layout.by_link(np.moveaxis(Y, 1, -1))  # (n, samples, n, 10)
    # Columns of I and h become columns of K by the transposed change of parameters.
    of_links = product(from_second_moments().T, columns.transpose(0, 2, 3, 1)).transpose(1, 2, 0, 3)
    rotors = np.moveaxis(Y[:, list(tree.layout.columns_of("rotor"))], 1, 0)[:, None]
    return np.concatenate([of_links, rotors], axis=1).reshape(n * N_PARAMETERS, -1)
