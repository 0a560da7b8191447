"""Whether a mass matrix is positive definite at every position, so that no state can make forward dynamics divide by 0.

Where all bodies have inertias that some body could have, moving any joint costs at least the energy of its own link and
rotor: of the joints that move, the one nearest the base moves its link alone. So each pivot of the factorisation is at
least S^T I S + Ia of its own joint.
"""

from __future__ import annotations

import numpy as np

from tauform.arrays import AnyArray
from tauform.description.robot import Robot
from tauform.rigidbody.drives import has_coupled_inertia
from tauform.rigidbody.sweeps.articulated_inertia import rigid_inertia

# Share of the robot's largest inertia below which a joint's own counts as none; a pivot fails at 1e-13.
MIN_INERTIA_SHARE = 1e-9
# Negative eigenvalues up to this share of the largest are rounding.
ROUNDING = 1e-12


def is_definite(robot: Robot) -> bool:
    """Whether no position can make the mass matrix singular; False where that is not certain."""
    tree = robot.tree
    # The bound below holds for trees of bodies alone.
    if has_coupled_inertia(tree):  # a shaft between joints may outweigh their rotors
        return False
    # Sum of all offsets: how far a mass may be from a joint [m].
    reach = float(np.sum(np.linalg.norm([joint.parent_from_joint[:3, 3] for joint in robot.joints], axis=-1)))
    own, largest = [], 0.0
    for i, ten in enumerate(tree.inertias):
        spatial = _matrix(ten)
        # A negative eigenvalue: no body has such an inertia, and the bound does not hold.
        eigenvalues = np.linalg.eigvalsh(spatial)
        if eigenvalues[0] < -ROUNDING * eigenvalues[-1]:
            return False
        joint = tree.types[i]
        own.append(float(joint.felt(joint.felt(spatial))) + float(tree.rotors[i, 0]))  # S^T I S + Ia
        # The largest inertia that a joint could feel, by the parallel axis at full reach.
        largest = max(largest, float(np.trace(spatial)) + float(ten[0, 0]) * reach**2 + own[-1])
    return min(own) > MIN_INERTIA_SHARE * largest and bool((tree.rotors >= 0).all())


def _matrix(ten: AnyArray) -> AnyArray:
    """(6, 6) spatial inertia, angular part first."""
    return np.asarray(rigid_inertia(ten, np.zeros(1)), dtype=float)[..., 0]
