"""Bodies: a robot whose frames and parameters may be chosen freely as long as its torques stay the same.

Each body has a mass m, first moments h and second moments K (the pseudo-inertia, K = tr(I)/2 1 - I). In these
coordinates the freedom is plain: whatever mass lies on a joint's axis moves with both bodies that the joint
connects, so its (m, h_z, K_zz) may be counted with either. The moves of this module change the regrouping or a frame,
never a torque.

Parameters may depend on run-time inputs: each is an affine function of them, and its numbers (constant, then the
weight of each input) form the last dimension. The moves are linear, so they act on those numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tauform.arrays import AnyArray, Array
from tauform.codegen.minimal.vectors import Triple, dot, turned_symmetric
from tauform.description.joint import Frame
from tauform.description.joint_types import JointType
from tauform.description.tree import Tree
from tauform.portable.correct import sin_cos
from tauform.portable.products import chain, product

# Places of the eleven parameters of a body: m, hx, hy, hz, Kxx, Kxy, Kyy, Kxz, Kyz, Kzz, Ia.
N_PARAMETERS = 11
M, HX, HY, HZ, KXX, KXY, KYY, KXZ, KYZ, KZZ, IA = range(N_PARAMETERS)
SECOND = np.array([[KXX, KXY, KXZ], [KXY, KYY, KYZ], [KXZ, KYZ, KZZ]])
_UPPER = (np.array([0, 0, 1, 0, 1, 2]), np.array([0, 1, 1, 2, 2, 2]))


@dataclass(frozen=True, eq=False)
class Bodies:
    """A tree of bodies ready for tracing.

    Attributes:
        X: (n, 3, 3) constant rotations, parent from joint.
        P: (n, 3) joint origins in the parent.
        offsets: (n,) constants added to the joint angles.
        parameters: (n, 11, 1 + inputs) affine functions of the run-time inputs.
        unit: length unit in metres; with a length of the robot as the unit, products with it fall away.
        frames: (k, 3, 4) placements, body_from_frame, of frames that feel an external wrench; they move along.
        carriers: the body of each of them.
    """

    parents: tuple[int, ...]
    types: tuple[JointType, ...]
    X: Array
    P: Array
    offsets: Array
    parameters: AnyArray
    gravity: Array
    unit: float = 1.0
    frames: Array = field(default_factory=lambda: np.empty((0, 3, 4)))
    carriers: tuple[int, ...] = ()

    @classmethod
    def of(cls, tree: Tree, link_parameters: Array, rotors: Array, frames: Sequence[Frame] = ()) -> Bodies:
        """Bodies of a tree's geometry.

        Args:
            link_parameters: (n, 10, 1 + inputs) in the order of robot.parameters.
            rotors: (n, 1 + inputs) rotor inertias.
            frames: those that feel an external wrench.
        """
        # K in place of I: mass on a joint's axis then has a single second moment, Kzz.
        ten = product(to_second_moments(), link_parameters)
        return cls(
            # Constant geometry: the trees of textbook algorithms carry a trailing dimension for states.
            tree.parents,
            tree.types,
            tree.rotations[..., 0],
            tree.translations[..., 0],
            np.zeros(tree.n),
            np.concatenate([ten, rotors[:, None]], axis=1),
            tree.gravity[:, 0],
            frames=np.array([frame.link_from_frame[:3] for frame in frames]).reshape(-1, 3, 4),
            carriers=tuple(frame.link for frame in frames),
        )

    @property
    def n(self) -> int:
        return len(self.parents)

    @property
    def arrays(self) -> tuple[AnyArray, ...]:
        """All that moves of frames and parameters can change, but the unit."""
        return self.X, self.P, self.offsets, self.parameters, self.gravity, self.frames

    def first(self, most: int) -> Bodies:
        """Keep at most so many bodies; a regressor's columns of theirs do not depend on the bodies that follow."""
        # Depth first: the first bodies of the order are a tree of their own.
        X, P, offsets, parameters = (array[:most] for array in self.arrays[:4])
        return Bodies(self.parents[:most], self.types[:most], X, P, offsets, parameters, self.gravity, self.unit)

    def turns(self, i: int) -> bool:
        """Whether the motion of joint i has a turn, which takes up turns of its frame."""
        return self.types[i].screw[0] != 0.0

    def shift(self, i: int) -> float:
        """Lengths that joint i moves along z per unit of its coordinate; 0.0 where it only turns."""
        return self.types[i].screw[1] / self.unit

    def felt(self, i: int, moment: Triple, force: Triple) -> Any:
        """Torque that joint i feels of a wrench in its frame: z . moment of a turn, z . force of a shift."""
        # A zero that is a number: the graph drops it, so that a revolute joint costs no addition.
        turning = moment[2] if self.turns(i) else 0.0
        return turning + force[2] * self.shift(i) if self.shift(i) else turning

    def moved_frames(self, i: int, R: Array, p: Array) -> Array:
        """Frames after a move of body i's own frame, where x_new = R x_old + p."""
        frames = self.frames.copy()
        for k, carrier in enumerate(self.carriers):
            # Only frames on this body see its frame move.
            if carrier == i:
                frames[k] = product(R, frames[k])
                # What a wrench is given in does not move: its place is written anew in the moved frame.
                frames[k, :, 3] = snapped(frames[k, :, 3] + p)
        return frames

    def has_children(self, i: int) -> bool:
        return i in self.parents

    @property
    def baked(self) -> Array:
        """(n, 11) whether each parameter is a plain number."""
        return ~(self.parameters[..., 1:] != 0).any(axis=-1)

    def with_scalars(self, inputs: AnyArray) -> Bodies:
        """Parameters as plain numbers and scalars, (n, 11), ready for tracing."""
        # Plain numbers stay numbers, so that the graph folds them.
        rows = [[affine(entry, inputs) for entry in row] for row in self.parameters.tolist()]
        return replace(self, parameters=np.array(rows, dtype=object))

    def to_tree(self) -> Tree:
        """Bodies with scalars as a tree for the textbook algorithms; angles must have `offsets` added.

        Only in metres: another unit would scale the coordinates of prismatic joints.
        """
        # Textbook algorithms know no unit of length other than the metre.
        assert self.unit == 1.0
        back = from_second_moments().tolist()
        ten = [[dot(weights, row[:10]) for weights in back] for row in self.parameters.tolist()]
        drives = np.zeros((self.n, 4), dtype=object)
        # Column 0 holds rotors; friction is traced elsewhere.
        drives[:, 0] = self.parameters[:, IA]
        placement = np.tile(np.eye(4), (self.n, 1, 1))
        placement[:, :3, :3], placement[:, :3, 3] = self.X, self.P
        return Tree.of(self.parents, self.types, placement, np.array(ten, dtype=object), drives, self.gravity)


