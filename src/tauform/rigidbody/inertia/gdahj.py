"""Mass matrix by GDAHJ, the smallest quadratic cost.  [Safeea2018, Eq. 31 and Algorithm 1]

The paper writes A_ij = k_j . d_i + (k_j x p_j) . y_i with d_i = D_i^T k_i, y_i = b_i x k_i, for revolute chains.
Its sums D_i and b_i telescope: d_i and -y_i are the moment (about the base's origin) and the force that accelerate
joint i alone, so ten numbers per body are summed instead of D_i, b_i and their terms. In that form the joint axes may
also slide, and bodies may branch: A_ij = S_j . (I_i S_i), with S_j = (k_j, p_j x k_j) or (0, k_j) in base axes.
"""

from __future__ import annotations

import numpy as np

from tauform.arrays import AnyArray
from tauform.description.tree import Tree
from tauform.rigidbody.drives import coupled_inertia, has_coupled_inertia
from tauform.rigidbody.sweeps.base_frame import base_inertias, base_placements, composites, joint_axes
from tauform.rigidbody.sweeps.motion import transforms_of
from tauform.rigidbody.sweeps.spatial import Transform, inertia_times


def gdahj(tree: Tree, q: AnyArray) -> AnyArray:
    """(n, n, N) mass matrix of the tree, rotor inertia included; arrays of any scalar."""
    # About a point near the robot: moments about a distant origin lose digits.
    tree = tree.centred
    return gdahj_from_kinematics(tree, base_placements(tree, transforms_of(tree, q)))


def gdahj_from_kinematics(tree: Tree, placements: list[Transform]) -> AnyArray:
    """The same where the direct kinematics is known (the part that Safeea2018 Table I counts)."""
    return mass_matrix_of(tree, joint_axes(tree, placements), base_inertias(tree, placements))


def mass_matrix_of(tree: Tree, axes: AnyArray, inertias: list[AnyArray]) -> AnyArray:
    """The same from joint axes (6, n, N) and inertias in the axes of the base."""
    bodies = composites(tree, inertias)
    M = np.zeros((tree.n, tree.n, *axes.shape[2:]), dtype=np.result_type(axes, tree.inertias))
    for i, composite in enumerate(bodies):
        # Entries of a tree are zero where neither body carries the other: only the path to the base is filled.
        path = list(tree.ancestors(i))
        momentum = inertia_times(composite, axes[:, i])
        M[i, path] = M[path, i] = (axes[:, path] * momentum[:, None]).sum(axis=0)
        M[i, i] = M[i, i] + tree.rotors[i]
    return M + coupled_inertia(tree) if has_coupled_inertia(tree) else M
