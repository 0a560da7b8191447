"""Rauch-Tung-Striebel smoother of positions: a triple integrator driven by white jerk.

The gains settle within a few samples, so the steady-state ones are used throughout; the ratio of process to
measurement noise is set by the cut-off that is asked for.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
from scipy import signal

from tauform.arrays import Array


def smoothed(q: Array, rate: float, cutoff: float) -> tuple[Array, Array, Array]:
    """(q, qd, qdd) smoothed; `cutoff` [Hz] is the frequency up to which the motion is trusted."""
    h = 1.0 / rate
    F = np.array([[1, h, h * h / 2], [0, 1, h], [0, 0, 1]])
    drive = np.array([h**3 / 6, h**2 / 2, h])[:, None]
    # For continuous white jerk of density q and measurement density r, |H|^2 = 1 / (1 + w^6 r / q): half at w = w_c.
    # In samples, with unit measurement noise, the density of the jerk per sample is w_c^6.
    Q = (2 * np.pi * cutoff) ** 6 * (drive @ drive.T)
    H = np.array([[1.0, 0, 0]])
    P = scipy.linalg.solve_discrete_are(F.T, H.T, Q, np.array([[1.0]]))
    gain = P @ H.T / (H @ P @ H.T + 1.0)
    updated = P - gain @ H @ P
    backward = updated @ F.T @ np.linalg.inv(P)
    start = np.stack([q[0], (q[1] - q[0]) / h, np.zeros_like(q[0])])
    x = _recursion((np.eye(3) - gain @ H) @ F, gain, q, start)
    # x_s[k] = x[k] + C (x_s[k+1] - F x[k]): the same kind of recursion, run backwards.
    back = _recursion(backward, np.eye(3) - backward @ F, x[::-1], x[-1])[::-1]
    return back[:, 0], back[:, 1], back[:, 2]


def _recursion(A: Array, B: Array, u: Array, start: Array) -> Array:
    """x[k] = A x[k-1] + B u[k] with x[0] = start, each column of u on its own; (N, 3, n)."""
    # A linear recursion is diagonal in the eigenvectors of A: three first-order filters, run in compiled code.
    values, V = np.linalg.eig(A)
    inputs = np.einsum("ij,kjn->kin", np.linalg.solve(V, B.astype(complex)), u.reshape(len(u), -1, start.shape[1]))
    modes = np.empty((len(u), 3, start.shape[1]), dtype=complex)
    first = np.linalg.solve(V, start.astype(complex))
    for i, pole in enumerate(values):
        modes[0, i] = first[i]
        state = (pole * first[i])[None]
        modes[1:, i], _ = signal.lfilter([1.0], [1.0, -pole], inputs[1:, i], axis=0, zi=state)
    return np.real(np.einsum("ij,kjn->kin", V, modes))
