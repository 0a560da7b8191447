"""Mass matrices that no links have: M(q) is linear in the base parameters, and positive definite for any links."""

from __future__ import annotations

import numpy as np

from tauform.arrays import AnyArray, Array
from tauform.identification.fitted.model import FittedModel

# Postures at which the inertias of joints are looked at, and the share of the largest that is no rounding.
N_POSTURES, MAX_ROUNDING_SHARE = 100, 1e-6
# Part of a mass matrix's largest eigenvalue below which the smallest is zero.
MIN_EIGENVALUE_SHARE = 1e-12


def postures(fit: FittedModel) -> Array:
    """(N_POSTURES, n) within the joints' limits."""
    joints = {joint.name: joint.limits for joint in fit.robot.joints}
    limits = [joints[name] for name in fit.robot.joint_names]
    low = [limit.lower if np.isfinite(limit.lower) else -np.pi for limit in limits]
    high = [limit.upper if np.isfinite(limit.upper) else np.pi for limit in limits]
    return np.random.default_rng(0).uniform(low, high, (N_POSTURES, len(limits)))


def negative_inertias(fit: FittedModel) -> AnyArray:
    """(n,) whether a joint's inertia M_jj is negative in some posture, by more than three standard deviations.

    M(q) of any links is positive definite in every posture, and its entries are linear in the base parameters.
    """
    n = fit.robot.n_joints
    # Any angles: a negative inertia is a fault outside of the limits too.
    q = np.random.default_rng(0).uniform(-np.pi, np.pi, (N_POSTURES, n))
    # (postures, n, p): columns of the diagonal entries M_jj.
    rows = np.einsum("kjjp->kjp", mass_matrix_columns(fit, q)).reshape(N_POSTURES * n, -1)
    p = rows.shape[1]
    inertia = rows @ fit.values[:p]
    # var M_jj = row cov row^T.
    deviation = np.sqrt(np.maximum(np.einsum("kp,pq,kq->k", rows, fit.covariance[:p, :p], rows), 0.0))
    negative = inertia < -np.maximum(3 * deviation, MAX_ROUNDING_SHARE * np.abs(inertia).max())
    return np.asarray(negative.reshape(N_POSTURES, n).any(axis=0))


def indefinite_postures(fit: FittedModel) -> int:
    """Count the postures, of 100 within the joints' limits, where the fitted mass matrix is not positive definite."""
    if fit.physical is not None:  # physically consistent links
        return 0
    columns = mass_matrix_columns(fit, postures(fit))
    eigenvalues = np.linalg.eigvalsh(columns @ fit.values[: columns.shape[-1]])
    return int((eigenvalues[:, 0] < -MIN_EIGENVALUE_SHARE * eigenvalues[:, -1]).sum())


def mass_matrix_columns(fit: FittedModel, q: Array) -> Array:
    """(K, n, n, p) mass matrix of the links in each posture for a base parameter of one."""
    links = fit.design.with_terms(())
    count, n = q.shape
    q = q.repeat(n, axis=0)
    still, pushed = np.zeros_like(q), np.tile(np.eye(n), (count, 1))
    # M e_j = tau(q, 0, e_j) - tau(q, 0, 0), for every column.
    felt = links.columns(q, still, pushed) - links.columns(q, still, still)
    return felt.reshape(count, n, n, links.n_columns)
