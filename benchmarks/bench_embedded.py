"""One call on microcontrollers and small processors, in QEMU: instructions, code and stack, beside CasADi's C."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import tauform as tf
from benchmarks import c_candidates
from tauform.arrays import Array
from tauform.codegen.backends.reference import DOUBLE, SINGLE, Precision, Reference
from tools.arms import arm
from tools.emulation.counting import SINGLE_MATH, Counted, count_on
from tools.emulation.machines import MACHINES
from tools.measuring.c_timing import CFunction
from tools.measuring.timing import Row
from tools.peers.build import casadi_code

FLAGS = ("-O2", "-std=c99", "-ffp-contract=fast")
TITLE = (
    f"One call, arms without friction and rotors, URDF frames snapped at 1e-5 rad; gcc {' '.join(FLAGS)} for both, run "
    "in QEMU, which logs every instruction that it executes: the mean of 8 states. Float on the Cortex-M, whose "
    "floating-point unit has no doubles; CasADi's C has casadi_real float there, single constants, sinf and "
    "cosf. Code is that of the function's own object, without the C library's sines, which CasADi calls; stack that "
    "of a call with all that it calls. Errors are the largest of ours, relative to each joint's peak. The last row "
    "quotes a figure of another project, compiled as it compiles; it was not run here."
)
ARMS = ("kr6_r700", "lbr7", "panda", "xarm7")
FUNCTIONS = ("inverse_dynamics", "mass_matrix", "forward_dynamics")
REALS = {"m4f": SINGLE, "m7": SINGLE, "aarch64": DOUBLE, "riscv64": DOUBLE}
# What the peer needs to compute in single precision throughout.
SINGLE_CASADI = ("-Dcasadi_real=float", "-fsingle-precision-constant", "-include", str(SINGLE_MATH))
# YueWang996/robot-dynamics-c: xArm 7, RNEA in float on a Cortex-M4F.
ROBOT_DYNAMICS_C = 5441
N_STATES = 8


def rows() -> Iterator[Row]:
    """Every machine, arm and function."""
    ours: dict[str, float] = {}
    for key, machine in MACHINES.items():
        if machine.missing():
            yield Row(machine.title, None, None, "-", unit="instructions", note=f"{machine.missing()} is not installed")
            continue
        for name in ARMS:
            for function in FUNCTIONS if name == "kr6_r700" else FUNCTIONS[:1]:
                row = _compared(key, name, tf.generate(arm(name), function))
                ours[f"{key} {name} {function}"] = row.ours or 0.0
                yield row
    counted = ours.get("m4f xarm7 inverse_dynamics")
    if counted:
        note = "quoted, with 8,312 cycles on hardware; CasADi's C there 25,354 cycles"
        what = "Cortex-M4F, xarm7, inverse_dynamics, float"
        yield Row(what, counted, ROBOT_DYNAMICS_C, "robot-dynamics-c", unit="instructions", note=note)


def _compared(key: str, name: str, program: tf.Program) -> Row:
    machine, real = MACHINES[key], REALS[key]
    with TemporaryDirectory() as folder:
        tf.write_c(program, Path(folder) / "ours", name="ours", real=real.name)
        peer = c_candidates.casadi(program, casadi_code(arm(name), Path(folder)))
        candidates = [c_candidates.ours(program, Path(folder) / "ours"), _in(real, peer)]
        inputs = np.concatenate([a.reshape(N_STATES, -1) for a in Reference(program, real).inputs], axis=1)
        n_outputs = sum(port.size for port in program.outputs)
        counted = count_on(machine, candidates, inputs, n_outputs, real.name, FLAGS)
    mine, theirs = counted["ours"], counted["CasADi C"]
    error, off = _error(program, real, mine), _error(program, real, theirs, triangle=True)
    note = f"error {error:.0e} (theirs {off:.0e}); {_sizes(mine)} against {_sizes(theirs)}"
    what = f"{machine.title}, {name}, {program.name}, {real.name}"
    return Row(what, round(mine.instructions), round(theirs.instructions), "CasADi C", unit="instructions", note=note)


def _in(real: Precision, peer: CFunction) -> CFunction:
    """CasADi's function in that type."""
    if real is DOUBLE:
        return peer
    declarations, call = (text.replace("double", "float") for text in (peer.declarations, peer.call))
    return replace(peer, declarations=declarations, call=call, flags=(*peer.flags, *SINGLE_CASADI))


def _error(program: tf.Program, real: Precision, counted: Counted, triangle: bool = False) -> float:
    """Largest deviation from the program in double precision, relative to each entry's scale.

    Args:
        triangle: entries that are zero throughout are left out: one triangle of a symmetric matrix.

    Raises:
        RuntimeError: it is beyond what the folder's own self-test allows, or a hundred times that for the peer.
    """
    reference = Reference(program, real)
    expected: Array = np.concatenate(reference.results, axis=1)
    scale = np.concatenate(reference.scales)
    filled = (counted.outputs != 0).any(axis=0) | (not triangle)
    error = float((np.abs(counted.outputs - expected) / scale)[:, filled].max())
    if not error <= reference.tolerance * (100 if triangle else 1):
        raise RuntimeError(f"{program.name} of {program.robot} is off by {error:.1e} of {reference.tolerance:.1e}")
    return error


def _sizes(counted: Counted) -> str:
    return f"{counted.text_bytes} B of code, {counted.stack_bytes} B of stack"
