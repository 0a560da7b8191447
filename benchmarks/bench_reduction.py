"""Reduced models beside the exact program: every cell of Lloyd2021 Table 3, and recorded motions."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import tauform as tf
from tauform.realtime.reduction.figures import accuracy_table
from tools.measuring.c_timing import CFunction, time_c
from tools.measuring.timing import Row

TITLE = (
    "The fastest program within an error, for a share of the states (1,000,000 fresh ones, or held-out blocks of a "
    "recording), beside our own exact program: one call in C, gcc -O3 -march=native; times in a batch, compiled, "
    "stand in the notes."
)
N_STATES, ROUNDS = 256, 4000
DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
# Robot and recordings, where they are at hand.
RECORDED = {
    "kuka_lwr4/kuka_lwr4.urdf": ("kuka_lwr4/lwr4_run1.csv", "kuka_lwr4/lwr4_run2.csv", "kuka_lwr4/lwr4_run3.csv"),
    "tx40/tx40_mdh_modified.urdf": ("tx40/tx40.csv",),
}


def rows() -> Iterator[Row]:
    """KR6 and LBR7, slow and fast profiles, 1 % and 0.1 %, 95 % and 99.9 %; then recorded motions at 1 %, 99.9 %."""
    for name in ("kr6_r700", "lbr7"):
        for cell in accuracy_table(tf.load(name)):
            paper = f", paper {cell.paper} of {cell.paper_exact} us" if cell.paper else ""
            batch = f", batch {cell.nanoseconds:.1f} of {cell.exact_nanoseconds:.1f} ns"
            what = f"{name}, {cell.profile}, {cell.tolerance:.1%}, {cell.confidence:.1%}"
            routes = ", ".join(f"{route} {operations}" for route, operations in cell.routes.items())
            yield _row(what, cell.reduction, f"; by route: {routes}{batch}{paper}")
    for robot, logs in RECORDED.items():
        if all((DATA / file).exists() for file in (robot, *logs)):
            arm = tf.load(DATA / robot)
            profile = tf.recorded_profile([tf.read_recording(DATA / log, arm) for log in logs])
            found = tf.reduce(arm, profile, routes=("parameters", "velocity", "operations"))
            held_out = found.candidates[0].verification.n_states
            yield _row(f"{arm.name}, recorded, 1.0%, 99.9%", found, f" on {held_out} held-out states")


def _row(what: str, found: tf.Reduction, more: str) -> Row:
    reduced, exact = _seconds(found)
    n_reduced, n_exact = found.program.n_operations, found.exact.n_operations
    return Row(
        what,
        ours=reduced,
        peer=exact,
        peer_name="our exact program",
        note=f"{n_reduced} of {n_exact} operations ({found.route}), error {found.error:.2%}{more}",
    )


def _seconds(found: tf.Reduction) -> tuple[float, float]:
    """One call in C, reduced and exact, in turns."""
    n = found.robot.n_joints
    states = np.concatenate(found.profile.sample(N_STATES, np.random.default_rng(0)), axis=1)
    with TemporaryDirectory() as folder:
        functions = []
        for name, program in (("reduced", found.program), ("exact", found.exact)):
            tf.write_c(program, Path(folder) / name, name=name)
            functions.append(
                CFunction(
                    name,
                    (Path(folder) / name / f"{name}.c",),
                    f'#include "{name}.h"',
                    f"{name}_inverse_dynamics(in, in + {n}, in + {2 * n}, out);",
                    flags=(f"-I{Path(folder) / name}",),
                )
            )
        timed = time_c(functions, states, n, rounds=ROUNDS)
    return timed["reduced"].seconds, timed["exact"].seconds
