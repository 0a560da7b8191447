"""Forward dynamics as three sweeps of the articulated body algorithm (Featherstone 2008, table 7.1)."""

from __future__ import annotations

from typing import Any

import numpy as np

from tauform.arrays import AnyArray, Array
from tauform.codegen.looped.program import Rows
from tauform.codegen.looped.step import Numbers, Step
from tauform.description.tree import Tree
from tauform.rigidbody.sweeps.articulated_inertia import articulated_to_parent, rigid_inertia, times, without_joint
from tauform.rigidbody.sweeps.spatial import (
    Transform,
    cross_force,
    inertia_times,
    twist_to_child,
    wrench_to_parent,
)

# Torques less friction, which the opening program makes.
DRIVING = "driving"
TWIST, DRIFT, BIAS, INERTIA, GAIN, INVERSE, EXCESS, ACCELERATION = (
    "twist",
    "drift",
    "bias",
    "inertia",
    "gain",
    "inverse",
    "excess",
    "acceleration",
)
# A symmetric inertia has 21 entries: rows of the upper half.
UPPER = np.triu_indices(6)


def forward_rows(gravity: Array) -> tuple[Rows, ...]:
    """Rows of the sweeps; gravity is an upward acceleration of the base."""
    # a_0 = -g: weight then needs no term of its own.
    upward = (0.0, 0.0, 0.0, *(-g for g in gravity.tolist()))
    return (
        *(Rows(name, 6) for name in (TWIST, DRIFT, BIAS, GAIN)),
        Rows(ACCELERATION, 6, upward),
        Rows(INERTIA, len(UPPER[0])),
        Rows(INVERSE, 1),
        Rows(EXCESS, 1),
    )


def forward_numbers(tree: Tree) -> Numbers:
    """What the steps read of each body."""
    geometry = {"R": tree.rotations[..., 0], "p": tree.translations[..., 0]}
    return Numbers({**geometry, "inertia": tree.inertias[..., 0], "rotor": tree.rotors})


def _transform(step: Step) -> Transform:
    R, p = step.own["R"][..., None], step.own["p"][..., None]
    return Transform(*step.type.placed(R, p, np.array([step.q], dtype=object)))


def _column(values: Any) -> AnyArray:
    """Scalars with the batch dimension that spatial algebra expects."""
    return np.array(values, dtype=object)[..., None]


def _symmetric(upper: AnyArray) -> AnyArray:
    matrix = np.empty((6, 6), dtype=object)
    matrix[UPPER] = matrix.T[UPPER] = upper
    return matrix


def motion(step: Step) -> None:
    """Twist of the body, v = X v_parent + S qd, and what velocities alone do: drift v x S qd and bias v x* I v."""
    qd, ten = step.read("qd")[0], _column(step.own["inertia"])
    twist = step.type.moved(twist_to_child(_transform(step), _column(step.read(TWIST, of_parent=True))), qd)
    step.write(TWIST, twist)
    step.write(DRIFT, step.type.drift(twist, qd))
    step.write(BIAS, cross_force(twist, inertia_times(ten, twist)))
    # Its own first; bodies that it carries add theirs on the way back.
    step.write(INERTIA, rigid_inertia(ten, ten[0])[..., 0][UPPER])


def articulated(step: Step) -> None:
    """U = I S, D = S.U + Ia: the joint yields, and the parent feels I - U U^T / D and p + I' c + U u / D."""
    inertia, rotor, X = _symmetric(step.read(INERTIA))[..., None], step.own["rotor"][0], _transform(step)
    bias = _column(step.read(BIAS))
    U = step.type.felt(inertia)
    # One division per joint; all else are products with it.
    inverse = 1.0 / (step.type.felt(U) + rotor)[0]
    gain = U * inverse
    # u = tau - S . p
    excess = step.read(DRIVING)[0] - step.type.felt(bias)[0]
    # I' = I - U U^T / D, which feels no force along the joint's axis but the rotor's.
    remaining = without_joint(inertia, step.type.component, U, gain, rotor * inverse)
    passed = bias + times(remaining, _column(step.read(DRIFT))) + gain * excess
    step.write(GAIN, gain)
    step.write(INVERSE, [inverse])
    step.write(EXCESS, [excess])
    step.add_to_parent(INERTIA, articulated_to_parent(X, remaining)[..., 0][UPPER])
    step.add_to_parent(BIAS, wrench_to_parent(X, passed))


def acceleration(step: Step) -> None:
    """qdd = u / D - gain . a', with a' as it reaches the joint."""
    arriving = twist_to_child(_transform(step), _column(step.read(ACCELERATION, of_parent=True)))
    # a' = X a_parent + c
    a = arriving + _column(step.read(DRIFT))
    qdd = step.read(EXCESS)[0] * step.read(INVERSE)[0] - (_column(step.read(GAIN)) * a).sum()
    step.write("qdd", [qdd])
    step.write(ACCELERATION, step.type.moved(a, qdd))
