"""Mass matrix as sweeps: composite bodies in the axes of the base, then M_ij = S_j . (I_i S_i).  [Safeea2018, Eq. 31]

In one common frame nothing is transformed in the double loop: six products per entry, which compilers run in vectors.
"""

from __future__ import annotations

import numpy as np

from tauform.arrays import AnyArray
from tauform.codegen.looped.program import Pairs, Rows
from tauform.codegen.looped.step import Numbers, Step
from tauform.description.tree import Tree
from tauform.rigidbody.sweeps.spatial import Transform, compose, inertia_times, inertia_to_parent

PLACEMENT, AXIS, COMPOSITE, MOMENTUM, DIAGONAL = "placement", "axis", "composite", "momentum", "diagonal"
MATRIX_ROWS = (
    Rows(PLACEMENT, 12, tuple(np.eye(3, 4).ravel().tolist())),
    Rows(AXIS, 6),
    Rows(COMPOSITE, 10),
    Rows(MOMENTUM, 6),
    Rows(DIAGONAL, 1),
)
MATRIX_PAIRS = Pairs(MOMENTUM, AXIS, DIAGONAL, "M")


def matrix_numbers(tree: Tree) -> Numbers:
    """What the steps read of each body; about a point near the robot, since a distant origin costs digits."""
    near = tree.centred
    geometry = {"R": near.rotations[..., 0], "p": near.translations[..., 0]}
    return Numbers({**geometry, "inertia": near.inertias[..., 0], "rotor": near.rotors})


def _placed(flat: AnyArray) -> Transform:
    """Rotation and origin from a row, with the batch dimension that spatial algebra expects."""
    matrix = flat.reshape(3, 4)
    return Transform(matrix[:, :3, None], matrix[:, 3:])


def placement(step: Step) -> None:
    """Place, axis and inertia of the body in the axes of the base."""
    R, p = step.own["R"][..., None], step.own["p"][..., None]
    joint = Transform(*step.type.placed(R, p, np.array([step.q], dtype=object)))
    own = compose(_placed(step.read(PLACEMENT, of_parent=True)), joint)
    step.write(PLACEMENT, np.concatenate([own.R[..., 0], own.p], axis=1))
    step.write(AXIS, step.type.axis_in(*own))
    step.write(COMPOSITE, inertia_to_parent(own, step.own["inertia"][:, None]))


def momentum(step: Step) -> None:
    """Momentum of the body and all that it carries for a unit speed of its joint; the parent carries them too."""
    composite, axis = step.read(COMPOSITE), step.read(AXIS)
    own = inertia_times(composite[:, None], axis[:, None])[:, 0]
    step.write(MOMENTUM, own)
    # The joint's own entry, with the rotor that nobody else feels.
    step.write(DIAGONAL, [(axis * own).sum() + step.own["rotor"][0]])
    # In the base's axes inertias simply add up.
    step.add_to_parent(COMPOSITE, composite)
