"""One call in C: our functions, Pinocchio's C++ and CasADi's C of the same arm, in one process."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import tauform as tf
from benchmarks import c_candidates
from tauform.codegen.program.program import Program
from tools.arms import ARMS, arm
from tools.measuring.c_timing import FLAGS, time_c
from tools.measuring.timing import Row
from tools.peers.build import CasadiCode, casadi_code

TITLE = (
    f"One call, arms without friction and rotors, URDF frames snapped at 1e-5 rad; gcc {' '.join(FLAGS)} for all C, "
    "the same optimisation for Pinocchio's headers; least of many sweeps over 64 states. "
    "CasADi's C is that of Pinocchio's algorithms traced on casadi::SX."
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
N_STATES = 64


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
                yield from _compared(name, robot, program, Path(folder), code)


def _compared(name: str, robot: tf.Robot, program: Program, folder: Path, code: CasadiCode) -> Iterator[Row]:
    candidates = [
        c_candidates.ours(program, folder / program.name),
        c_candidates.casadi(program, code),
        c_candidates.pinocchio(robot, program),
    ]
    inputs = c_candidates.states(program, N_STATES)
    timings = time_c(candidates, inputs, sum(port.size for port in program.outputs), rounds=2000)
    ours = timings["ours"]
    for label, timing in timings.items():
        if label == "ours":
            continue
        counts = code.counts[program.name]
        operations = f"; {program.n_operations} against {sum(counts[:2])} operations" if "CasADi" in label else ""
        yield Row(
            f"{name}, {program.name}",
            ours=ours.seconds,
            peer=timing.seconds,
            peer_name=label,
            note=f"agree to {c_candidates.disagreement(ours.outputs, timing.outputs):.0e}{operations}",
        )
