"""Kinematics in closed form: placements and Jacobians as sums of functions of order one.  [Lloyd2021, Lemmas 1, 2]

T = product over the joints before the frame of A_i M_i(q_i), with M = M_0 + M_s sin q + M_c cos q of a joint that turns
and M_0 + M_q q of one that slides; the columns of J are derivatives of the origin, and axes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tauform.arguments import checked_methods
from tauform.arrays import AnyArray, Array, read_only
from tauform.closedform.coordinates import Coordinates
from tauform.closedform.expansion.followers import FollowerFunctions, Following
from tauform.closedform.model.model import ClosedFormModel
from tauform.closedform.search.function_sets import FunctionSets, Monomial
from tauform.closedform.terms.monomials import TermProducts
from tauform.description.joint import Closure
from tauform.description.robot import Robot
from tauform.portable.products import product
from tauform.rigidbody.sweeps.evaluation import batched

# An entry below this share of the largest is what trigonometry left of zero.
NEGLIGIBLE = 1e-14
STATES_PER_SLICE = 512

MonomialSums = dict[Monomial, Array]


@checked_methods
@dataclass(frozen=True, eq=False, repr=False)
class ClosedFormKinematics:
    """Placement and Jacobian of a frame as sums of products of q, sin q and cos q.

    Attributes:
        frame: its name.
        exponents: (3 n, p) over q, sin q, cos q of the joints.
        placement: (4, 4, p) coefficients of base_from_frame.
        jacobian_coefficients: (6, n, p) of the Jacobian, angular velocity first, in base axes.
        coordinates: what the functions are taken of: q, or a part of it where joints follow by a fraction.
    """

    frame: str
    exponents: NDArray[np.int8]
    placement: Array
    jacobian_coefficients: Array
    coordinates: Coordinates

    @property
    def n_joints(self) -> int:
        """Length of q."""
        return self.jacobian_coefficients.shape[1]

    @property
    def n_terms(self) -> int:
        """Number of functions of q."""
        return self.exponents.shape[1]

    def forward_kinematics(self, q: ArrayLike) -> Array:
        """(..., 4, 4) base_from_frame.

        Raises:
            ShapeError: the last dimension differs from n, or a value is not finite.
        """
        return self._sums(self.placement, q)

    def jacobian(self, q: ArrayLike) -> Array:
        """(..., 6, n) Jacobian of the frame's origin in base axes, as `tf.jacobian`.

        Raises:
            ShapeError: the last dimension differs from n, or a value is not finite.
        """
        return self._sums(self.jacobian_coefficients, q)

    def _sums(self, coefficients: Array, q: ArrayLike) -> Array:
        # Terms of dynamics have qd and qdd too: exponents of zero.
        still = np.zeros((2 * self.n_joints, self.n_terms), dtype=np.int8)
        products = TermProducts.of(np.concatenate([self.exponents, still]), self.coordinates)
        shape = coefficients.shape[:2]

        def core(q: AnyArray) -> AnyArray:
            values = product(coefficients.reshape(-1, self.n_terms), products.terms(q, q, q))
            return values.reshape(*shape, q.shape[1])

        return batched(self.n_joints, core, STATES_PER_SLICE, q=q)

    def __repr__(self) -> str:
        return f"ClosedFormKinematics({self.frame!r}, {self.n_joints} joints, {self.n_terms} functions)"


def kinematics_of(model: ClosedFormModel, frame: str | None = None) -> ClosedFormKinematics:
    """Kinematics of a model's robot; see `ClosedFormModel.kinematics`."""
    robot = model.base.robot or model.geometry.robot(model.robot_name, model.joint_names)
    return closed_kinematics(robot, frame)


def closed_kinematics(robot: Robot, frame: str | None = None) -> ClosedFormKinematics:
    """Placement and Jacobian of a frame of a chain, a tree, or a robot whose joints follow others linearly.

    Raises:
        UnknownNameError: no such frame.
        ModelError: a joint neither turns nor slides, or joints follow at odd ratios.
    """
    sets = FunctionSets.of(robot)
    place = robot.tool if frame is None else robot.frame(frame)
    n = robot.n_bodies
    one: Monomial = ((0, 0, 0),) * n
    T: MonomialSums = {one: np.eye(4)}
    axes: dict[int, MonomialSums] = {}
    # From the base outwards; other joints do not move the frame.
    for i in reversed(list(robot.tree.ancestors(place.link)) if place.link >= 0 else []):
        T = _times(T, {one: robot.joints[i].parent_from_joint})
        # base_from_joint before the joint moves: its z axis is the joint's axis.
        axes[i] = T
        T = _times(T, _motion(sets, i))
    T = _cleaned(_times(T, {one: place.link_from_frame}))
    columns: dict[int, MonomialSums] = {i: _column(sets, T, i, axes[i]) for i in axes}
    coordinates = Coordinates.plain(n)
    if isinstance(robot.closure, Closure):
        T, columns, coordinates = _of_leading(robot, robot.closure, T, columns)
        n = robot.n_joints
    monomials = sorted({*T, *(m for column in columns.values() for m in column)})
    placement, J = np.zeros((4, 4, len(monomials))), np.zeros((6, n, len(monomials)))
    for k, monomial in enumerate(monomials):
        placement[:, :, k] = T.get(monomial, 0.0)
        for i, column in columns.items():
            J[:, i, k] = column.get(monomial, 0.0)
    # Laid out as the closed form has it: all powers of q, then of sin q, then of cos q.
    exponents = np.array([np.array(m).T.ravel() for m in monomials], dtype=np.int8).reshape(-1, 3 * n).T.copy()
    exponents.setflags(write=False)
    return ClosedFormKinematics(place.name, exponents, read_only(placement), read_only(J), coordinates)


