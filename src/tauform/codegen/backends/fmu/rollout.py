"""A short motion by the interpreter, which the check of an FMU compares its own with."""

from __future__ import annotations

import numpy as np

from tauform.arrays import Array
from tauform.codegen.backends.fmu.description import inputs_of, start_of
from tauform.codegen.program.program import Program

STEPS, STEP = 10, 1e-3


def rollout(forward: Program) -> list[list[float]]:
    """Positions, velocities and accelerations after ten steps of RK4 from q = 0.1, 0.2, ... at rest, without torque."""
    n = forward.outputs[0].size
    given = {port.name: np.array(start_of(forward, port)) for port in inputs_of(forward)}

    def acceleration(q: Array, qd: Array) -> Array:
        arrays = {**given, "q": q, "qd": qd}
        found: Array = forward(*(arrays[port.name].reshape(port.shape) for port in forward.inputs))
        return found

    q, qd, h = 0.1 * np.arange(1.0, n + 1.0), np.zeros(n), STEP
    for _ in range(STEPS):
        a1 = acceleration(q, qd)
        v2 = qd + 0.5 * h * a1
        a2 = acceleration(q + 0.5 * h * qd, v2)
        v3 = qd + 0.5 * h * a2
        a3 = acceleration(q + 0.5 * h * v2, v3)
        v4 = qd + h * a3
        a4 = acceleration(q + h * v3, v4)
        q = q + h / 6.0 * (qd + 2.0 * v2 + 2.0 * v3 + v4)
        qd = qd + h / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4)
    return [q.tolist(), qd.tolist(), acceleration(q, qd).tolist()]
