"""The mass matrix in factors, its inverse, and solutions with it, as programs.  [Jain1993, Lemmas 4.2 to 4.9]"""

from __future__ import annotations

import numpy as np

from tauform.arrays import AnyArray, Array
from tauform.codegen.functions.function import Algorithm, Function, joint_vectors
from tauform.codegen.functions.inertia import inverse_of, matrix_factors
from tauform.codegen.minimal.tracing import Outputs, Tracing
from tauform.description.robot import Robot
from tauform.rigidbody.inertia.base_factor import axes_and_factor, inverse_matrix, solved
from tauform.rigidbody.inertia.factorize import factorize
from tauform.rigidbody.sweeps.factorization import solve


def _factors(tracing: Tracing) -> Outputs:
    factors, parents = matrix_factors(tracing)
    n = len(parents)
    # Factors hold D and L in one matrix; users get L with its unit diagonal.
    L = np.where(np.tri(n, k=-1, dtype=bool), factors, np.eye(n)).astype(object)
    return {"D": np.array([factors[i, i] for i in range(n)], dtype=object), "L": L}


def _inverse(tracing: Tracing) -> Outputs:
    # From the factors: columns of the identity would be solved for one by one.
    return {"inverse": inverse_of(*matrix_factors(tracing))}


def _inverse_by_bodies(tracing: Tracing) -> Outputs:
    return {"inverse": inverse_matrix(tracing.bodies.to_tree(), tracing.angles())[..., 0]}


def _solved(tracing: Tracing) -> Outputs:
    return {"x": solve(*matrix_factors(tracing), tracing.inputs["b"])}


def _solved_by_bodies(tracing: Tracing) -> Outputs:
    tree = tracing.bodies.to_tree()
    S, factor = axes_and_factor(tree, tracing.angles())
    # The solver takes one (6, N) axis per joint.
    axes = list(np.moveaxis(S, 1, 0))
    return {"x": solved(tree.parents, axes, factor.gains, factor.pivots, tracing.inputs["b"][:, None])[:, 0]}


def _factor_reference(robot: Robot, q: AnyArray) -> tuple[Array, Array]:
    factor = factorize(robot, q)
    return factor.D, factor.L


def _inverse_reference(robot: Robot, q: AnyArray) -> Array:
    return factorize(robot, q).inverse


def _solution_reference(robot: Robot, q: AnyArray, b: AnyArray) -> Array:
    return factorize(robot, q).solve(b)


FACTORS = (
    Function(
        "mass_factor",
        "D and L of the mass matrix L^T diag(D) L, rotors included",
        joint_vectors("q"),
        _factor_reference,
        {"composite": Algorithm(_factors, like_torques=True, any_unit=True)},
        tolerance=1e-9,
    ),
    Function(
        "inverse_mass_matrix",
        "inverse of the mass matrix",
        joint_vectors("q"),
        _inverse_reference,
        {
            "composite": Algorithm(_inverse, like_torques=True, any_unit=True),
            # Articulated bodies need a tree: loops tie bodies together that it treats as independent.
            "articulated": Algorithm(_inverse_by_bodies, like_torques=True, with_loops=False),
        },
        tolerance=1e-9,
    ),
    Function(
        "solve_mass_matrix",
        "x with M(q) x = b",
        joint_vectors("q", "b"),
        _solution_reference,
        {
            "composite": Algorithm(_solved, like_torques=True, any_unit=True),
            "articulated": Algorithm(_solved_by_bodies, like_torques=True, with_loops=False),
        },
        tolerance=1e-9,
    ),
)
