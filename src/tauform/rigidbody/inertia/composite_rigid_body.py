"""Mass matrix by the composite rigid body algorithm (Walker, Orin 1982; Featherstone), in link frames."""

from __future__ import annotations

import numpy as np

from tauform.arrays import AnyArray
from tauform.description.tree import Tree
from tauform.rigidbody.drives import coupled_inertia, has_coupled_inertia
from tauform.rigidbody.sweeps.motion import transforms_of
from tauform.rigidbody.sweeps.spatial import inertia_times, inertia_to_parent, wrench_to_parent


def composite_rigid_body(tree: Tree, q: AnyArray) -> AnyArray:
    """(n, n, N) mass matrix of the tree, rotor inertia included; arrays of any scalar."""
    n, transforms = tree.n, transforms_of(tree, q)
    composite = list(tree.inertias)
    # Tip to base: what a body carries moves with it while joints above it accelerate.
    for i in reversed(range(n)):
        if tree.parents[i] >= 0:
            composite[tree.parents[i]] = composite[tree.parents[i]] + inertia_to_parent(transforms[i], composite[i])

    M = np.zeros((n, n, *q.shape[1:]), dtype=np.result_type(q, tree.inertias, tree.rotations))
    for i in range(n):
        # F = I_composite S: the wrench that accelerates joint i alone, with all that it carries
        axis = tree.types[i].moved(np.zeros((6, *q.shape[1:]), dtype=q.dtype), 1)
        F = inertia_times(composite[i], axis)
        M[i, i] = tree.types[i].felt(F) + tree.rotors[i]
        # Up the path to the base: every joint on it feels F, others do not.
        j = i
        while tree.parents[j] >= 0:
            F, j = wrench_to_parent(transforms[j], F), tree.parents[j]
            M[i, j] = M[j, i] = tree.types[j].felt(F)
    return M + coupled_inertia(tree) if has_coupled_inertia(tree) else M
