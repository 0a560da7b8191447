"""tauform bench: our programs next to other tools on this machine."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tauform.cli.page import Page
from tauform.cli.progress import ProgressDisplay
from tauform.cli.verb import verb
from tauform.escaping.shown import visible

if TYPE_CHECKING:
    from tauform.description.robot import Robot


@verb
def bench(
    robot: Robot,
    tell: ProgressDisplay,
    states: Annotated[int, typer.Option(min=1, help="States of a batch.")] = 100_000,
    repeats: Annotated[int, typer.Option(min=1, help="Samples of each; the least counts.")] = 15,
) -> Page:
    """Time inverse dynamics side by side: our kernel and C, and Pinocchio, CasADi and MuJoCo if they are installed."""
    import numpy as np
    from rich.text import Text

    import tauform as tf
    from tauform.cli.comparison import peers
    from tauform.codegen.certificate import EXACT_MODEL, REPORT_IT, relative_error, within
    from tauform.report.tables import table

    # Seeded: two runs time the same states, so their figures compare.
    q, qd, qdd = np.random.default_rng(0).uniform(-np.pi, np.pi, (3, states, robot.n_joints))
    tell("compiling")
    program = tf.generate(robot, "inverse_dynamics")
    kernel = tf.compile(program)
    # One hundred states tell a wrong kernel from a right one.
    # By name: the tiered function may be a kernel itself, and would be compared with itself.
    expected = tf.textbook.inverse_dynamics(robot, q[:100], qd[:100], qdd[:100])
    # A peer that is not installed is named as missing, never estimated.
    one, batch, missing = peers.candidates(robot, kernel, (q, qd, qdd))
    tell("measuring C")
    in_c, no_c = peers.time_in_c(program, q[0], qd[0], qdd[0])
    tell("measuring kernels and peers")
    seconds = peers.least_seconds({**one, **batch}, repeats)
    # C is timed by a program of its own, without the call from Python.
    seconds |= in_c
    error = relative_error(kernel(q[:100], qd[:100], qdd[:100]), expected)
    # A time of wrong results is worth nothing.
    within(error, EXACT_MODEL, f"the kernel of {robot.name}", REPORT_IT)
    # One call and a batch are different races: each has a best of its own.
    best = {"one": min(seconds[k] for k in (*one, *in_c)), "batch": min(seconds[k] for k in batch)}
    one_rows = [(k, 1e9 * seconds[k], seconds[k] / best["one"]) for k in sorted((*one, *in_c), key=seconds.__getitem__)]
    batch_rows = [
        # In 1e6 states per second, where more is better; the last column stays a ratio of times, where less is.
        (k, states / seconds[k] / 1e6, seconds[k] / best["batch"])
        for k in sorted(batch, key=seconds.__getitem__)
    ]
    heading = Text(
        f"Inverse dynamics of {visible(robot.name)}: {program.n_operations} operations per state", style="bold"
    )
    notes = [f"Not measured: {name} ({why})." for name, why in {**missing, **no_c}.items()]
    if peers.ignored_by_peers(robot):
        notes.append("Peers compute without friction.")
    data: dict[str, Any] = {
        "robot": robot.name,
        "operations": program.n_operations,
        "states": states,
        "cores": os.cpu_count(),
        "error": error,
        "one_state_seconds": {k: seconds[k] for k in (*one, *in_c)},
        "batch_seconds": {k: seconds[k] for k in batch},
        "missing": {**missing, **no_c},
    }
    return Page(
        data,
        (
            heading,
            table("One state", ("", "ns per call", "times the least"), one_rows),
            table(f"{states:,} states", ("", "M states/s", "times the least"), batch_rows),
            f"Kernel and textbook algorithm agree to {error:.0e}. Times are the least of {repeats} samples.",
            *notes,
        ),
    )
