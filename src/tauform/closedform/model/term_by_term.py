"""Closed form, term by term in NumPy: what its compiled kernels are compared with.  [Lloyd2021, Eqs. 46, 59-64]"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from tauform.arrays import AnyArray, Array
from tauform.closedform.terms.matrices import coriolis_matrix, forward_dynamics, mass_matrix
from tauform.errors import SingularMassMatrixError
from tauform.rigidbody.load import refuse_strong_load
from tauform.rigidbody.sweeps.evaluation import batched
from tauform.rigidbody.sweeps.pivots import PivotError
from tauform.wording import call

if TYPE_CHECKING:
    from tauform.closedform.model.bound import BoundModel


@dataclass(frozen=True, eq=False)
class TermByTerm:
    """Functions of a bound model, each as the method of that name; they take any scalar, and decide searches."""

    bound: BoundModel

    def inverse_dynamics(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, temperature: ArrayLike | None = None
    ) -> Array:
        """Torques tau = D qdd + C qd + g + friction."""
        bound, terms = self.bound, self.bound.terms.everything

        def core(q: AnyArray, qd: AnyArray, qdd: AnyArray, temperature: AnyArray | None = None) -> AnyArray:
            # First the rigid torque: load friction depends on it.
            rigid = terms.torque(q, qd, qdd)
            return rigid + bound.friction_torque(q, qd, temperature, rigid)

        given = bound.beside.temperatures(temperature)
        return batched(bound.n_joints, core, terms.states_per_slice, q=q, qd=qd, qdd=qdd, **given)

    def mass_matrix(self, q: ArrayLike) -> Array:
        """Mass matrix D(q)."""
        bound, terms = self.bound, self.bound.terms.inertial
        return batched(bound.n_joints, lambda q: mass_matrix(terms, q, bound.moving), terms.states_per_slice, q=q)

    def coriolis_matrix(self, q: ArrayLike, qd: ArrayLike) -> Array:
        """C(q, qd) from Christoffel symbols."""
        bound, terms, rates = self.bound, self.bound.terms.velocity, self.bound.terms.inertial_rate

        def core(q: AnyArray, qd: AnyArray) -> AnyArray:
            return coriolis_matrix(terms, rates, q, qd, bound.moving)

        return batched(bound.n_joints, core, terms.states_per_slice, q=q, qd=qd)

    def gravity_torque(self, q: ArrayLike) -> Array:
        """Torque that holds the arm still."""
        terms = self.bound.terms.gravity
        return batched(self.bound.n_joints, lambda q: terms.torque(q, 0 * q, 0 * q), terms.states_per_slice, q=q)

    def induced_torque(self, q: ArrayLike, qd: ArrayLike, temperature: ArrayLike | None = None) -> Array:
        """Torque without acceleration."""
        bound, terms = self.bound, self.bound.terms.induced

        def core(q: AnyArray, qd: AnyArray, temperature: AnyArray | None = None) -> AnyArray:
            rigid = terms.torque(q, qd, 0 * q)
            return rigid + bound.friction_torque(q, qd, temperature, rigid)

        given = bound.beside.temperatures(temperature)
        return batched(bound.n_joints, core, terms.states_per_slice, q=q, qd=qd, **given)

    def forward_dynamics(
        self, q: ArrayLike, qd: ArrayLike, tau: ArrayLike, temperature: ArrayLike | None = None
    ) -> Array:
        """Accelerations D^-1 (tau - induced torque)."""
        # Two evaluations of shared monomials: D from the terms in qdd, everything else from the rest.
        bound, inertial, induced = self.bound, self.bound.terms.inertial, self.bound.terms.induced
        refuse_strong_load(bound.beside.robot)

        def core(q: AnyArray, qd: AnyArray, tau: AnyArray, temperature: AnyArray | None = None) -> AnyArray:
            driving = bound.driving_torque(q, qd, tau, temperature)
            rest = driving - induced.torque(q, qd, 0 * q)
            return forward_dynamics(mass_matrix(inertial, q, bound.moving), rest, bound.moving)

        # The narrower of both, since a slice runs through each.
        slices = min(inertial.states_per_slice, induced.states_per_slice)
        vectors = {"q": q, "qd": qd, "tau": tau, **bound.beside.temperatures(temperature)}
        try:
            return batched(bound.n_joints, core, slices, **vectors)
        except PivotError as error:
            # Pivots count moving joints only.
            joint = bound.joint_names[bound.moving[error.index]]
            raise SingularMassMatrixError(
                f"the mass matrix of {bound.name!r} is not positive definite: joint {joint!r} has no inertia, or an "
                "unphysical one; theta is not that of a physical robot, whose nearest "
                f"{call('feasible_parameters')} finds (inverse dynamics still hold)"
            ) from None
