"""Executed instructions of one call in C, ours beside CasADi's and Pinocchio's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import tauform as tf
from benchmarks import c_candidates
from tauform.codegen.program.program import Program
from tools.arms import arm
from tools.measuring.c_timing import time_c
from tools.measuring.instruction_counts import ARCHITECTURE, count_c, missing
from tools.measuring.results import figure
from tools.measuring.timing import Row
from tools.peers.build import CasadiCode, casadi_code

ARMS = ("kr6_r700", "panda", "ur5")
FUNCTIONS = ("inverse_dynamics", "mass_matrix", "forward_dynamics", "base_regressor", "linearize_inverse")
FLAGS = ("-O3", ARCHITECTURE, "-std=c99", "-ffp-contract=fast")
TITLE = (
    f"Instructions of one call, counted by valgrind's callgrind, which other work on the machine does not change; "
    f"gcc {' '.join(FLAGS)} for all C, the same optimisation for Pinocchio's headers (valgrind knows no AVX-512). "
    "Beside them the times of the same binaries."
)
N_STATES = 64


def rows() -> Iterator[Row]:
    """A few arms, the main functions, both peers."""
    reason = missing()
    for name in ARMS:
        robot = arm(name)
        with TemporaryDirectory() as folder:
            (Path(folder) / "casadi").mkdir()
            code = casadi_code(robot, Path(folder) / "casadi")
            for function in FUNCTIONS:
                program = tf.generate(robot, function)
                tf.write_c(program, Path(folder) / function, name="ours")
                yield from _compared(name, robot, program, Path(folder), code, reason)


def _compared(
    name: str, robot: tf.Robot, program: Program, folder: Path, code: CasadiCode, reason: str
) -> Iterator[Row]:
    what = f"{name}, {program.name}"
    if reason:
        yield Row(what, None, None, "-", unit="instructions", note=f"not counted: {reason}")
        return
    candidates = [
        c_candidates.ours(program, folder / program.name),
        c_candidates.casadi(program, code),
        c_candidates.pinocchio(robot, program, ("-O3", ARCHITECTURE)),
    ]
    inputs, n_outputs = c_candidates.states(program, N_STATES), sum(port.size for port in program.outputs)
    times = time_c(candidates, inputs, n_outputs, rounds=1000, flags=FLAGS)
    counts = {label: round(count) for label, count in count_c(candidates, inputs, n_outputs, flags=FLAGS).items()}
    for label, timing in list(times.items())[1:]:
        error = c_candidates.disagreement(times["ours"].outputs, timing.outputs)
        mine, theirs = (figure(times[key].seconds, "s") for key in ("ours", label))
        note = f"{mine} against {theirs}, agree to {error:.0e}"
        yield Row(what, counts["ours"], counts[label], label, unit="instructions", note=note)
