"""FMI 3.0 as a target: an FMU of the arm, with its C inside, for model exchange and co-simulation."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from tauform.arrays import Array
from tauform.codegen.backends.backend import Backend, Request, with_names
from tauform.codegen.backends.fmu.description import inputs_of, model_description, start_of
from tauform.codegen.backends.interfaces import plain_c
from tauform.codegen.backends.templating import template
from tauform.codegen.program.embed import whole
from tauform.codegen.program.port import Port
from tauform.codegen.program.program import Program
from tauform.errors import GenerationError
from tauform.escaping.c import identifier
from tauform.version import __version__

# Platforms as FMI names them, with the suffix of their libraries.
BINARIES = {"x86_64-linux": "so", "aarch64-linux": "so", "x86_64-darwin": "dylib", "aarch64-darwin": "dylib"}
STATES = ("q", "qd", "tau")
# Of the motion that the check of an FMU repeats; templates/check.py.txt steps alike.
STEPS, STEP = 10, 1e-3


class Fmu(Backend):
    """The backend."""

    title = "FMI 3.0"
    functions: tuple[str, ...] = ("forward_dynamics",)

    def files(self, request: Request) -> dict[str, str]:
        """The content of the FMU, and a Makefile that compiles and packs it."""
        name, inner = request.prefix, f"{request.prefix}_plain"
        forward = _forward_dynamics(request.programs, self.title)
        code = plain_c(request, inner)
        # Another model has another token, so that no tool mixes their results.
        token = hashlib.sha256(repr((forward.instructions, forward.results)).encode()).hexdigest()[:32]
        inputs = inputs_of(forward)
        facts = {
            "name": name,
            "inner": inner,
            "version": __version__,
            "token": token,
            "n": str(forward.outputs[0].size),
            "members": "".join(f"    double {port.name}[{port.size}];\n" for port in inputs),
            "variables": "".join(f"    {{offsetof(Values, {port.name}), {port.size}, 1}},\n" for port in inputs),
            "starts": "".join(_start(forward, port) for port in inputs if any(start_of(forward, port))),
            "arguments": ", ".join(
                "q" if p.name == "q" else "qd" if p.name == "qd" else f"values->{p.name}" for p in forward.inputs
            ),
            "expected": repr(_rollout(forward)),
            "smooth": str(not forward.about.has_friction),
        }
        sources = {f"sources/{file}": text for file, text in code.items()}
        return {
            **sources,
            "modelDescription.xml": model_description(forward, name, token),
            f"sources/{name}_fmu.c": template(__package__, "fmu.c").substitute(facts),
            "sources/buildDescription.xml": template(__package__, "buildDescription.xml").substitute(facts),
            "Makefile": template(__package__, "Makefile").substitute(facts),
            "check.py": template(__package__, "check.py.txt").substitute(facts),
        }

    def build_products(self, prefix: str) -> tuple[str, ...]:
        """The packed FMU, its binary and the compiled self-test."""
        # Of all platforms: a folder may be built on several, one after the other.
        binaries = (f"binaries/{platform}/{prefix}.{suffix}" for platform, suffix in BINARIES.items())
        return (f"{prefix}.fmu", f"test_{prefix}", *binaries)

    def check_commands(self, prefix: str) -> tuple[Sequence[str], ...]:
        """The self-test of the C, and the FMU stepped through its own interface and, where it is installed, by FMPy."""
        return (("make", "check"),)


def _start(forward: Program, port: Port) -> str:
    """Statements that set an input to the robot's own values."""
    # Shortest digits that read back as the same doubles.
    numbers = ", ".join(map(repr, start_of(forward, port)))
    copied = f"memcpy(values->{port.name}, {port.name}, sizeof {port.name});"
    return f"    static const double {port.name}[{port.size}] = {{{numbers}}};\n    {copied}\n"


def _forward_dynamics(programs: Sequence[Program], title: str) -> Program:
    """The program that moves the arm, with names as in C.

    Raises:
        GenerationError: there is none.
    """
    # The first with the usual states: one with wrenches or parameters before them has another meaning.
    for program in programs:
        names = [port.name for port in program.inputs]
        if program.name == "forward_dynamics" and tuple(names[:3]) == STATES:
            return with_names(whole(program), identifier)
    raise GenerationError(
        f"{title}: its interface calls forward_dynamics, which is not among the functions; generate it too"
    )


def _rollout(forward: Program) -> list[list[float]]:
    """Positions, velocities and accelerations after ten steps of RK4 from q = 0.1, 0.2, ... at rest, without torque."""
    n = forward.outputs[0].size
    given = {port.name: np.array(start_of(forward, port)) for port in inputs_of(forward)}

    def acceleration(q: Array, qd: Array) -> Array:
        arrays = {**given, "q": q, "qd": qd}
        found: Array = forward(*(arrays[port.name].reshape(port.shape) for port in forward.inputs))
        return found

    # The same steps as the FMU's own, written out: its check compares to rounding.
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


BACKEND = Fmu()