def affine(weights: list[float], inputs: AnyArray) -> Any:
    """weights[0] + weights[1:] . inputs; a plain number where no input takes part."""
    return weights[0] + dot(weights[1:], list(inputs)) if any(weights[1:]) else weights[0]


def to_second_moments() -> Array:
    """(10, 10) matrix from m, mx, my, mz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz to m, h, Kxx, Kxy, Kyy, Kxz, Kyz, Kzz."""
    T = np.zeros((10, 10))
    T[:4, :4] = np.eye(4)
    # Kxx = (Iyy + Izz - Ixx) / 2, Kxy = -Ixy.
    for diagonal, others in ((4, (6, 9)), (6, (4, 9)), (9, (4, 6))):
        T[diagonal, diagonal] = -0.5
        T[diagonal, others] = 0.5
    for product_of_inertia in (5, 7, 8):
        T[product_of_inertia, product_of_inertia] = -1.0
    return T


def from_second_moments() -> Array:
    """(10, 10) the inverse: Ixx = Kyy + Kzz and so on, Ixy = -Kxy."""
    T = np.zeros((10, 10))
    T[:4, :4] = np.eye(4)
    for diagonal, others in ((4, (6, 9)), (6, (4, 9)), (9, (4, 6))):
        T[diagonal, others] = 1.0
    for product_of_inertia in (5, 7, 8):
        T[product_of_inertia, product_of_inertia] = -1.0
    return T


