"""What jobs do: each takes plain values and a way to tell, and runs in a process of its own."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tauform.codegen.backends.registry import backend
from tauform.codegen.generate import generate
from tauform.codegen.names import c_prefix
from tauform.codegen.write import write
from tauform.description.robot import Robot
from tauform.errors import GenerationError
from tauform.identification.export.code import CodeOptions, write_code
from tauform.identification.fit import Fit
from tauform.identification.identify import identify
from tauform.identification.logs.read import read_recording
from tauform.identification.motion.excite import excite
from tauform.identification.motion.trajectory import Trajectory
from tauform.identification.recording.recording import Recording
from tauform.messages import Progress
from tauform.realtime.reduction.reduce import Reduction, reduce
from tauform.report.sections.identification import write_report


def read_logs(robot: Robot, logs: Mapping[Path, Mapping[str, Any]], tell: Progress) -> dict[str, Recording]:
    """Recordings by file name; each log with the options that were chosen for it."""
    found = {}
    for path, options in logs.items():
        tell(f"reading {path.name}")
        found[path.name] = read_recording(path, robot, **options)
    return found


def identify_robot(
    robot: Robot, fitted: Sequence[Recording], validated: Sequence[Recording], physical: bool, tell: Progress
) -> Fit:
    """A fit, judged on the validation recordings where there are any."""
    return identify(robot, list(fitted), validate=list(validated) or None, physical=physical, progress=tell)


def shrink(robot: Robot, tolerance: float, profile: str, tell: Progress) -> Reduction:
    """The cheapest program within an error."""
    return reduce(robot, profile=profile, tolerance=tolerance, progress=tell)  # type: ignore[arg-type]  # checked there


def plan(robot: Robot, duration: float, seconds: float, collisions: bool, tell: Progress) -> Trajectory:
    """A motion that shows every base parameter."""
    # Bound here, since excite reports a share, and the page takes words.
    said = tell
    return excite(
        robot,
        duration=duration,
        max_seconds=seconds,
        collisions=collisions,
        progress=lambda share: said(f"{100 * share:.0f} % of the search"),
    )


def deliver(
    model: Robot | Fit, functions: Sequence[str], target: str, real: str, folder: Path, tell: Progress
) -> dict[str, str]:
    """Code in a folder, with what its self-test said."""
    robot = model.identified_robot if isinstance(model, Fit) else model
    # C of a fit is checked on its recording too; other targets only on random states.
    if isinstance(model, Fit) and target == "c":
        tell("writing C with the recording that the fit was judged on")
        write_code(model, folder, None, CodeOptions(real))
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
            # The end of the output, where compilers and tests name the failure.
            raise GenerationError(f"the self-test failed: {(run.stdout + run.stderr).strip()[-800:]}")
        said.append(run.stdout.strip())
    return "\n".join(said)


def report(fit: Fit, path: Path, tell: Progress) -> str:
    """The HTML report of a fit."""
    tell("writing the report")
    return str(write_report(fit, path))
