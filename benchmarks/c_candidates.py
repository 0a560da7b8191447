"""The same function three times, ready for C: ours, CasADi's and Pinocchio's."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

import tauform as tf
from tauform.arrays import Array
from tauform.codegen.program.port import Port
from tauform.codegen.program.program import Program
from tools.measuring.c_timing import CFunction
from tools.peers.build import NATIVE, CasadiCode, numbers, pinocchio_library

# Accelerations are known up to the condition of the mass matrix.
AGREEMENT = 1e-8


def ours(program: Program, folder: Path) -> CFunction:
    """C that `write_c` wrote into the folder under the name "ours"."""
    return CFunction(
        "ours",
        (folder / "ours.c",),
        '#include "ours.h"',
        f"ours_{program.name}({', '.join([*_places('in', program.inputs), *_places('out', program.outputs)])});",
        flags=(f"-I{folder}",),
    )


def casadi(program: Program, code: CasadiCode) -> CFunction:
    """CasADi's C of Pinocchio's algorithm."""
    function = f"casadi_{program.name}"
    return CFunction(
        "CasADi C",
        (code.sources[program.name],),
        f"int {function}(const double **arg, double **res, long long *iw, double *w, int mem);",
        f"const double *arg[] = {{{', '.join(_places('in', program.inputs))}}}; double *res[] = {{out}}; "
        f"{function}(arg, res, 0, 0, 0);",
    )


def pinocchio(robot: tf.Robot, program: Program, flags: Sequence[str] = NATIVE) -> CFunction:
    """Pinocchio's templates, compiled with the flags."""
    library = pinocchio_library(flags)
    table = ", ".join(map(repr, numbers(robot)))
    function = f"pinocchio_{program.name}"
    return CFunction(
        "Pinocchio C++",
        (),
        f"static const double NUMBERS[] = {{{table}}};\n"
        f"void {function}(const double *numbers, const double *in, double *out);",
        f"{function}(NUMBERS, in, out);",
        libraries=(str(library), f"-Wl,-rpath,{library.parent}"),
    )


def disagreement(ours: Array, theirs: Array) -> float:
    """Largest difference relative to the output; Pinocchio leaves one triangle of symmetric matrices empty.

    Raises:
        RuntimeError: the two do not compute the same.
    """
    filled = (theirs != 0).any(axis=0)
    error = float(np.abs(ours - theirs)[:, filled].max() / np.abs(ours).max())
    if error > AGREEMENT:
        raise RuntimeError(f"the peer disagrees by {error:.1e}; its time means nothing")
    return error


def states(program: Program, n_states: int) -> Array:
    """(n_states, n_inputs) random inputs."""
    return np.random.default_rng(0).uniform(-np.pi, np.pi, (n_states, sum(port.size for port in program.inputs)))


def _places(array: str, ports: tuple[Port, ...]) -> list[str]:
    starts = np.cumsum([0, *(port.size for port in ports)])[:-1]
    return [f"{array} + {start}" for start in starts]
