"""deliver: a folder with C that passed its self-test, the models, and an HTML report; whole or not at all."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from tauform.codegen.names import c_prefix, fit_prefix
from tauform.codegen.write import write_c
from tauform.errors import GenerationError
from tauform.files.file import write_text
from tauform.files.folder import drop_folder, write_folder
from tauform.files.temporaries import scratch_folder
from tauform.identification.export.urdf import source_of
from tauform.identification.fit import Fit
from tauform.messages import counted
from tauform.pipeline.model_robot import RobotModel
from tauform.pipeline.stages import Progress, Stage, StageLog
from tauform.report.model_page import model_page
from tauform.version import __version__

DEVIATION = re.compile(r"largest deviation (\S+), allowed (\S+)")
SELF_TEST_SECONDS = 300


@dataclass(frozen=True, eq=False)
class Delivery:
    """What was written.

    Attributes:
        folder: where.
        files: paths of all files.
        stages: those of the model, then those of writing it.
    """

    folder: Path
    files: tuple[Path, ...]
    stages: tuple[Stage, ...]

    @property
    def report(self) -> Path:
        """The HTML report; any browser opens it."""
        return self.folder / "report.html"


def deliver(
    model: RobotModel,
    folder: str | Path,
    *,
    urdf: str | Path | None = None,
    name: str | None = None,
    force: bool = False,
    progress: Progress | None = None,
) -> Delivery:
    """Write a robot's model: c/ (with its self-test run, where a compiler is there), robot.toml, closed_form.npz,
    fit.json, c_fit/ (where a fit holds more than a robot can), robot.urdf (on request), summary.json and report.html.

    Args:
        urdf: a URDF of the robot; robot.urdf is a copy with the identified inertias and friction. "new" writes one of a
            robot that came from another format.
        name: prefix of all C names; the robot's name if not given.
        folder: made if it does not exist; one that we wrote before is replaced.
        force: also write into a folder that holds other files.
        progress: called with a few words at each stage.

    Raises:
        GenerationError: the folder is not ours or cannot be written, the C failed its self-test, or there is no fit for
            a URDF. What can be written is written all the same: the error's `finished` is the Delivery.
    """
    if urdf is not None and model.fit is None:
        raise GenerationError(
            "urdf: nothing was identified that a URDF could be given; model the robot with recordings"
        )
    log = StageLog(progress or (lambda words: None), list(model.stages))
    prefixes = c_prefix(name, model.robot.name), fit_prefix(name, model.robot.name)

    def fill(fresh: Path) -> list[str]:
        products = [*_write_code(model, fresh / "c", prefixes[0], log)]
        products += _write_fit_code(model, fresh / "c_fit", prefixes[1], log)
        _write_models(model, fresh)
        if model.fit is not None and urdf is not None:
            _write_urdf(model.fit, source_of(urdf), fresh / "robot.urdf", log)
        with log.stage("report") as describe:
            describe(outcome="report.html")
            page = model_page(replace(model, stages=tuple(log.stages)))
            write_text(fresh / "report.html", page, GenerationError)
        summary = {"tauform": __version__, "robot": model.robot.name, "stages": [asdict(s) for s in log.stages]}
        write_text(fresh / "summary.json", json.dumps(summary, indent=2) + "\n", GenerationError)
        return products

    files = write_folder(folder, fill, force)
    written = Delivery(Path(folder).expanduser().resolve(), tuple(files), tuple(log.stages))
    log.end(written, f"everything else is in {folder}")
    return written


def deliver_fit(fit: Fit, folder: str | Path, *, force: bool = False) -> list[Path]:
    """Write a fit alone, where nothing could be made of it: fit.json, fit.npz to load again, and report.html."""

    def fill(fresh: Path) -> list[str]:
        fit.save(fresh / "fit.json")
        fit.report(fresh / "report.html")
        if not fit.design.has_own_columns:
            fit.save(fresh / "fit.npz")
        return []

    return write_folder(folder, fill, force)


def _write_code(model: RobotModel, folder: Path, name: str, log: StageLog) -> list[str]:
    programs = model.delivered
    with log.stage("C", spare=True) as describe:
        if not programs:
            describe(outcome="no programs to write", status="skipped")
            return []
        files = write_c(programs, folder, name=name)
        words = f"{counted(len(files), 'file')}, {counted(len(programs), 'function')}"
        _described(words, self_test(folder), describe)
        return [f"c/test_{name}"]
    drop_folder(folder)
    return []


def _write_fit_code(model: RobotModel, folder: Path, name: str, log: StageLog) -> list[str]:
    """What the fit predicts, with the terms that a robot cannot hold; without such terms c/ says it all."""
    fit = model.fit
    if fit is None or fit.holds_nothing_else:
        return []
    with log.stage("C of the fit", spare=True) as describe:
        try:
            fit.write_code(folder, name)
        except GenerationError as reason:
            describe(outcome=str(reason), status="skipped")
            return []
        words = f"c_fit: prediction with {counted(len(fit.terms), 'further term')}"
        _described(words, self_test(folder), describe)
        return [f"c_fit/test_{name}"]
    drop_folder(folder)
    return []


def _described(words: str, tested: tuple[float, float] | None, describe: Callable[..., None]) -> None:
    if tested is None:
        describe(outcome=f"{words}; self-test not run: no C compiler", status="skipped")
    else:
        describe(outcome=words, status="verified", check="make check", figure=tested[0], allowed=tested[1])


def self_test(folder: Path) -> tuple[float, float] | None:
    """Compile a folder of `write_c` and run its test elsewhere: (largest deviation, what it allows).

    None where make or a C compiler is missing.

    Raises:
        GenerationError: it does not compile or a result is off.
    """
    compiler = os.environ.get("CC", "cc").split()
    if not compiler or shutil.which("make") is None or shutil.which(compiler[0]) is None:
        return None
    with scratch_folder() as scratch:
        copy = shutil.copytree(folder, scratch / "c")
        done = _run(["make", "check"], copy)
    if done.returncode:
        last = (done.stderr or done.stdout).strip().splitlines()[-1:]
        raise GenerationError(f"the C failed its self-test ({' '.join(last)}) and was not written")
    found = [(float(error), float(allowed)) for error, allowed in DEVIATION.findall(done.stdout)]
    if not found:
        raise GenerationError("the C's self-test ended without a figure; it was not written")
    return max(found, key=lambda pair: pair[0] / pair[1])


def _run(command: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    try:
        # A compiler speaks the user's language in the user's encoding, which may be any.
        return subprocess.run(
            command,
            cwd=folder,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
            timeout=SELF_TEST_SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise GenerationError(f"the C's self-test took longer than {SELF_TEST_SECONDS} s; it was not written") from None


def _write_urdf(fit: Fit, source: Path | None, path: Path, log: StageLog) -> None:
    with log.stage("URDF", spare=True) as describe:
        written = fit.write_urdf(source, path)
        loss = written.loss
        check = f"{loss.rows}; {loss} lost"
        describe(outcome="; ".join(["robot.urdf", *written.findings]), check=check, figure=loss.other)


def _write_models(model: RobotModel, folder: Path) -> None:
    model.robot.save(folder / "robot.toml")
    if model.closed_form is not None:
        model.closed_form.save(folder / "closed_form.npz")
    if model.fit is not None:
        model.fit.save(folder / "fit.json")