def _of_leading(
    robot: Robot, closure: Closure, T: MonomialSums, columns: dict[int, MonomialSums]
) -> tuple[MonomialSums, dict[int, MonomialSums], Coordinates]:
    """Sums over functions of the tree's joints as sums over those that lead: q_tree = F q + offset, J = J_tree F."""
    functions = FollowerFunctions(Following.of(closure.F, closure.offset, robot.tree.types, {}))

    def put_in(sums: MonomialSums) -> MonomialSums:
        found: MonomialSums = {}
        for monomial, M in sums.items():
            # All q, all sines, all cosines of the tree, as E has them; (q, sin, cos) of each leading joint come back.
            for own, weight in functions.monomial(tuple(np.array(monomial).T.ravel().tolist())).items():
                triples = [(own[k], own[k + 1], own[k + 2]) for k in range(0, len(own), 3)]
                found[tuple(triples)] = found.get(tuple(triples), 0.0) + weight * M
        return _cleaned(found)

    leading: dict[int, MonomialSums] = {}
    for a in range(robot.n_joints):
        total: MonomialSums = {}
        for i, column in columns.items():
            for monomial, M in column.items():
                total[monomial] = total.get(monomial, 0.0) + float(closure.F[i, a]) * M
        leading[a] = put_in(total)
    scale = functions.scale
    return put_in(T), leading, Coordinates(read_only(np.zeros(len(scale))), read_only(scale))


def _motion(sets: FunctionSets, i: int) -> MonomialSums:
    """M(q_i) as a sum of functions of joint i."""
    # What a turn about z leaves alone: z and the origin.
    still, n = np.diag([0.0, 0.0, 1.0, 1.0]), sets.n

    def alone(exponents: tuple[int, int, int]) -> Monomial:
        return tuple(exponents if k == i else (0, 0, 0) for k in range(n))

    if not sets.types[i].is_angle:
        shift = np.zeros((4, 4))
        shift[2, 3] = 1.0
        return {alone((0, 0, 0)): np.eye(4), alone((1, 0, 0)): shift}
    quarter = np.zeros((4, 4))
    quarter[0, 1], quarter[1, 0] = -1.0, 1.0
    return {alone((0, 0, 0)): still, alone((0, 1, 0)): quarter, alone((0, 0, 1)): np.diag([1.0, 1.0, 0.0, 0.0])}


def _times(left: MonomialSums, right: MonomialSums) -> MonomialSums:
    """Product of two sums; no joint is in both, so that functions only meet ones."""
    result: MonomialSums = {}
    for a, A in left.items():
        for b, B in right.items():
            key = tuple((x[0] + y[0], x[1] + y[1], x[2] + y[2]) for x, y in zip(a, b, strict=True))
            AB = product(A, B)
            # Products of zeros are no terms.
            if AB.any():
                result[key] = result[key] + AB if key in result else AB
    return result


def _column(sets: FunctionSets, T: MonomialSums, i: int, axis: MonomialSums) -> MonomialSums:
    """Column i of the Jacobian: the joint's axis where it turns, and the derivative of the origin."""
    column: dict[Monomial, Array] = {}
    for monomial, M in T.items():
        for slope, factor in _slopes(monomial, i):
            rate = np.concatenate([np.zeros(3), factor * M[:3, 3]])
            column[slope] = column.get(slope, 0.0) + rate
    if sets.types[i].is_angle:
        for monomial, M in axis.items():
            # z axis of the joint in base axes: angular velocity of a unit rate.
            column[monomial] = column.get(monomial, 0.0) + np.concatenate([M[:3, 2], np.zeros(3)])
    return _cleaned(column)


def _slopes(monomial: Monomial, i: int) -> list[tuple[Monomial, float]]:
    """d/dq_i of a function of order one in joint i."""
    slopes = {(1, 0, 0): ((0, 0, 0), 1.0), (0, 1, 0): ((0, 0, 1), 1.0), (0, 0, 1): ((0, 1, 0), -1.0)}
    found = slopes.get(monomial[i])
    return [] if found is None else [((*monomial[:i], found[0], *monomial[i + 1 :]), found[1])]


def _cleaned(sums: MonomialSums) -> MonomialSums:
    """The sums without what rounding left."""
    largest = max((float(np.abs(M).max()) for M in sums.values()), default=0.0)
    kept = {m: np.where(np.abs(M) <= NEGLIGIBLE * largest, 0.0, M) for m, M in sums.items()}
    return {m: M for m, M in kept.items() if M.any()}
