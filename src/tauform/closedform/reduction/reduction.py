"""Closed forms with terms left out and theta refitted.  [Lloyd2021, section 4.3]

Terms go by their contribution over a profile. Entries of the mass matrix go in pairs, so that what is left of it
stays symmetric.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from tauform.arrays import Array, Mask, read_only
from tauform.closedform.generators import Generators
from tauform.closedform.model.beside import joint_torque
from tauform.closedform.model.bound import BoundModel
from tauform.closedform.model.equations import term_kinds
from tauform.closedform.model.model import ClosedFormModel
from tauform.closedform.profile import Profile, States
from tauform.closedform.reduction.contribution import Speed, known_profile, ranked_terms
from tauform.closedform.reduction.regrouping import Regrouping, all_rows
from tauform.closedform.reduction.streaming import sizes
from tauform.closedform.terms.monomials import distinct_columns
from tauform.errors import ModelError
from tauform.portable.factorization import least_squares
from tauform.portable.products import product
from tauform.rigidbody.load import load_gains

Completed = Callable[[Mask], Mask]
ACCELERATION = 1
# States for the contributions, and for the refit of theta.
CONTRIBUTION_STATES, FIT_STATES = 1000, 400
# Directions of theta this much weaker than the strongest are not moved by the refit.
FIT_TOLERANCE = 1e-6


def relative_error(found: Array, exact: Array, confidence: float, joints: Array | None = None) -> float:
    """The error |found - exact| / |exact| that this share of the states stays below.  [Lloyd2021, Eq. 67]

    Args:
        joints: (n,) weights of the joints' errors, in place of 1 / |exact|.
    """
    return float(np.quantile(relative_errors(found, exact, joints), confidence))


def relative_errors(found: Array, exact: Array, joints: Array | None = None) -> Array:
    """(N,) the error |found - exact| / |exact| of each state, or weighed by joints."""
    # Limits of each joint in place of the torque's norm: a wrist has its own.
    if joints is not None:
        return np.linalg.norm((found - exact) * joints, axis=1)
    errors: Array = np.linalg.norm(found - exact, axis=1) / sizes(exact)
    return errors


@dataclass(frozen=True, eq=False)
class Refit:
    """States at which theta is refitted to the full model.

    Attributes:
        weights: (N, n), or (1, n) where the joints have weights of their own.
        wanted: (N, n) torque that theta is to make, weighed.
    """

    states: States
    weights: Array
    wanted: Array

    @classmethod
    def at(cls, bound: BoundModel, states: States, joints: Array | None = None) -> Refit:
        """The full model at some states; joints are (n,) weights in place of 1 / |tau|."""
        exact = bound.textbook.inverse_dynamics(*states)
        # Rows are weighted as the error is measured, relative to each state's torque.
        weights = 1.0 / sizes(exact)[:, None] if joints is None else joints[None]
        return cls(states, weights, (exact - _carried_torque(bound, states)) * weights)

    def theta(self, smaller: ClosedFormModel, theta: Array) -> Array:
        """theta of a smaller model, moved to fit."""
        Y = smaller.regressor(*self.states[:3]) * self.weights[..., None]
        return refitted(Y.reshape(-1, len(theta)), self.wanted.reshape(-1), theta)


def with_terms(
    bound: BoundModel,
    kept: Mask,
    refit: Refit | None = None,
    completed: Completed | None = None,
) -> BoundModel:
    """The model with the kept terms only, its base parameters regrouped to those that these terms tell apart.

    Args:
        kept: (p,) terms to keep.
        refit: where theta is refitted to the full model; theta stays as it is if not given.
        completed: function of (n, p) entries that adds further ones, such as those that cost a program nothing.
    """
    smaller, regrouping = _restricted(bound.model, _entries(bound.exponents, kept, completed))
    # The start of the refit: exact where the terms that left told nothing apart.
    theta = product(regrouping, bound.theta)
    if refit is not None and len(theta):
        theta = refit.theta(smaller, theta)
    return smaller.bind(theta, friction=bound.carried, drives=bound.drives)


def largest_terms(
    bound: BoundModel,
    n_terms: int,
    profile: Profile | Speed | None = None,
    refit: bool = True,
    seed: int = 0,
    completed: Completed | None = None,
) -> BoundModel:
    """The model with its largest terms alone; see `BoundModel.with_terms`.

    Args:
        completed: adds entries that stay with those kept, as in `with_terms`.

    Raises:
        ModelError: a number of terms that the model does not have.
    """
    if not 1 <= n_terms <= bound.n_terms:
        raise ModelError(f"n_terms: expected 1 to {bound.n_terms}, the terms of {bound.name}, got {n_terms}")
    rng, chosen = np.random.default_rng(seed), known_profile(bound, profile)
    kept = np.zeros(bound.n_terms, dtype=bool)
    kept[ranked_terms(bound, chosen, CONTRIBUTION_STATES, rng)[:n_terms]] = True
    return with_terms(bound, kept, Refit.at(bound, chosen.sample(FIT_STATES, rng)) if refit else None, completed)


def _carried_torque(bound: BoundModel, states: States) -> Array:
    """(N, n) torque of what is carried beside theta."""
    friction = joint_torque(bound, bound.carried, states[1].T).T
    if not bound.beside:
        return friction
    q, qd, *_ = (x.T for x in states)
    temperature = states[3].T if len(states) > 3 else None
    # load friction is that of the full model: the terms that are left make nearly the same torque
    beside: Array = bound.beside.torque(q, qd, temperature, rigid_torque(bound, states).T).T
    return friction + beside


def rigid_torque(bound: BoundModel, states: States) -> Array:
    """(N, n) torque of links and rotors alone."""
    rigid: Array = bound.textbook.inverse_dynamics(*states) - bound.breakdown(*states).friction
    return rigid


def load_gain(bound: BoundModel, states: States) -> Array:
    """(N, n) change of the torque per change of what links and rotors take; 1 but for friction that depends on load."""
    if not bound.beside.is_loaded:
        return np.ones_like(states[0])
    gain: Array = 1 + load_gains(bound.beside.robot, states[1], rigid_torque(bound, states))
    return gain


def _entries(exponents: NDArray[np.int8], kept: Mask, completed: Completed | None) -> Mask:
    """(n, p) coefficients to keep: those of the kept terms, and what must or may stay with them."""
    n = Generators.of(exponents).n
    # Completing may break the symmetry and mirroring may ask for more: repeat until neither adds anything.
    entries = _mirrored(exponents, np.tile(kept, (n, 1)))
    while completed is not None:
        more = _mirrored(exponents, completed(entries))
        if np.array_equal(more, entries):
            break
        entries = more
    return entries


def _mirrored(exponents: NDArray[np.int8], entries: Mask) -> Mask:
    """(n, p) entries; one of the mass matrix stays if it is kept on either side of the diagonal."""
    rows = Generators.of(exponents)
    of_inertia = np.flatnonzero(term_kinds(exponents) == ACCELERATION)
    if not len(of_inertia):
        return entries
    # Entries of M with the same function of q form a matrix of their own, which must stay symmetric.
    monomial = distinct_columns(exponents[rows.functions, of_inertia])[1]
    # The acceleration that a term multiplies is its column of the mass matrix; the joint is its row.
    column = np.argmax(exponents[rows.accelerations, of_inertia], axis=0)
    matrices = np.zeros((monomial.max() + 1, rows.n, rows.n), dtype=bool)
    matrices[monomial, :, column] = entries[:, of_inertia].T
    matrices |= np.swapaxes(matrices, 1, 2)
    mirrored = entries.copy()
    mirrored[:, of_inertia] = matrices[monomial, :, column].T
    return mirrored


def _restricted(model: ClosedFormModel, entries: Mask) -> tuple[ClosedFormModel, Array]:
    """The structure with some coefficients only, and the matrix from its old base parameters to the new ones."""
    rows = scipy.sparse.diags_array(entries.reshape(-1).astype(np.float64)) @ model.sparse_reduction
    rows = scipy.sparse.csr_array(rows)
    rows.eliminate_zeros()
    # Terms that no joint keeps fall out of E.
    used = np.flatnonzero(np.diff(rows.indptr).reshape(model.n_joints, -1).any(axis=0))
    chosen = (np.arange(model.n_joints)[:, None] * model.n_terms + used).reshape(-1)
    left = rows[chosen]
    regrouping = Regrouping.of(model.base, all_rows(left, model.joint_terms))
    load = model.load_grouping
    smaller = replace(
        model,
        exponents=model.exponents[:, used],
        sparse_reduction=left[:, regrouping.kept],
        joint_terms=read_only(model.joint_terms[:, :, regrouping.kept]),
        base=regrouping.base(model.base),
        load_grouping=None if load is None else read_only(product(regrouping.matrix, load)),
    )
    return smaller, regrouping.matrix


def refitted(Y: Array, tau: Array, theta: Array) -> Array:
    """theta moved so that Y theta fits tau; directions that the states hardly show stay where they were."""
    # Columns without units, so that the tolerance means the same for masses and for inertias.
    scale = np.linalg.norm(Y, axis=0)
    scale[scale == 0] = 1.0
    change = least_squares(Y / scale, tau - product(Y, theta), FIT_TOLERANCE)
    fitted: Array = theta + change / scale
    return fitted
