"""What jobs do: each takes plain values and a way to tell, and runs in a process of its own."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tauform.codegen.backends.registry import backend
from tauform.codegen.generate import generate
from tauform.codegen.names import c_prefix
from tauform.codegen.program.program import Program
from tauform.codegen.runtime.kernel import compile_program
from tauform.codegen.write import write
from tauform.description.robot import Robot
from tauform.errors import GenerationError
from tauform.identification.export.code import CodeOptions, write_code
from tauform.identification.identify import identify
from tauform.identification.logs.read import read_recording
from tauform.identification.motion.clearance import Clearance, measured_distances, placements
from tauform.identification.motion.excite import excite
from tauform.identification.motion.trajectory import Trajectory
from tauform.identification.recording.recording import Recording
from tauform.messages import Progress
from tauform.realtime.reduction.recorded import recorded_profile
from tauform.realtime.reduction.reduce import reduce
from tauform.report.sections.identification import write_report
from tauform.rigidbody.kinematics import link_placements
from tauform.studio.file_names import without_paths
from tauform.studio.fit_look import FRAMES, kept_fit, look_at_fit
from tauform.studio.lines import LONGEST_EXCERPT
from tauform.studio.results import FitLook, PlannedMotion, ShownReduction

STATES = 4096  # of a batch that is timed

LogOptions = Mapping[Path, Mapping[str, Any]]


def read_logs(robot: Robot, logs: LogOptions, tell: Progress) -> dict[str, Recording]:
    """Recordings by file name; each log with the options that were chosen for it."""
    found = {}
    for path, options in logs.items():
        tell(f"reading {path.name}")
        found[path.name] = read_recording(path, robot, **options)
    return found


def identify_robot(
    robot: Robot, fitted: LogOptions, validated: LogOptions, physical: bool, kept: Path, tell: Progress
) -> FitLook:
    """What the page shows of a fit of logs, judged on the validation logs where there are any.

    Args:
        kept: where the fit itself is kept.
    """
    # Read here: recordings may be larger than what should cross processes.
    recordings, judges = (list(read_logs(robot, logs, tell).values()) for logs in (fitted, validated))
    fit = identify(robot, recordings, validate=judges or None, physical=physical, progress=tell)
    return look_at_fit(fit, kept, tell)


def shrink(robot: Robot, tolerance: float, profile: str, logs: LogOptions, tell: Progress) -> ShownReduction:
    """The cheapest program within an error.

    Args:
        profile: "slow" or "fast" within the robot's limits; without a meaning where logs are given.
        logs: their motion takes the place of the profile.
    """
    recorded = recorded_profile(list(read_logs(robot, logs, tell).values())) if logs else None
    states: Any = recorded if recorded is not None else profile
    found = reduce(robot, profile=states, tolerance=tolerance, progress=tell)
    tell("timing both programs")
    return ShownReduction(found, nanoseconds(found.exact), nanoseconds(found.program))


def nanoseconds(program: Program) -> float:
    """One state of a batch on this machine, the least of a few runs."""
    kernel = compile_program(program)
    rng = np.random.default_rng(0)
    # (N, ...) for each input, whatever the function takes.
    states = [rng.uniform(-1, 1, (STATES, *port.shape)) for port in program.inputs]
    best = np.inf
    for _ in range(5):
        start = time.perf_counter()
        kernel(*states)
        best = min(best, time.perf_counter() - start)
    return float(1e9 * best / STATES)


def plan(robot: Robot, options: Mapping[str, Any], tell: Progress) -> PlannedMotion:
    """A motion that shows every base parameter, with the distances that its links keep."""
    # excite reports a share, and the page takes words.
    motion = excite(robot, progress=lambda share: tell(f"{100 * share:.0f} % of the search"), **options)
    rows = np.unique(np.linspace(0, len(motion.t) - 1, FRAMES).astype(int))
    if not options.get("collisions", True) or not robot.shapes or motion.bounds is None:
        return PlannedMotion(motion, rows.tolist(), np.zeros(0), "")
    tell("measuring distances along the motion")
    return _with_distances(robot, motion, rows.tolist(), options.get("floor"))


def _with_distances(robot: Robot, motion: Trajectory, rows: list[int], floor: float | None) -> PlannedMotion:
    assert motion.bounds is not None
    clearance = Clearance.of(robot, motion.bounds, True, floor)
    placed = link_placements(robot, motion.q[rows])
    at = [placements(solid, placed) for solid in clearance.solids]
    states = np.arange(len(rows))
    found = np.array(
        [
            measured_distances(clearance.solids[i], clearance.solids[j], at[i], at[j], states).distance
            for i, j in clearance.pairs
        ]
    ).reshape(-1, len(rows))
    if not len(found):
        return PlannedMotion(motion, rows, np.zeros(0), "")
    i, j = clearance.pairs[int(found.min(axis=1).argmin())]
    return PlannedMotion(motion, rows, found.min(axis=0), f"{clearance.solids[i].name} and {clearance.solids[j].name}")


def deliver(
    model: Robot | Path, functions: Sequence[str], target: str, real: str, folder: Path, tell: Progress
) -> dict[str, str]:
    """Code in a folder, with what its self-test said.

    Args:
        model: a robot, or the file of a kept fit, whose robot it is then.
    """
    fit = kept_fit(model) if isinstance(model, Path) else None
    robot = fit.identified_robot if fit is not None else model
    assert isinstance(robot, Robot)
    # C of a fit is checked on its recording too; other targets only on random states.
    if fit is not None and target == "c":
        tell("writing C with the recording that the fit was judged on")
        write_code(fit, folder, None, CodeOptions(real, excerpt=LONGEST_EXCERPT, functions=tuple(functions)))
    else:
        programs = []
        for function in functions:
            tell(f"searching {function}")
            programs.append(generate(robot, function))
        write(programs, folder, target=target, real=real)  # type: ignore[arg-type]  # the page's list
    tell("running the self-test")
    return {"folder": str(folder), "said": self_test(folder, target, robot.name)}


def self_test(folder: Path, target: str, name: str) -> str:
    """What the folder's own check printed.

    Raises:
        GenerationError: the check failed.
    """
    said = []
    # Every target has commands of its own, such as make check or cargo test.
    for command in backend(target).check_commands(c_prefix(None, name)):
        try:
            run = subprocess.run(
                command, cwd=folder, capture_output=True, encoding="utf-8", errors="replace", timeout=600
            )
        except FileNotFoundError:
            return f"written, not run: {command[0]} is not installed on this machine"
        if run.returncode:
            # The end of the output, where compilers and tests name the failure; names of files first, which a cut path
            # could not be told from.
            output = without_paths(run.stdout + run.stderr, folder.parent, {})
            raise GenerationError(f"the self-test failed: {output.strip()[-800:]}")
        said.append(run.stdout.strip())
    # Some build tools name the folder that they work in.
    return without_paths("\n".join(said), folder.parent, {})


def report(kept: Path, path: Path, tell: Progress) -> str:
    """The HTML report of a kept fit."""
    tell("writing the report")
    return str(write_report(kept_fit(kept), path))