def second_moment_transform(R: Array, p: Array) -> Array:
    """(10, 10) matrix that expresses m, h, K in a frame where x_new = R x_old + p."""
    units = np.eye(10)  # one after the other, along the first dimension
    m, h, K = units[:, 0, None], product(units[:, None, 1:4], R.T)[:, 0], chain(R, units[:, SECOND], R.T)
    # h p^T of each unit parameter; K gains h p^T + p h^T + m p p^T (parallel axes for second moments).
    lever = h[:, :, None] * p
    K = K + lever + lever.transpose(0, 2, 1) + m[:, :, None] * (p[:, None] * p)
    return np.concatenate([m, h + m * p, K[:, *_UPPER]], axis=1).T


def axial_shift(s: float) -> Array:
    """(10, 10) matrix that expresses m, h, K in a frame whose origin lies at s along z."""
    return second_moment_transform(np.eye(3), np.array([0.0, 0.0, -s]))


def shifted(bodies: Bodies, i: int, s: float) -> Bodies:
    """Move the origin of body i's frame by s along its joint axis."""
    z = np.array([0.0, 0.0, 1.0])
    P, parameters = bodies.P.copy(), bodies.parameters.copy()
    # The axis itself stays where it is: torques about it cannot tell.
    P[i] = snapped(P[i] + s * bodies.X[i, :, 2])
    for child, parent in enumerate(bodies.parents):
        # Children see the origin move the other way.
        if parent == i:
            P[child] = snapped(P[child] - s * z)
    parameters[i, :10] = product(axial_shift(s), parameters[i, :10])
    return replace(bodies, P=P, parameters=parameters, frames=bodies.moved_frames(i, np.eye(3), -s * z))


def turned(bodies: Bodies, i: int, angle: float) -> Bodies:
    """Turn the frame of body i by an angle about its joint axis; the bodies that it carries see it turned back."""
    s, c = sin_cos(angle)
    # x_new = R x_old: the transposed turn, since the frame turns and not the body.
    R = np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])
    X, P, offsets, parameters = (array.copy() for array in (bodies.X, bodies.P, bodies.offsets, bodies.parameters))
    parameters[i, :10] = product(second_moment_transform(R, np.zeros(3)), parameters[i, :10])
    # A revolute joint takes up the turn in its zero position; a sliding one has none, so its mounting turns.
    if bodies.turns(i):
        offsets[i] += angle
    else:
        X[i] = product(X[i], R.T)
    for child, parent in enumerate(bodies.parents):
        if parent == i:
            X[child], P[child] = product(R, X[child]), snapped(product(R, P[child]))
    frames = bodies.moved_frames(i, R, np.zeros(3))
    return replace(bodies, X=X, P=P, offsets=offsets, parameters=parameters, frames=frames)


def turned_by_load(row: Triple, offset: Any) -> tuple[Triple, Any]:
    """Parameters and offset of a body turned such that hy vanishes, for scalars: the angle is one too."""
    angle = row[HY].arctan2(row[HX])
    s, c = angle.sin(), angle.cos()
    first, second = [c * row[HX] + s * row[HY], 0.0, row[HZ]], turned_symmetric(-s, c, row[KXX : KZZ + 1])
    return [row[M], *first, *second, row[IA]], offset + angle


def scaled(bodies: Bodies, unit: float) -> Bodies:
    """Measure lengths in another unit and masses such that torques keep theirs: h and m grow, K stays."""
    ratio = unit / bodies.unit
    # m L^2, h L and K have the same unit: with a length of one, products with it vanish from the program.
    powers = np.array([ratio * ratio, ratio, ratio, ratio, 1, 1, 1, 1, 1, 1, 1])
    return replace(
        bodies,
        P=bodies.P / ratio,
        gravity=bodies.gravity / ratio,
        parameters=bodies.parameters * powers[:, None],
        # Rotations have no length; only the last column of a placement scales.
        frames=bodies.frames / np.array([1.0, 1.0, 1.0, ratio]),
        unit=unit,
    )


def snapped(vector: Array) -> Array:
    """Rounding leftovers of a shift become exact zeros."""
    return np.where(np.abs(vector) > 1e-14 * max(1e-300, np.abs(vector).max()), vector, 0.0)
