"""compile: from a robot (or a program) to a kernel that runs on NumPy arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from tauform.arrays import Array
from tauform.closedform.model.bound import BoundModel
from tauform.closedform.model.model import ClosedFormModel
from tauform.codegen.generate import generate
from tauform.codegen.program.program import Program
from tauform.codegen.runtime.kernel import Kernel, compile_program
from tauform.description.robot import Robot
from tauform.errors import ArgumentError, GenerationError, ShapeError

# What `generate` takes, and what a kernel takes at each call.
OPTIONS, OF_A_CALL = ("algorithm", "parameters", "payload", "wrenches"), ("out", "threads")


def compile(
    source: Robot | BoundModel | ClosedFormModel | Program,
    function: str | None = None,
    real: str = "double",
    **options: Any,
) -> Kernel | ParametricKernel:
    """A kernel of a function: kernel(q, qd, qdd, out=None, threads=None) on arrays of any leading shape.

    Args:
        source: a robot, a closed-form model, or a program that was generated before.
        function: name of the function, "inverse_dynamics" if not given; only with a robot.
        real: "double", or "float" for single precision: arrays of float32, twice the states at once, and a certificate
            of its own (`kernel.certificate`); other numbers are rounded to float32.
        options: algorithm, parameters, payload and wrenches of `generate`; with parameters="runtime" or
            payload="runtime" the kernel takes those values as further arguments, with wrenches those before them.

    Raises:
        ArgumentError: no such option, or one that belongs in the call.
        UnknownNameError: no such function or algorithm.
        GenerationError: the program would be too long, or there is no such type.
        VerificationError: the program, or its kernel in single precision, is not exact enough.
    """
    for name in options:
        # A frequent slip gets its own remedy, before the list of options.
        if name in OF_A_CALL:
            raise ArgumentError(f"compile: {name} belongs in the call, kernel(q, qd, qdd, {name}=...)")
        if name not in OPTIONS:
            raise ArgumentError(f"compile: no argument {name!r}; options are {', '.join(OPTIONS)}")
    if isinstance(source, Program):
        if function is not None or options:
            raise GenerationError("compile: a program already is one function; give a robot to choose another")
        program = source
    else:
        program = generate(source, function or "inverse_dynamics", **options)
    kernel = compile_program(program, real)
    # Only plain kernels: one with options would answer other questions under the same name.
    if isinstance(source, Robot) and not options and real == "double":
        compiled_kernels(source)[program.name] = kernel
    return kernel if program.setup is None else ParametricKernel(kernel, program.setup)


def compiled_kernels(robot: Robot) -> dict[str, Kernel]:
    """Kernels that `compile` made of this robot's functions; they live as long as it does."""
    kernels: dict[str, Kernel] = robot.__dict__.setdefault("_compiled_kernels", {})
    return kernels


# What a theta of another length than the kernel's may be mistaken for.
THETA = "; give kernel.program.theta_of(robot), whose names are kernel.program.theta_names"


class ParametricKernel:
    """A kernel whose parameters come with each call; what depends on them alone is computed when they change."""

    def __init__(self, kernel: Kernel, setup: Program) -> None:
        self.kernel = kernel
        self.setup = setup
        self._known: tuple[bytes, Any] | None = None

    @property
    def program(self) -> Program:
        return self.kernel.program

    def __call__(self, *arrays: Any, out: Any = None, threads: int | None = None) -> Any:
        """Evaluate on arrays of shape (..., *port.shape), followed by the parameters: one set for the whole batch.

        Raises:
            ShapeError: the arrays do not fit the ports.
        """
        # Callers give states, then parameters; the block that the setup makes of them is no argument of theirs.
        ports = (*(port for port in self.program.inputs if not port.shared), *self.setup.inputs)
        if len(arrays) != len(ports):
            names = ", ".join(port.name for port in ports)
            raise ShapeError(f"{self.program.name}: expected {len(ports)} arrays ({names}), got {len(arrays)}")
        n_states = len(ports) - len(self.setup.inputs)
        block = self._block([_numbers(a, p.name) for a, p in zip(arrays[n_states:], self.setup.inputs, strict=True)])
        if out is None and threads is None:
            return self.kernel(*arrays[:n_states], block)
        return self.kernel(*arrays[:n_states], block, out=out, threads=threads)

    def _block(self, parameters: list[Any]) -> Any:
        for array, port in zip(parameters, self.setup.inputs, strict=True):
            if array.shape != port.shape:
                meaning = THETA if port.name == "theta" else ""
                raise ShapeError(
                    f"{port.name}: expected shape {port.shape}, one set for the batch, got {array.shape}{meaning}"
                )
        # By their bytes: arrays that were changed in place are noticed.
        key = b"".join(array.tobytes() for array in parameters)
        known = self._known  # another thread may put its own in the meantime
        if known is None or known[0] != key:
            known = self._known = key, self.setup(*parameters)
        return known[1]

    def __repr__(self) -> str:
        names = ", ".join(port.name for port in self.setup.inputs)
        return f"ParametricKernel({self.kernel!r}, run-time {names})"


def _numbers(values: Any, name: str) -> Array:
    try:
        # same_kind refuses complex numbers and text instead of dropping what does not fit.
        return np.asarray(values).astype(np.float64, casting="same_kind", copy=False)
    except (TypeError, ValueError, OverflowError):
        raise ShapeError(f"{name}: expected real numbers, got {values!r:.60}") from None
