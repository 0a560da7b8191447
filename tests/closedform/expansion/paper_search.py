"""Lloyd2021's own search, as an oracle: random samples of Newton-Euler, LU, extra-precise refinement.

Slow and dense, for robots of up to four joints. It shares nothing with the sweep but the definition of a term.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import scipy.linalg

import tauform as tf

REVOLUTE = ((0, 0, 0), (0, 0, 1), (0, 1, 0), (0, 0, 2), (0, 1, 1))  # exponents of q, sin q, cos q; sin^2 left out
PRISMATIC = ((0, 0, 0), (1, 0, 0), (2, 0, 0))
NEGLIGIBLE = 1e-9


def search_terms(robot: tf.Robot, seed: int = 0) -> set[tuple[int, ...]]:
    """Columns of E, found by sampling."""
    n = robot.n_joints
    rng = np.random.default_rng(seed)
    found = []
    for rates in _accelerations(n):
        functions = _functions(robot, gravity=not any(rates))
        q = rng.uniform(-np.pi, np.pi, (len(functions), n))
        Y = np.array([[_value(f, state) for f in functions] for state in q])
        tau = _isolated(robot, q, rates)
        found += [
            ((*np.array(f).T.reshape(-1).tolist(), *rates), row)
            for f, row in zip(functions, _solve(Y, tau), strict=True)
        ]
    # Some accelerations do nothing at all: what is negligible is judged by the whole robot.
    largest = max(np.abs(row).max() for _, row in found)
    return {term for term, row in found if np.abs(row).max() > NEGLIGIBLE * largest}


def _accelerations(n: int) -> list[tuple[int, ...]]:
    """Exponents of qd and qdd: gravity, each acceleration, each product of two velocities."""
    eye = np.eye(n, dtype=int)
    none = np.zeros(n, dtype=int)
    pairs = [eye[i] + eye[j] for i in range(n) for j in range(i, n)]
    return [
        tuple(np.concatenate(part).tolist())
        for part in [(none, none), *((none, e) for e in eye), *((p, none) for p in pairs)]
    ]


def _functions(robot: tf.Robot, gravity: bool) -> list[tuple[tuple[int, int, int], ...]]:
    choices = []
    for i, joint in enumerate(robot.joints):
        functions = REVOLUTE if joint.is_revolute else PRISMATIC
        if gravity:
            functions = tuple(f for f in functions if sum(f) <= 1)
        elif i == 0:  # the first joint does not change the mass matrix
            functions = functions[:1]
        choices.append(functions)
    return list(product(*choices))


def _value(function: tuple[tuple[int, int, int], ...], q: np.ndarray) -> float:
    factors = [x**a * np.sin(x) ** b * np.cos(x) ** c for x, (a, b, c) in zip(q, function, strict=True)]
    return float(np.prod(factors))


def _isolated(robot: tf.Robot, q: np.ndarray, rates: tuple[int, ...]) -> np.ndarray:
    """Torque of one acceleration function alone.  [Lloyd2021, Eq. 47]"""
    n = robot.n_joints
    zero = np.zeros_like(q)
    if not any(rates):
        return tf.inverse_dynamics(robot, q, zero, zero)
    still = robot.with_gravity((0, 0, 0))
    qd, qdd = np.array(rates[:n]), np.array(rates[n:])
    if qdd.any():
        return tf.inverse_dynamics(still, q, zero, zero + qdd)
    moving = np.flatnonzero(qd)
    alone = [tf.inverse_dynamics(still, q, zero + np.eye(n)[i], zero) for i in moving]
    if len(moving) == 1:
        return alone[0]
    return tf.inverse_dynamics(still, q, zero + (qd > 0), zero) - alone[0] - alone[1]


def _solve(Y: np.ndarray, tau: np.ndarray) -> np.ndarray:
    """LU with two steps of refinement, residuals in extended precision.  [Lloyd2021, section 3.4.1]"""
    factors = scipy.linalg.lu_factor(Y)
    theta = scipy.linalg.lu_solve(factors, tau)
    for _ in range(2):
        residual = tau.astype(np.longdouble) - Y.astype(np.longdouble) @ theta.astype(np.longdouble)
        theta = theta + scipy.linalg.lu_solve(factors, residual.astype(float))
    return theta
