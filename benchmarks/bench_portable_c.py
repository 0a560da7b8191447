"""One call in C that was compiled for any x86-64: ours chooses its code by the processor, beside CasADi's C."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import tauform as tf
from benchmarks import c_candidates
from tools.arms import ARMS, arm
from tools.measuring.c_timing import time_c
from tools.measuring.timing import Row
from tools.peers.build import casadi_code

FLAGS = ("-O2", "-std=c99")
TITLE = (
    f"One call, arms without friction and rotors, URDF frames snapped at 1e-5 rad; gcc {' '.join(FLAGS)} for both, no "
    "-march: ours looks for AVX2 and FMA at each call. Least of many sweeps over 64 states."
)
FUNCTIONS = ("inverse_dynamics", "linearize_inverse")
N_STATES = 64


def rows() -> Iterator[Row]:
    """Every arm, both functions."""
    for name in ARMS:
        robot = arm(name)
        for function in FUNCTIONS:
            yield _compared(name, robot, tf.generate(robot, function))


def _compared(name: str, robot: tf.Robot, program: tf.Program) -> Row:
    with TemporaryDirectory() as folder:
        tf.write_c(program, Path(folder) / "ours", name="ours")
        code = casadi_code(robot, Path(folder))
        candidates = [c_candidates.ours(program, Path(folder) / "ours"), c_candidates.casadi(program, code)]
        inputs = c_candidates.states(program, N_STATES)
        timings = time_c(candidates, inputs, sum(port.size for port in program.outputs), rounds=3000, flags=FLAGS)
    ours, theirs = timings["ours"], timings["CasADi C"]
    return Row(
        f"{name}, {program.name}",
        ours=ours.seconds,
        peer=theirs.seconds,
        peer_name="CasADi C",
        note=f"agree to {c_candidates.disagreement(ours.outputs, theirs.outputs):.0e}",
    )
