"""Straighten frames: a rotation between neighbouring joints needs one angle only, as Denavit and Hartenberg showed.

A general constant rotation costs nine products per vector. Written as Rz(a) Rx(b) Rz(c), its first turn can be given to
the parent's frame and its last one to the joint's own angle; what stays is Rx(b), four products. Rotations by quarter
turns cost nothing and are left alone.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tauform.arrays import Array
from tauform.codegen.minimal.bodies import Bodies, turned
from tauform.description.transform import angle_of
from tauform.portable.correct import hypot, sin_cos
from tauform.portable.products import product

# A turn about one axis has five entries that are not zero, a quarter turn three.
CHEAP_ENTRIES = 5


def straightened(bodies: Bodies) -> Bodies:
    """The same robot with cheap rotations wherever a body carries one joint (or for the first that it carries)."""
    bodies = _first_joint_upright(bodies)
    # Reversed, so that the first child is written last and stays.
    first_child = {parent: child for child, parent in reversed(list(enumerate(bodies.parents)))}
    for i in range(bodies.n):
        # A frame can be turned to suit one child only; the others keep what the turn leaves them.
        child = first_child.get(i)
        if child is not None and _is_costly(bodies.X[child]):
            about_parent, twist, about_child = _euler_zxz(bodies.X[child])
            bodies = turned(bodies, i, about_parent)
            bodies = _without_last_turn(bodies, child, twist, about_child)
    return bodies


def _is_costly(X: Array) -> bool:
    return int(np.count_nonzero(X)) > CHEAP_ENTRIES


def _first_joint_upright(bodies: Bodies) -> Bodies:
    """Turn the base's axes into those of the only joint on it: on a fixed base only gravity knows them."""
    roots = [i for i, parent in enumerate(bodies.parents) if parent < 0]
    # Two joints on the base would each want their own axes.
    if len(roots) > 1 or not _is_costly(bodies.X[roots[0]]):
        return bodies
    X = bodies.X.copy()
    gravity = product(X[roots[0]].T, bodies.gravity)
    X[roots[0]] = np.eye(3)
    return replace(bodies, X=X, gravity=gravity)


def _without_last_turn(bodies: Bodies, i: int, twist: float, angle: float) -> Bodies:
    """X_i = Rx(twist) Rz(angle) becomes Rx(twist); the angle moves into the joint, or turns a sliding body's frame."""
    if not bodies.turns(i):
        # A slide has no angle to take the turn: its frame turns, and its body with it.
        bodies = turned(bodies, i, -angle)
    X, offsets = bodies.X.copy(), bodies.offsets.copy()
    if bodies.turns(i):
        offsets[i] += angle
    s, c = sin_cos(twist)
    X[i] = [[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]]
    return replace(bodies, X=X, offsets=offsets)


def _euler_zxz(X: Array) -> tuple[float, float, float]:
    """Angles a, b, c of X = Rz(a) Rx(b) Rz(c)."""
    lean = hypot(float(X[0, 2]), float(X[1, 2]))
    # Without a lean the axis keeps its direction, and a may be zero.
    a, b = angle_of(X[0, 2], -X[1, 2]) if lean else 0.0, angle_of(lean, X[2, 2])
    # Where the axes almost coincide a is arbitrary, so c comes from what a leaves over, not from an entry near zero.
    s, c = sin_cos(a)
    along_x = c * X[0] + s * X[1]  # first row of Rz(a)^T X, which is that of Rz(c)
    return a, b, angle_of(-along_x[1], along_x[0])
