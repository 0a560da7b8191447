"""BoundModel: a closed form with numbers, ready to evaluate.  [Lloyd2021, Eqs. 46, 59-64]"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tauform.arguments import Natural, Tier, checked_methods
from tauform.arrays import AnyArray, Array
from tauform.closedform.base.baseset import BaseParameters
from tauform.closedform.coordinates import Coordinates
from tauform.closedform.model.beside import Beside, joint_torque, virtual_robot
from tauform.closedform.model.equations import (
    FRICTION_NAMES,
    NOTEBOOK_DIGITS,
    NOTEBOOK_TERMS,
    aligned,
    bound_equations,
    shown_in_notebook,
)
from tauform.closedform.model.geometry import Geometry
from tauform.closedform.model.term_by_term import TermByTerm
from tauform.closedform.model.terms_by_kind import Breakdown, TermsByKind
from tauform.closedform.notation import LATEX
from tauform.closedform.terms.monomials import Projection
from tauform.deferred import deferred
from tauform.description.drives.drive import Drive
from tauform.description.robot import Robot
from tauform.messages import counted
from tauform.rigidbody.sweeps.evaluation import batched

if TYPE_CHECKING:
    from tauform.closedform.model.model import ClosedFormModel
    from tauform.closedform.profile import Profile
    from tauform.closedform.reduction.contribution import Contributions
    from tauform.closedform.reduction.tradeoff import Tradeoff
    from tauform.realtime.reduction.reduce import Reduction


@checked_methods
@dataclass(frozen=True, eq=False, repr=False)
class BoundModel:
    """tau_i = sum_j coefficients[i, j] y_j(q, qd, qdd) + joint terms, the y_j products of powers of the generators.

    A joint that `derive(fixed=)` holds stays at its position: its entries of q, qd and qdd, and of tau in forward
    dynamics, are not read. Its torque is what holds it there; its acceleration is zero.

    Attributes:
        name: the robot.
        joint_names: (n,) coordinates in q.
        exponents: (5 n, p) the paper's E over q, sin q, cos q, qd, qdd; q from the zeros of `coordinates`.
        coefficients: (n, p) the paper's Phi_b, transposed.
        joint_coefficients: (n_bodies, 3) viscous, Coulomb and offset torque of each joint, followers included.
        carried: (n_bodies, 3) the part of these that theta does not hold: known friction beside it.
        base: meaning of theta.
        theta: (l,) the base parameters that the coefficients were made from.
        model: the structure that the numbers were put into.
        drives: further drive terms beside theta: springs, friction that is not Fv qd + Fc sign(qd) + Fo.
    """

    name: str
    joint_names: tuple[str, ...]
    exponents: NDArray[np.int8]
    coefficients: Array
    joint_coefficients: Array
    carried: Array
    base: BaseParameters
    theta: Array
    model: ClosedFormModel
    drives: tuple[Drive, ...] = ()

    @property
    def n_joints(self) -> int:
        """Length of q."""
        return len(self.joint_names)

    @property
    def n_terms(self) -> int:
        """The paper's p."""
        return int(self.exponents.shape[1])

    @property
    def coordinates(self) -> Coordinates:
        """What the functions of E are taken of."""
        return self.model.coordinates

    @property
    def geometry(self) -> Geometry:
        """What the model was derived for."""
        return self.model.geometry

    @property
    def moving(self) -> tuple[int, ...]:
        """Indices of the joints that are not fixed."""
        return self.model.moving

    def inverse_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        temperature: ArrayLike | None = None,
        *,
        tier: Tier | None = None,
    ) -> Array:
        """Torques tau = D qdd + C qd + g + friction, all drive terms included, (..., n).  [Lloyd2021, Eq. 46]

        Args:
            q: (..., n) joint positions [rad or m].
            qd: (..., n) joint velocities.
            qdd: (..., n) joint accelerations.
            temperature: (..., n) of the joints [degrees Celsius]; needed where friction depends on it.
            tier: 1 computes term by term in NumPy, 2 by a compiled kernel, 3 by one that was searched for the fewest
                operations. None takes the best there is; a model with dropped terms or fixed joints has 1 only.

        Raises:
            ShapeError: a last dimension differs from n, or a value is not finite.
            DescriptionError: friction depends on temperature, and none is given.
        """
        return self._answered("inverse_dynamics", {"q": q, "qd": qd, "qdd": qdd}, {"temperature": temperature}, tier)

    def mass_matrix(self, q: ArrayLike, *, tier: Tier | None = None) -> Array:
        """Mass matrix D(q), (..., n, n), rotors included.  [Lloyd2021, Eq. 64]

        Rows and columns of fixed joints are the robot's too, except where both joints are fixed: what multiplies only
        accelerations that are zero is not part of the model, and is zero here.

        Raises:
            ShapeError: the last dimension differs from n, or a value is not finite.
        """
        return self._answered("mass_matrix", {"q": q}, {}, tier)

    def coriolis_matrix(self, q: ArrayLike, qd: ArrayLike, *, tier: Tier | None = None) -> Array:
        """C(q, qd) from Christoffel symbols, (..., n, n): C qd is the velocity torque and D' - 2 C is skew.

        Entries between fixed joints are zero, as in the mass matrix.

        Raises:
            ShapeError: a last dimension differs from n, or a value is not finite.
        """
        return self._answered("coriolis_matrix", {"q": q, "qd": qd}, {}, tier)

    def gravity_torque(self, q: ArrayLike, *, tier: Tier | None = None) -> Array:
        """Torque that holds the arm still, without friction, (..., n).

        A constant offset of a slide is no different from gravity: where theta cannot tell them apart it counts here.

        Raises:
            ShapeError: the last dimension differs from n, or a value is not finite.
        """
        return self._answered("gravity_torque", {"q": q}, {}, tier)

    def induced_torque(
        self, q: ArrayLike, qd: ArrayLike, temperature: ArrayLike | None = None, *, tier: Tier | None = None
    ) -> Array:
        """Torque without acceleration: C qd + g + friction, (..., n).  [Lloyd2021, Eq. 62]

        Raises:
            ShapeError: a last dimension differs from n, or a value is not finite.
        """
        return self._answered("induced_torque", {"q": q, "qd": qd}, {"temperature": temperature}, tier)

    def forward_dynamics(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        tau: ArrayLike,
        temperature: ArrayLike | None = None,
        *,
        tier: Tier | None = None,
    ) -> Array:
        """Accelerations D^-1 (tau - induced torque) by the factors L^T D L, (..., n).  [Lloyd2021, Eq. 59]

        Raises:
            ShapeError: a last dimension differs from n, or a value is not finite.
            SingularMassMatrixError: the mass matrix is not positive definite: theta is not that of a physical robot.
        """
        return self._answered("forward_dynamics", {"q": q, "qd": qd, "tau": tau}, {"temperature": temperature}, tier)

    def _answered(self, function: str, states: Any, options: Any, tier: Any) -> Array:
        # One way in for all functions: tiers, checks and kernels live in `fast/`, above this room.
        return deferred("BoundModel._answered")(self, function, states, options, tier)

    @property
    def textbook(self) -> TermByTerm:
        """The same functions, always term by term in NumPy; for any scalar, with the same bits in every call."""
        return TermByTerm(self)

    def save_mat(self, path: str | PathLike[str]) -> None:
        """Write E, P and Theta as the authors' MATLAB toolbox takes them: PSDM.inverseDynamics(E, P, Theta, ...).

        E is (5 n, p), P is (p, l, n) with terms of gravity per unit of the toolbox's g, Theta is (l, 1). Friction is
        not part of it.

        Raises:
            ModelError: the folder does not exist, or the name does not end in .mat.
        """
        deferred("BoundModel.save_mat")(self, path)

    def breakdown(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, temperature: ArrayLike | None = None) -> Breakdown:
        """The torque by origin: inertial, Coriolis, centrifugal, gravity, friction (all drive terms but rotors).

        Raises:
            ShapeError: a last dimension differs from n, or a value is not finite.
        """
        # Not through tiers: kernels know the sum alone, not its parts.
        states = {"q": q, "qd": qd, "qdd": qdd}
        sliced, terms = self.terms.everything.states_per_slice, self.terms.everything

        def friction(q: AnyArray, qd: AnyArray, qdd: AnyArray, temperature: AnyArray | None = None) -> AnyArray:
            # Only load friction reads the torque of links and rotors, which costs as much as the whole model.
            rigid = terms.torque(q, qd, qdd) if self.beside.is_loaded else 0 * q
            # + 0 * q: the shape (n, N) and scalar of q also where there is no friction.
            return self.friction_torque(q, qd, temperature, rigid) + 0 * q

        def part(terms: Projection) -> Array:
            # Every part runs in the slices of the whole model.
            return batched(self.n_joints, terms.torque, sliced, **states)

        return Breakdown(
            inertial=part(self.terms.inertial),
            coriolis=part(self.terms.coriolis),
            centrifugal=part(self.terms.centrifugal),
            gravity=part(self.terms.gravity),
            friction=batched(self.n_joints, friction, sliced, **states, **self.beside.temperatures(temperature)),
        )

    def contributions(
        self, profile: Profile | Literal["slow", "fast"] | None = None, n_states: int = 10_000, seed: Natural = 0
    ) -> Contributions:
        """The share of the torque that each term has, over states of a profile.  [Lloyd2021, Eqs. 65-66, Figure 2]

        Args:
            profile: states, or the paper's "slow" or "fast" ones, slow if not given.
            n_states: how many states to sample.
            seed: of the states.

        Raises:
            ModelError: fewer than one state, or a profile of another robot.
        """
        return deferred("BoundModel.contributions")(self, profile, n_states, seed)

    def tradeoff(
        self,
        profile: Profile | Literal["slow", "fast"] | None = None,
        n_levels: int = 10,
        n_states: int = 100_000,
        seed: Natural = 0,
    ) -> Tradeoff:
        """Accuracy and time of factored programs with fewer and fewer terms.  [Lloyd2021, Figure 7]

        Args:
            profile: as in `contributions`.
            n_levels: how many models, in even ratios of terms kept.
            n_states: fresh states that errors are measured at.
            seed: of the states.

        Raises:
            ModelError: fewer than one state or two levels, or a profile of another robot.
        """
        return deferred("BoundModel.tradeoff")(self, profile, n_levels, n_states, seed)

    def with_terms(
        self,
        n_terms: int,
        profile: Profile | Literal["slow", "fast"] | None = None,
        refit: bool = True,
        seed: Natural = 0,
        whole_sums: bool | None = None,
    ) -> BoundModel:
        """The model with the terms that contribute most; `reduce` finds how many a tolerance needs.

        An entry of the mass matrix stays with its mirror image, so that a few terms more may remain.

        Args:
            n_terms: how many to keep.
            profile: states that the contributions are measured at, as in `contributions`.
            refit: fit theta to the torques of the whole model there.
            seed: of the states.
            whole_sums: keep also terms that a factored program has for nothing, since other terms need the same sums.
                Whichever model takes fewer operations if not given: they then fall as terms leave. False keeps no
                more terms than asked for.

        Raises:
            ModelError: a number of terms that the model does not have, or a profile of another robot.
        """
        return deferred("BoundModel.with_terms")(self, n_terms, profile, refit, seed, whole_sums)

    def reduce(
        self,
        profile: Profile | Literal["slow", "fast"] | None = None,
        tolerance: float | Sequence[float] = 0.01,
        confidence: float = 0.999,
        **options: Any,
    ) -> Reduction:
        """The cheapest program whose relative error stays within a tolerance for a share of the profile's states.

        Args:
            profile: states that the program will meet, or "slow" or "fast" ones within the joint limits; slow ones if
                not given.
            tolerance: of |tau - tau_exact| / |tau_exact|, or one per joint.
            confidence: share of the states for which it must hold.
            options: of `tauform.reduce`: norm, function, routes, still, definite, n_fresh, seed, threads, exact,
                n_starts, client, progress.
        """
        return deferred("BoundModel.reduce")(self, profile, tolerance, confidence, **options)

    def equations(self, max_terms: int = 300, digits: int | None = None) -> tuple[str, ...]:
        """tau_i of each joint as a line of text that Python can evaluate, friction included.

        Args:
            max_terms: a model with more terms is refused; such equations are not for reading.
            digits: of numbers; by default the fewest that are the same number but for its rounding.

        Raises:
            ModelError: the model has more than max_terms terms.
        """
        return bound_equations(self, max_terms, digits)

    def to_latex(self, max_terms: int = 300, digits: int | None = None) -> str:
        """The equations as a LaTeX align environment (package amsmath); s_1 is sin q_1, c_1 is cos q_1.

        Raises:
            ModelError: the model has more than max_terms terms.
        """
        return aligned(bound_equations(self, max_terms, digits, LATEX))

    def _repr_latex_(self) -> str | None:
        # Notebooks ask unbidden: a long equation would fill the page, and load friction has no equation of its own.
        if self.n_terms > NOTEBOOK_TERMS or self.beside.is_loaded:
            return None
        return shown_in_notebook(bound_equations(self, NOTEBOOK_TERMS, NOTEBOOK_DIGITS, LATEX))

    @cached_property
    def terms(self) -> TermsByKind:
        """The terms of E by what they multiply, each ready to evaluate."""
        return TermsByKind(self.exponents, self.coefficients, self.moving, self.coordinates)

    @cached_property
    def beside(self) -> Beside:
        """The drive terms, to be evaluated beside the terms of E."""
        # Springs between links need transforms, so that the terms get a robot without inertias.
        geometry = self.geometry.robot(self.name, self.joint_names)
        # Springs of fixed joints still pull, at the position where these are held.
        fixed = {self.joint_names.index(name): position for name, position in self.model.fixed.items()}
        return Beside.of(geometry, self.drives, fixed)

    def friction_torque(self, q: AnyArray, qd: AnyArray, temperature: AnyArray | None, rigid: AnyArray) -> AnyArray:
        """(n, N) torque of all drive terms but rotors, where links and rotors take `rigid`; arrays of numbers."""
        # Fv qd + Fc sign(qd) + Fo are most robots' only friction, and cost no robot to be asked.
        friction = joint_torque(self, self.joint_coefficients, qd)
        return friction + self.beside.torque(q, qd, temperature, rigid) if self.beside else friction

    def driving_torque(self, q: AnyArray, qd: AnyArray, tau: AnyArray, temperature: AnyArray | None) -> AnyArray:
        """(n, N) what of tau is left for links and rotors; arrays of numbers."""
        # Fv qd + Fc sign(qd) + Fo depend on the velocity only: taken off before load friction is solved for.
        driving = tau - joint_torque(self, self.joint_coefficients, qd)
        return self.beside.driving(q, qd, temperature, driving) if self.beside else driving

    def as_robot(self) -> Robot:
        """A robot of virtual links that hold theta, and the friction: of these dynamics, unless terms were left out.

        Joints that are fixed here can move there. A model that was read from a file knows no joint limits.
        """
        return virtual_robot(self)

    def __repr__(self) -> str:
        beside = [name for name, values in zip(FRICTION_NAMES, self.carried.T, strict=True) if values.any()]
        # dict.fromkeys names each shape once, however many joints have it.
        beside += dict.fromkeys("smooth Coulomb" if d.shape == "coulomb" else d.shape for d in self.drives)
        carried = f"; carries friction beside theta: {', '.join(beside)}" if beside else ""
        counts = f"{counted(self.n_joints, 'joint')}, {counted(self.n_terms, 'term')}"
        return f"BoundModel({self.name!r}, {counts}{carried})"
