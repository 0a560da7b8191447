"""Mass matrix by the composite rigid body algorithm (Walker, Orin 1982; Featherstone), in link frames."""

from __future__ import annotations

import numpy as np

from tauform.arrays import AnyArray
from tauform.description.tree import Tree
from tauform.rigidbody.drives import coupled_inertia, has_coupled_inertia
from tauform.rigidbody.sweeps.screws import inertia_by_steps, steps_to_parent, wrenches_to_parent
from tauform.rigidbody.sweeps.spatial import inertia_times


def composite_rigid_body(tree: Tree, q: AnyArray) -> AnyArray:
    """(n, n, N) mass matrix of the tree, rotor inertia included; arrays of any scalar."""
    n, batch = tree.n, q.shape[1:]
    M = np.zeros((n, n, *batch), dtype=np.result_type(q, tree.inertias, tree.rotations))
    composite = list(tree.inertias)
    # Of each body, by joints that it carries: the wrench on it that accelerates that joint alone.
    carried: list[list[tuple[list[int], AnyArray]]] = [[] for _ in range(n)]
    # Tip to base: what a body carries moves with it while joints above it accelerate.
    for i in reversed(range(n)):
        own, parent = tree.types[i], tree.parents[i]
        # F = I_composite S, of joint i
        F = inertia_times(composite[i], own.moved(np.zeros((6, *batch), dtype=q.dtype), 1))
        joints = [i, *(j for columns, _ in carried[i] for j in columns)]
        wrenches = np.concatenate([F[:, None], *(parts for _, parts in carried[i])], axis=1)
        M[i, joints] = M[joints, i] = own.felt(wrenches)
        M[i, i] = M[i, i] + tree.rotors[i]
        if parent >= 0:
            steps = steps_to_parent(tree, i, q[tree.q_rows[i]])
            composite[parent] = composite[parent] + inertia_by_steps(steps, composite[i])
            carried[parent].append((joints, wrenches_to_parent(steps, wrenches)))
    return M + coupled_inertia(tree) if has_coupled_inertia(tree) else M
