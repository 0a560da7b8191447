"""ClosedFormModel: the structure of a robot's dynamics in base parameters, without numbers.  [Lloyd2021]"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse
from numpy.typing import ArrayLike, NDArray

from tauform.arguments import checked_methods
from tauform.arrays import AnyArray, Array, fixed_array, read_only
from tauform.closedform.base.baseset import BaseParameters
from tauform.closedform.coordinates import Coordinates
from tauform.closedform.model.beside import columns_beside, terms_beside
from tauform.closedform.model.bound import BoundModel
from tauform.closedform.model.echelon import Echelon, echelon_form
from tauform.closedform.model.equations import (
    NOTEBOOK_DIGITS,
    NOTEBOOK_TERMS,
    aligned,
    shown_in_notebook,
    structure_equations,
    structure_summary,
)
from tauform.closedform.model.monomials import TermProducts
from tauform.closedform.notation import LATEX
from tauform.deferred import deferred
from tauform.description.drives.drive import Drive
from tauform.description.geometry import difference
from tauform.description.inertia import Inertia
from tauform.description.joint import Joint, Link
from tauform.description.joint_types import JointType
from tauform.description.robot import Robot
from tauform.errors import ModelError
from tauform.escaping.shown import visible
from tauform.messages import counted
from tauform.notebook import Displayed
from tauform.portable.products import product, sparse_product
from tauform.rigidbody.sweeps.evaluation import batched
from tauform.wording import call

if TYPE_CHECKING:
    from tauform.closedform.search.kinematics import ClosedFormKinematics

# Assumptions that are broken by less than this share hold (a description written and read again).
MAX_BREACH_OF_ASSUMPTION = 1e-9


@dataclass(frozen=True, eq=False)
class Geometry:
    """Geometry that a model was derived for; inertias and friction play no part.

    Attributes:
        parent_from_joint: (n, 4, 4).
        types: of the n joints.
        gravity: (3,).
        parents: joint before each, -1 for the base.
    """

    parent_from_joint: Array
    types: tuple[JointType, ...]
    gravity: Array
    parents: tuple[int, ...]

    @classmethod
    def of(cls, robot: Robot) -> Geometry:
        """The geometry of a tree."""
        return cls(
            read_only([joint.parent_from_joint for joint in robot.joints]),
            tuple(joint.type for joint in robot.joints),
            read_only(robot.gravity),
            tuple(joint.parent for joint in robot.joints),
        )

    @property
    def is_chain(self) -> bool:
        """Whether each joint follows the one before it."""
        return self.parents == tuple(range(-1, len(self.parents) - 1))

    def robot(self, name: str, joint_names: Sequence[str]) -> Robot:
        """A tree of this geometry without inertias."""
        # Names of links do not matter to the dynamics, and files do not keep them.
        rows = zip(joint_names, self.types, self.parents, self.parent_from_joint, strict=True)
        joints = tuple(
            Joint(joint_name, own.name, parent, placement, constants=own.constants)
            for joint_name, own, parent, placement in rows
        )
        links = tuple(Link(f"link{i + 1}", Inertia(np.zeros(10))) for i in range(len(joints)))
        return Robot(name, joints, links, self.gravity)


@checked_methods
@dataclass(frozen=True, eq=False, repr=False)
class ClosedFormModel(Displayed):
    """tau_i = y(q, qd, qdd) P_i theta: terms, base parameters, and the map from one to the other.

    Attributes:
        robot_name, joint_names: whose dynamics these are.
        geometry: what they were derived for.
        exponents: (5 n, p) the paper's E over q, sin q, cos q, qd, qdd; q from the zeros of `coordinates`.
        sparse_reduction: (n p, l) sparse; row i p + j gives the coefficient of term j in torque i from theta.
        joint_terms: (n, 3, l) coefficients of qd_i, sign(qd_i) and 1 in torque i, beside E.
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
        products, matrix, n = self._products, self._term_to_regressor, self.n_joints

        def core(q: AnyArray, qd: AnyArray, qdd: AnyArray) -> AnyArray:
            Y = (matrix @ products.terms(q, qd, qdd)).reshape(n, self.n_base, q.shape[1])
            # The functions of Fv, Fc and Fo, which stand beside E.
            for k, values in enumerate((qd, np.sign(np.real(qd)), np.ones_like(qd))):
                if self.joint_terms[:, k].any():
                    Y = Y + self.joint_terms[:, k, :, None] * values[:, None]
            return Y

        return batched(n, core, products.states_per_slice, q=q, qd=qd, qdd=qdd)

    def kinematics(self, frame: str | None = None) -> ClosedFormKinematics:
        """Placement and Jacobian of a frame in closed form, functions of order one.  [Lloyd2021, Lemmas 1, 2]

        Args:
            frame: name of a frame or link; None is the tool (of a model from a file, the last link).

        Raises:
            UnknownNameError: no such frame.
        """
        found: ClosedFormKinematics = deferred("ClosedFormModel.kinematics")(self, frame)
        return found

    def load_regressor(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> Array:
        """Y of a body at the tool, (..., n, 10): what its ten parameters, in the tool's axes, add to the torque.

        Raises:
            ShapeError: a last dimension differs from n, or a value is not finite.
            ModelError: an assumption about the tool's link rules a load out.
        """
        return self.regressor(q, qd, qdd) @ self._load_grouping()

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
            friction: (n, 3) viscous, Coulomb and offset torque of each joint to carry beside theta, instead of those.
            drives: further drive terms to carry beside theta, instead of the robot's.

        Raises:
            ModelError: the robot has another geometry, an assumption rules a load out, or friction depends on load and
                theta cannot tell what links weigh from offsets.
            ShapeError: theta or friction has the wrong shape.
        """
        # A robot is checked against the geometry; plain numbers are taken as they are.
        theta = self.theta(values) if isinstance(values, Robot) else self.base.checked(values)
        if payload is not None:
            theta = read_only(theta + product(self._load_grouping(), payload.parameters))
        if friction is not None:
            carried = fixed_array(friction, (self.n_joints, 3), "friction")
        else:
            carried = self._carried(values) if isinstance(values, Robot) else read_only(np.zeros((self.n_joints, 3)))
        # With friction given, the robot's own is replaced, not added to.
        if drives is None:
            drives = terms_beside(values) if isinstance(values, Robot) else ()
        self.base.refuse_load(drives, "bind")
        # A joint that is held has no velocity, hence no viscous and no Coulomb friction; its offset still acts.
        carried = self._felt(carried)
        # Summed in a fixed order: bound models are written to files and searched over.
        coefficients = sparse_product(self.sparse_reduction, theta).reshape(self.n_joints, self.n_terms)
        return BoundModel(
            name=self.robot_name,
            joint_names=self.joint_names,
            exponents=self.exponents,
            coefficients=read_only(coefficients),
            joint_coefficients=read_only(product(self.joint_terms, theta) + carried),
            carried=carried,
            base=self.base,
            theta=theta,
            model=self,
            drives=tuple(drives),
        )

    def _felt(self, friction: Array) -> Array:
        """(n, 3) friction without what depends on velocities of fixed joints."""
        felt = np.zeros_like(friction)
        felt[list(self.moving)] = friction[list(self.moving)]
        felt[:, 2] = friction[:, 2]
        return read_only(felt)

    def _carried(self, robot: Robot) -> Array:
        """(n, 3) friction of the robot that takes no part here; warns of links and rotors that take none."""
        # By name: the robot may have further drive terms, or fewer, than the one that was derived.
        absent = np.array(robot.parameters)
        held = {*self.base.columns, *np.flatnonzero(self.ties.any(axis=0))}  # of what is assumed away `theta` warns
        known = {self.base.layout.names[k] for k in held}
        beside = set(columns_beside(robot))
        absent[[k for k, name in enumerate(robot.parameter_names) if name in known or k in beside]] = 0.0
        # A view: what is left in `absent` afterwards are links and rotors.
        of_joints = robot.layout.by_joint(absent)
        friction = read_only(of_joints[:, 1:].copy())
        of_joints[:, 1:] = 0.0
        if absent.any():
            names = [robot.parameter_names[k] for k in np.flatnonzero(absent)]
            shown = ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")
            warnings.warn(
                f"{shown} of {visible(robot.name)} take no part in this model and are missing from its torques; derive "
                'it with include="declared"',
                stacklevel=4,
            )
        return friction

    def theta(self, robot: Robot) -> Array:
        """(l,) base parameters of a robot of this geometry; warns when it breaks an assumption.

        Raises:
            ModelError: the robot has another geometry.
        """
        # Compared as robots, so that a change in any placement is named by its joint.
        derived_for = self.geometry.robot(self.robot_name, self.joint_names)
        differs = difference(derived_for, robot)
        if differs:
            raise ModelError(
                f"bind: the model of {self.robot_name} was derived for another robot than {robot.name}, which differs "
                f"in {differs}",
                argument="robot",
                value=robot,
                remedy=f"call {call('derive')} on this robot",
            )
        parameters = self._standard(robot)
        # Relative to the terms of each relation: parameters span many orders of magnitude.
        sizes = product(np.abs(self.ties), np.abs(parameters))
        errors = np.abs(product(self.ties, parameters)) / np.maximum(sizes, 1e-300)
        if (errors > MAX_BREACH_OF_ASSUMPTION).any():
            worst = self.ties[int(np.argmax(errors))]
            # The tied parameter has coefficient one in its row.
            name = self.base.layout.names[int(np.argmax(worst == 1.0))]
            broken = int((errors > MAX_BREACH_OF_ASSUMPTION).sum())
            warnings.warn(
                f"{visible(robot.name)} breaks {broken} of the assumptions of this model (one is about {name}); what "
                "they leave out is missing from its torques",
                stacklevel=3,
            )
        return self.base.values(parameters)

    def _standard(self, robot: Robot) -> Array:
        """(base.layout.n,) the robot's parameters; its further drive terms may be others than those derived with."""
        own = dict(zip(robot.parameter_names, robot.parameters.tolist(), strict=True))
        # Terms that the model knows and the robot lacks are zero.
        return np.array([own.get(name, 0.0) for name in self.base.layout.names])

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

    def _load_grouping(self) -> Array:
        if self.load_grouping is None:
            raise ModelError(
                f"payload: the model of {self.robot_name} assumes something about the tool's link; derive it "
                "without that assumption, since a load can have any inertia"
            )
        return self.load_grouping

    def __repr__(self) -> str:
        joints = counted(self.n_joints, "joint")
        return f"ClosedFormModel({self.robot_name!r}, {joints}, p = {self.n_terms}, l = {self.n_base})"

    def __str__(self) -> str:
        return structure_summary(self)
