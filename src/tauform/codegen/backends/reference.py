"""Reference of a self-test: random states, and the results of the program as Python interprets it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tauform.arrays import Array
from tauform.codegen.certificate import within
from tauform.codegen.looped.program import AnyProgram
from tauform.codegen.program.port import Port
from tauform.codegen.states import random_inputs
from tauform.portable.sampling import uniform

# Few: their numbers stand in the written test.
N_STATES = 8
# Rounding of compiled code may differ from the interpreter's by this factor (order of fused operations, libm).
ROUNDING_MARGIN = 10.0
# Results that lose more than this to rounding are worth nothing, nor would a test be that allows it.
LARGEST_ROUNDING = 1e-2
# Entries below this share of the largest are compared on its scale: they may be differences of large numbers.
SMALLEST_ENTRY = 0.01


@dataclass(frozen=True)
class Precision:
    """A floating-point type that a language computes in.

    Attributes:
        name: as `tf.write(..., real=)` has it.
        bits: width.
        dtype: the same type of NumPy.
        tolerance: relative deviation that a self-test allows, where rounding alone does not ask for more.
    """

    name: str
    bits: int
    dtype: type[np.floating]
    tolerance: float


# Some 450 times the machine epsilon of double, 84 times that of single.
DOUBLE = Precision("double", 64, np.float64, 1e-13)
SINGLE = Precision("float", 32, np.float32, 1e-5)


@dataclass(frozen=True)
class Reference:
    """States of a program's inputs and the results that belong to them.

    Inputs are exact in the type of the written code, results are computed in double precision.
    """

    program: AnyProgram
    real: Precision

    @cached_property
    def inputs(self) -> list[Array]:
        # A fixed seed: the written test is the same text every time.
        rng = np.random.default_rng(0)
        arrays = []
        for port in self.program.inputs:
            if port.shared:
                given = self._default(port)
                # Positive numbers near one suit masses and lengths of unknown parameters.
                array = np.asarray(given) if given is not None else uniform(rng, 0.5, 1.5, port.shape)
            else:
                (array,) = random_inputs(self.program, [port], 3.0, N_STATES, rng)
            # Numbers that the type holds exactly: both sides start from the same inputs.
            arrays.append(array.astype(self.real.dtype).astype(np.float64))
        return arrays

    def _default(self, port: Port) -> Any:
        """Parameters that describe the robot, where the program knows them."""
        defaults = self.program.about.defaults
        setup = self.program.setup
        if setup is not None and port.name == setup.outputs[0].name and all(p.name in defaults for p in setup.inputs):
            # Precomputed parameters follow from the robot's own through the setup program.
            return setup(*(defaults[p.name] for p in setup.inputs))
        return defaults.get(port.name)

    def _run(self, dtype: Any) -> list[Array]:
        """Results as (states, entries)."""
        results = self.program(*(array.astype(dtype) for array in self.inputs))
        results = results if isinstance(results, tuple) else (results,)
        pairs = zip(results, self.program.outputs, strict=True)
        # Results of shared inputs alone have no states: each state sees the same ones.
        return [np.broadcast_to(r, (N_STATES, *p.shape)).astype(np.float64).reshape(N_STATES, p.size) for r, p in pairs]

    @cached_property
    def results(self) -> list[Array]:
        return self._run(np.float64)

    @cached_property
    def scales(self) -> list[Array]:
        """Largest magnitude of each entry, but not less than a hundredth of the output's: zeros hold rounding noise."""
        scales = []
        for result in self.results:
            largest = np.abs(result).max(axis=0)
            # An output that is zero throughout is compared on an absolute scale of one.
            scales.append(np.maximum(largest, SMALLEST_ENTRY * largest.max() or 1.0))
        return scales

    @cached_property
    def rounding(self) -> float:
        """Largest deviation of the interpreter itself, computing in that type, from more exact results."""
        # Extended precision shows what double loses; double what single does.
        exact = self._run(np.longdouble) if self.real.dtype is np.float64 else self.results
        pairs = zip(self._run(self.real.dtype), exact, self.scales, strict=True)
        return max(float((np.abs(a - b) / scale).max()) for a, b, scale in pairs)

    @property
    def tolerance(self) -> float:
        """Deviation that the self-test allows.

        Raises:
            VerificationError: the program's results are mostly rounding in this type.
        """
        within(
            self.rounding,
            LARGEST_ROUNDING,
            f"{self.program.name} of {self.program.robot} computed in {self.real.name}",
            f"straighten what is almost aligned (snap=){'' if self.real.bits > 32 else ', or write double precision'}",
        )
        # Two digits: text does not hang on the last bits of what was measured here.
        return max(self.real.tolerance, float(f"{ROUNDING_MARGIN * self.rounding:.1e}"))

    @property
    def case(self) -> dict[str, Any]:
        """States, the results that belong to them and what a function may deviate by, as plain values for JSON."""
        inputs = [
            {"shared": port.shared, "values": array.reshape(-1 if port.shared else (len(array), -1)).tolist()}
            for port, array in zip(self.program.inputs, self.inputs, strict=True)
        ]
        return {
            "name": self.program.name,
            "inputs": inputs,
            "outputs": [result.tolist() for result in self.results],
            "scales": [scale.tolist() for scale in self.scales],
            "tolerance": self.tolerance,
        }
