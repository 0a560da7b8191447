"""References of the on-line functions, in NumPy: textbook momentum, and normal equations that are solved as a whole.

What the programs are certified against; nothing here is traced.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from tauform.arrays import Array
from tauform.codegen.certificate import checked
from tauform.codegen.functions.matrices import base_slotine_li_regressor
from tauform.codegen.program.program import Program
from tauform.description.drives.scalars import tanh
from tauform.description.inertia import Inertia
from tauform.description.robot import Robot
from tauform.portable.factorization import definite_solved
from tauform.portable.products import product
from tauform.realtime.online.momentum_form import PRIOR, WIDTH, StateLayout
from tauform.rigidbody.inverse_dynamics import inverse_dynamics
from tauform.rigidbody.momentum import generalized_momentum, momentum_observer

TOLERANCE = 1e-10
# Columns P and B of what is sought, (N, n, m) each, at q and qd.
Columns = Callable[[Array, Array], tuple[Array, Array]]


def certified_online(program: Program, robot: Robot, reference: Callable[..., tuple[Array, ...]]) -> Program:
    """The program with its certificate: at states in the middle of a motion and, where it holds one, at a fresh state.

    Raises:
        VerificationError: it deviates from the reference.
    """
    names = [port.name for port in program.inputs]
    shapes = [port.shape for port in program.inputs]
    compare = partial(checked, program, shapes, reference, TOLERANCE, "textbook functions in NumPy")
    made = compare()
    if "state" not in names:
        return made
    # Nothing is known yet: what vanishes there is compared with the size of the torques.
    fresh = compare(zero=[names.index("state")], whole=partial(inverse_dynamics, robot))
    assert made.certificate is not None
    assert fresh.certificate is not None
    error = max(made.certificate.error, fresh.certificate.error)
    return replace(made, certificate=replace(made.certificate, error=error))


def load_columns(robot: Robot, n_values: int) -> Columns:
    """P and B of a load at the tool: momentum and its rate, of robots that are nothing but a unit load."""
    bare = robot.without_drives().with_payload(None)
    # With nothing but a unit load, the robot's own functions return the load's columns.
    massless = bare.with_parameters(np.zeros(bare.layout.n))
    units = [massless.with_payload(Inertia(np.eye(10)[k])) for k in range(n_values)]

    def columns(q: Array, qd: Array) -> tuple[Array, Array]:
        parts = [_momentum(unit, q, qd, 0 * q) for unit in units]
        P, B = (np.stack(found, axis=-1) for found in zip(*parts, strict=True))
        return P, B

    return columns


def estimated(
    robot: Robot, columns: Columns, q: Array, qd: Array, tau: Array, deviation: Array, settings: Array, state: Array
) -> tuple[Array, Array, Array]:
    """Values, spread and new state of an estimator that takes all joints together; arrays have the batch first."""
    p, u = _momentum(robot, q, qd, tau)
    return _step(p, u, *columns(q, qd), deviation, settings, state)


def estimated_friction(
    robot: Robot, q: Array, qd: Array, tau: Array, deviation: Array, settings: Array, state: Array
) -> tuple[Array, ...]:
    """The same of friction, each joint by itself."""
    p, u = _momentum(robot, q, qd, tau)
    found = []
    for j in range(robot.n_joints):
        v, row = qd[:, j], slice(j, j + 1)
        B = -np.stack([v, tanh(v / WIDTH), np.ones_like(v)], axis=-1)[:, None]
        found.append(_step(p[:, row], u[:, row], 0 * B, B, deviation[:, row], settings, state[:, j]))
    return tuple(np.stack(part, axis=1) for part in zip(*found, strict=True))


def observed_contacts(
    robot: Robot,
    q: Array,
    qd: Array,
    tau: Array,
    integral: Array,
    residual: Array,
    gain: Array,
    period: Array,
    *others: Array,
) -> tuple[Array, ...]:
    """Residual, integral, level and contact of a collision observer; temperatures stand before its own two inputs."""
    *temperature, deviation, factor = others
    found = momentum_observer(robot, q, qd, tau, integral, residual, gain, period, *temperature)  # type: ignore[arg-type]
    level = np.abs(found.residual) / (factor * deviation)
    return found.residual, found.integral, level, 0.5 * (1 + np.sign(level - 1))


def adapted(robot: Robot, q: Array, qd: Array, qd_r: Array, qdd_r: Array, *others: Array) -> tuple[Array, Array]:
    """Torques and theta of the adaptive tracking law; temperatures stand before its own four inputs."""
    *temperature, theta, gain, damping, period = others
    Y = base_slotine_li_regressor(robot, q, qd, qd_r, qdd_r, *temperature)
    s = qd - qd_r
    tau = (Y * theta[:, None]).sum(axis=-1) - damping * s
    return tau, theta - period * gain * (Y * s[..., None]).sum(axis=1)


def _momentum(robot: Robot, q: Array, qd: Array, tau: Array) -> tuple[Array, Array]:
    """p, and its rate u without contacts: what an observer adds to its integral in one second."""
    observed = momentum_observer(robot, q, qd, tau, 0 * q, 0 * q, np.ones_like(q), 1.0)
    return generalized_momentum(robot, q, qd), observed.integral


def _step(
    p: Array, u: Array, P: Array, B: Array, deviation: Array, settings: Array, state: Array
) -> tuple[Array, Array, Array]:
    n, m = P.shape[-2:]
    filtered, columns, triangle, moments, sums = (part.T for part in StateLayout(n, m).parts(state.T))
    rate, forgetting, period = (x[:, None] for x in settings.T)
    # One block [p P] of all that is filtered: F = (G + T/2 v) / (1 + rate T/2) with v its rate.
    held = np.concatenate([filtered[:, :, None], columns.reshape(-1, n, m)], axis=-1)
    whole, rates = (np.concatenate([x[:, :, None], X], axis=-1) for x, X in ((p, P), (u, B)))
    half, slow = 0.5 * period[..., None], rate[..., None]
    # Trapezoids of the first-order filter F' = v - rate (F - x), as the program has them.
    flow = half * (rates + slow * whole)
    # A fresh state starts at the first sample: from zero the filter would ring in.
    F = np.where(sums[:, 1, None, None] == 0, whole, (held + flow) / (1 + slow * half))
    stored = (1 - slow * half) * F + flow
    yW = (F - whole) / deviation[..., None]
    y, W = yW[:, :, 0], -yW[:, :, 1:]
    keep = 1 / (1 + forgetting * period)
    low = np.tril_indices(m)
    triangle = keep * triangle + period * product(W.swapaxes(1, 2), W)[:, low[0], low[1]]
    moments = keep * moments + period * (W * y[:, :, None]).sum(axis=1)
    sums = keep * sums + period * np.stack([(y * y).sum(axis=1), np.full(len(y), float(n))], axis=-1)
    R = np.zeros((len(y), m, m))
    R[:, low[0], low[1]] = R[:, low[1], low[0]] = triangle
    R = R + PRIOR * np.eye(m)
    values = definite_solved(R, moments[..., None])[..., 0]
    variances = np.diagonal(definite_solved(R, np.broadcast_to(np.eye(m), R.shape)), axis1=1, axis2=2)
    # |y - W x|^2 = y'y - x'W'y at the solution; rounding may make it slightly negative.
    left = np.abs(sums[:, 0] - (moments * values).sum(axis=1)) / sums[:, 1]
    # Filtered samples are correlated over 2 / rate seconds, which count as one sample.
    spread = np.sqrt(variances * (left[:, None] * 2 / rate))
    parts = stored[:, :, 0], stored[:, :, 1:].reshape(len(y), -1), triangle, moments, sums
    return values, spread, np.concatenate(parts, axis=1)
