"""One call in C: our functions, Pinocchio's C++ and CasADi's C of the same arm, in one process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import tauform as tf
from benchmarks.arms import ARMS, arm
from benchmarks.c_timing import FLAGS, CFunction, time_c
from benchmarks.peers.build import CasadiCode, casadi_code, numbers, pinocchio_library
from benchmarks.timing import Row
from tauform.arrays import Array
from tauform.codegen.program import Port, Program

TITLE = (
    f"One call, arms without friction and rotors, URDF frames snapped at 1e-5 rad; gcc {' '.join(FLAGS)} for all C, "
    "the same optimisation for Pinocchio's headers; least of many sweeps over 64 states. "
    "CasADi's C is that of Pinocchio's algorithms traced on casadi::SX. Last, the inverse dynamics with -O2 alone."
)
FUNCTIONS = (
    "inverse_dynamics",
    "bias_torque",
    "mass_matrix",
    "forward_dynamics",
    "base_regressor",
    "linearize_inverse",
    "linearize_forward",
)
PORTABLE = ("-O2", "-std=c99")
N_STATES = 64
# Accelerations are known up to the condition of the mass matrix.
AGREEMENT = 1e-8


def rows() -> Iterator[Row]:
    """Every arm, every function, both peers."""
    for name in ARMS:
        robot = arm(name)
        programs = [tf.generate(robot, function) for function in FUNCTIONS]
        with TemporaryDirectory() as folder:
            for program in programs:
                tf.write_c(program, Path(folder) / program.name, name="ours")
            (Path(folder) / "casadi").mkdir()
            code = casadi_code(robot, Path(folder) / "casadi")
            for program in programs:
                yield from _compared(name, robot, program, Path(folder), code, FLAGS)
            yield from _compared(name, robot, programs[0], Path(folder), code, PORTABLE)


def _compared(
    name: str, robot: tf.Robot, program: Program, folder: Path, code: CasadiCode, flags: tuple[str, ...]
) -> Iterator[Row]:
    candidates = [_ours(program, folder / program.name), _casadi(program, code)]
    if flags == FLAGS:
        candidates.append(_pinocchio(robot, program))
    inputs = np.random.default_rng(0).uniform(-np.pi, np.pi, (N_STATES, sum(port.size for port in program.inputs)))
    timings = time_c(candidates, inputs, sum(port.size for port in program.outputs), rounds=2000, flags=flags)
    ours = timings["ours"]
    for label, timing in timings.items():
        if label == "ours":
            continue
        counts = code.counts[program.name]
        operations = f"; {program.n_operations} against {sum(counts[:2])} operations" if "CasADi" in label else ""
        portable = ", -O2" if flags == PORTABLE else ""
        yield Row(
            f"{name}, {program.name}{portable}",
            ours=ours.seconds,
            peer=timing.seconds,
            peer_name=label,
            note=f"agree to {_disagreement(ours.outputs, timing.outputs):.0e}{operations}",
        )


def _ours(program: Program, folder: Path) -> CFunction:
    return CFunction(
        "ours",
        (folder / "ours.c",),
        '#include "ours.h"',
        f"ours_{program.name}({', '.join([*_places('in', program.inputs), *_places('out', program.outputs)])});",
        flags=(f"-I{folder}",),
    )


def _casadi(program: Program, code: CasadiCode) -> CFunction:
    function = f"casadi_{program.name}"
    return CFunction(
        "CasADi C",
        (code.sources[program.name],),
        f"int {function}(const double **arg, double **res, long long *iw, double *w, int mem);",
        f"const double *arg[] = {{{', '.join(_places('in', program.inputs))}}}; double *res[] = {{out}}; "
        f"{function}(arg, res, 0, 0, 0);",
    )


def _pinocchio(robot: tf.Robot, program: Program) -> CFunction:
    library = pinocchio_library()
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


def _places(array: str, ports: tuple[Port, ...]) -> list[str]:
    starts = np.cumsum([0, *(port.size for port in ports)])[:-1]
    return [f"{array} + {start}" for start in starts]


def _disagreement(ours: Array, theirs: Array) -> float:
    """Largest difference relative to the output; Pinocchio leaves one triangle of symmetric matrices empty."""
    filled = (theirs != 0).any(axis=0)
    error = float(np.abs(ours - theirs)[:, filled].max() / np.abs(ours).max())
    if error > AGREEMENT:
        raise RuntimeError(f"the peer disagrees by {error:.1e}; its time means nothing")
    return error
