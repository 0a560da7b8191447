"""ClosedFormModel: the structure of a robot's dynamics in base parameters, without numbers.  [Lloyd2021]"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse
from numpy.typing import ArrayLike, NDArray

from tauform.arguments import checked_methods
from tauform.arrays import AnyArray, Array
from tauform.closedform.base.baseset import BaseParameters
from tauform.closedform.coordinates import Coordinates
from tauform.closedform.model.binding import bound_model, load_grouping_of, theta_of
from tauform.closedform.model.bound import BoundModel
from tauform.closedform.model.equations import (
    NOTEBOOK_DIGITS,
    NOTEBOOK_TERMS,
    aligned,
    shown_in_notebook,
    structure_equations,
    structure_summary,
)
from tauform.closedform.model.geometry import Geometry
from tauform.closedform.notation import LATEX
from tauform.closedform.terms.echelon import Echelon, echelon_form
from tauform.closedform.terms.monomials import TermProducts
from tauform.deferred import deferred
from tauform.description.drives.drive import Drive
from tauform.description.drives.friction import plain_functions
from tauform.description.inertia import Inertia
from tauform.description.robot import Robot
from tauform.messages import counted
from tauform.notebook import Displayed
from tauform.rigidbody.sweeps.evaluation import batched

if TYPE_CHECKING:
    from tauform.closedform.search.kinematics import ClosedFormKinematics


@checked_methods
@dataclass(frozen=True, eq=False, repr=False)
class ClosedFormModel(Displayed):
    """tau_i = y(q, qd, qdd) P_i theta: terms, base parameters, and the map from one to the other.

    Attributes:
        robot_name, joint_names: whose dynamics these are.
        geometry: what they were derived for.
        exponents: (5 n, p) the paper's E over q, sin q, cos q, qd, qdd; q from the zeros of `coordinates`.
        sparse_reduction: (n p, l) sparse; row i p + j gives the coefficient of term j in torque i from theta.
        joint_terms: (n_bodies, 3, l) coefficients of qd_i, sign(qd_i) and 1 in torque i, beside E; joints are those of
            the tree where some follow others, and torques act on q through them.
        base: what theta means; theta = base.grouping @ robot.parameters.
        load_grouping: (l, 10) what a body at the tool adds to theta, in the tool's axes; None where an assumption
            about that link rules a load out.
        ties: (t, n_parameters) rows that vanish on the parameters when the assumptions hold.
        fixed: positions of joints that do not move; their entries of q, qd and qdd are not read.
        coordinates: what the functions of E are taken of: q, or q + offset where that makes fewer terms.
        further_drives: terms whose columns base.layout has; of these theta holds shared rotors alone.
    """

    robot_name: str
    joint_names: tuple[str, ...]
    geometry: Geometry
    exponents: NDArray[np.int8]
    sparse_reduction: scipy.sparse.csr_array
    joint_terms: Array
    base: BaseParameters
    load_grouping: Array | None
    ties: Array
    fixed: Mapping[str, float]
    coordinates: Coordinates
    further_drives: tuple[Drive, ...] = ()

    @property
    def n_joints(self) -> int:
        """Length of q."""
        return len(self.joint_names)

    @property
    def n_terms(self) -> int:
        """The paper's p."""
        return self.exponents.shape[1]

    @property
    def n_base(self) -> int:
        """The paper's l."""
        return self.base.n

    @property
    def moving(self) -> tuple[int, ...]:
        """Indices of the joints that are not fixed."""
        # By name: positions of fixed joints are given so.
        return tuple(i for i, name in enumerate(self.joint_names) if name not in self.fixed)

    @property
    def reduction(self) -> Array:
        """(n, p, l) coefficients from theta, dense; `sparse_reduction` holds the same in little memory."""
        dense: Array = self.sparse_reduction.toarray().reshape(self.n_joints, self.n_terms, self.n_base)
        return dense

    def regressor(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> Array:
        """Y with tau = Y @ theta, (..., n, l).  [Lloyd2021, Eq. 45]

        Args:
            q: (..., n) joint positions [rad or m].
            qd: (..., n) joint velocities.
            qdd: (..., n) joint accelerations.

        Raises:
            ShapeError: a last dimension differs from n, or a value is not finite.
        """
        # Made once and kept: a regressor is asked for at every sample of a recording.
        products, matrix, n = self._products, self._term_to_regressor, self.n_joints

        def core(q: AnyArray, qd: AnyArray, qdd: AnyArray) -> AnyArray:
            Y = (matrix @ products.terms(q, qd, qdd)).reshape(n, self.n_base, q.shape[1])
            # The functions of Fv, Fc and Fo, which stand beside E.
            rates = self.geometry.tree_velocities(qd, self.moving)
            for k, function in enumerate(plain_functions(rates)):
                if self.joint_terms[:, k].any():
                    beside = self.joint_terms[:, k, :, None] * np.broadcast_to(function, rates.shape)[:, None]
                    Y = Y + self.geometry.felt(beside)
            return Y

        return batched(n, core, products.states_per_slice, q=q, qd=qd, qdd=qdd)

    def kinematics(self, frame: str | None = None) -> ClosedFormKinematics:
        """Placement and Jacobian of a frame in closed form, functions of order one.  [Lloyd2021, Lemmas 1, 2]

        Args:
            frame: name of a frame or link; None is the tool (of a model from a file, the last link).

        Raises:
            UnknownNameError: no such frame.
        """
        return deferred("ClosedFormModel.kinematics")(self, frame)

    def load_regressor(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> Array:
        """Y of a body at the tool, (..., n, 10): what its ten parameters, in the tool's axes, add to the torque.

        Raises:
            ShapeError: a last dimension differs from n, or a value is not finite.
            ModelError: an assumption about the tool's link rules a load out.
        """
        # A load changes theta linearly, so its columns are those of theta, regrouped.
        return self.regressor(q, qd, qdd) @ load_grouping_of(self)

    def bind(
        self,
        values: Robot | ArrayLike,
        payload: Inertia | None = None,
        friction: ArrayLike | None = None,
        drives: Sequence[Drive] | None = None,
    ) -> BoundModel:
        """Put numbers in: a robot of the same geometry, or theta itself.

        With a robot, the drive terms that theta does not hold (`include=` left them out) are carried beside it as known
        numbers, so that the dynamics are the robot's own; theta alone has no friction but its own.

        Args:
            values: a Robot (its own payload included), or (l,) theta.
            payload: a further body at the tool, its inertia in the tool's axes; nothing is derived again.
            friction: (n, 3) viscous, Coulomb and offset torque of each joint to carry beside theta, instead of those;
                where joints follow others, of each joint of the tree.
            drives: further drive terms to carry beside theta, instead of the robot's.

        Raises:
            ModelError: the robot has another geometry, an assumption rules a load out, or friction depends on load and
                theta cannot tell what links weigh from offsets.
            ShapeError: theta or friction has the wrong shape.
        """
        return bound_model(self, values, payload, friction, drives)

    def theta(self, robot: Robot) -> Array:
        """(l,) base parameters of a robot of this geometry; warns when it breaks an assumption.

        Raises:
            ModelError: the robot has another geometry.
        """
        return theta_of(self, robot)

    def echelon(self) -> Echelon:
        """The paper's P_i and B_i: entries mostly 0, 1 and simple ratios of the geometry.  [Lloyd2021, Eqs. 37-44]"""
        return echelon_form(self.reduction, self.exponents, self.geometry.gravity, self.joint_terms)

    def equations(self, max_terms: int = 300, digits: int | None = None) -> tuple[str, ...]:
        """tau_i of each joint as a line of text that Python can evaluate, in the names of the base parameters.

        Friction is part of them where theta holds it (`include=`); what `bind` carries beside theta is not.

        Args:
            max_terms: a model with more terms is refused; such equations are not for reading.
            digits: of numbers; by default the fewest that are the same number but for its rounding.

        Raises:
            ModelError: the model has more than max_terms terms.
        """
        return structure_equations(self, max_terms, digits)

    def to_latex(self, max_terms: int = 300, digits: int | None = None) -> str:
        """The equations as a LaTeX align environment (package amsmath); s_1 is sin q_1, c_1 is cos q_1.

        Raises:
            ModelError: the model has more than max_terms terms.
        """
        return aligned(structure_equations(self, max_terms, digits, LATEX))

    def _repr_latex_(self) -> str | None:
        # Notebooks ask unbidden: long equations would fill the page.
        if self.n_terms > NOTEBOOK_TERMS:
            return None
        return shown_in_notebook(structure_equations(self, NOTEBOOK_TERMS, NOTEBOOK_DIGITS, LATEX))

    def save(self, path: str | PathLike[str]) -> None:
        """Write the model to one file (NumPy's npz, no pickle); a file of that name is replaced only when complete."""
        deferred("ClosedFormModel.save")(self, path)

    @cached_property
    def _products(self) -> TermProducts:
        return TermProducts.of(self.exponents, self.coordinates)

    @cached_property
    def _term_to_regressor(self) -> scipy.sparse.csr_array:
        """(n l, p)."""
        triplets = self.sparse_reduction.tocoo()
        # The same entries sorted by (joint, base parameter), so that one sparse product gives all of Y.
        # Row i p + j of the reduction is torque i, term j.
        joint, term = np.divmod(triplets.row, self.n_terms)
        shape = (self.n_joints * self.n_base, self.n_terms)
        return scipy.sparse.coo_array((triplets.data, (joint * self.n_base + triplets.col, term)), shape=shape).tocsr()

    def __repr__(self) -> str:
        joints = counted(self.n_joints, "joint")
        return f"ClosedFormModel({self.robot_name!r}, {joints}, p = {self.n_terms}, l = {self.n_base})"

    def __str__(self) -> str:
        return structure_summary(self)
