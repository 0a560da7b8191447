"""Random states at which a program is compared with what it should compute."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tauform.arrays import AnyArray, Array
from tauform.codegen.looped.program import AnyProgram
from tauform.codegen.program.port import Port
from tauform.codegen.program.program import Op
from tauform.description.drives.friction import OPERATING_TEMPERATURES
from tauform.portable.sampling import uniform

# Time steps of simulations [s].
STEP_RANGE = (1e-4, 1e-2)
RANGES = {"temperature": OPERATING_TEMPERATURES, "step": STEP_RANGE}
# Smooth friction bends at velocities far below those of a motion: its programs also see slower states.
SLOWER_SHARES = (1.0, 0.1, 0.01, 0.001)


def random_inputs(
    program: AnyProgram, ports: Sequence[Port], bound: float, n: int, rng: np.random.Generator
) -> list[Array]:
    """(n, ...) values of some of a program's inputs, within a bound; temperatures within theirs."""
    bends = program.count(Op.EXP, Op.TANH) > 0
    slower: AnyArray = np.resize(SLOWER_SHARES, n)
    arrays = []
    for port in ports:
        low, high = RANGES.get(port.name, (-bound, bound))
        values = uniform(rng, low, high, (n, *port.shape))
        if port.ranges:
            low, high = np.array(port.ranges).T.reshape(2, *port.shape)
            values = low + (high - low) * (values + bound) / (2 * bound)
        arrays.append(values * slower[:, None] if bends and port.name == "qd" else values)
    return arrays
