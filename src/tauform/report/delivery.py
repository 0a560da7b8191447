"""deliver: a folder with C that passed its self-test, the models, and an HTML report; whole or not at all."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from tauform.codegen.names import c_prefix
from tauform.errors import GenerationError
from tauform.files.file import write_text
from tauform.files.folder import write_folder
from tauform.identification.export.code import CodeOptions
from tauform.identification.export.proof import Proof
from tauform.identification.export.urdf import source_of
from tauform.identification.fit import Fit
from tauform.messages import Progress, counted
from tauform.pipeline.robot_model import RobotModel
from tauform.pipeline.stages import Stage, StageLog
from tauform.report.code_folder import write_tested_code
from tauform.report.model_page import model_page
from tauform.version import __version__


@dataclass(frozen=True, eq=False)
class Delivery:
    """Files that were written.

    Attributes:
        folder: where.
        files: paths of all files.
        stages: those of the model, then those of writing it.
        proof: torque error of the C on the motion that the fit was judged on; None without C or a fit.
    """

    folder: Path
    files: tuple[Path, ...]
    stages: tuple[Stage, ...]
    proof: Proof | None = None

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
    options: CodeOptions = CodeOptions(),
    force: bool = False,
    progress: Progress | None = None,
) -> Delivery:
    """Write a robot's model: c/ (with its self-test run, where a compiler is there), robot.toml, closed_form.npz,
    fit.json, robot.urdf (on request), summary.json and report.html.

    Args:
        urdf: a URDF of the robot; robot.urdf is a copy with the identified inertias and friction. "new" writes one of a
            robot that came from another format.
        name: prefix of all C names; the robot's name if not given.
        options: floating-point type of the C, and how much of the recordings is stored beside it.
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
    # Goes on where the model's own stages ended: one list for the whole job.
    log = StageLog(progress or (lambda words: None), list(model.stages))
    prefix = c_prefix(name, model.robot.name)
    # Filled inside: write_folder returns files only.
    proofs: list[Proof | None] = []

    def fill(fresh: Path) -> list[str]:
        proof, products = write_tested_code(model, fresh / "c", prefix, options, log)
        proofs.append(proof)
        # After the C: its failure is noted in the log, and the models are written all the same.
        _write_models(model, fresh)
        if model.fit is not None and urdf is not None:
            _write_urdf(model.fit, source_of(urdf), fresh / "robot.urdf", log)
        with log.stage("report", spare=True) as describe:
            # Told before the page is made, since the page shows the stages.
            describe(outcome="report.html")
            page = model_page(replace(model, stages=tuple(log.stages)), proof)
            write_text(fresh / "report.html", page, GenerationError)
        # Last: it lists every stage, the report's own among them.
        write_text(fresh / "summary.json", _summary(model, log, proof), GenerationError)
        return products

    files = write_folder(folder, fill, force)
    # Resolved: the caller may change its folder before it reads.
    place = Path(folder).expanduser().resolve()
    written = Delivery(place, tuple(files), tuple(log.stages), *proofs)
    # Raises where a stage failed, with the delivery as what was finished.
    log.end(written, f"everything else is in {folder}")
    return written


def _summary(model: RobotModel, log: StageLog, proof: Proof | None) -> str:
    stages = [asdict(stage) for stage in log.stages]
    torque_error = None if proof is None else proof.described()
    told = {"tauform": __version__, "robot": model.robot.name, "torque_error": torque_error, "stages": stages}
    return json.dumps(told, indent=2) + "\n"


def deliver_fit(fit: Fit, folder: str | Path, *, force: bool = False) -> list[Path]:
    """Write a fit alone, where nothing could be made of it: fit.json, fit.npz to load again, and report.html."""

    def fill(fresh: Path) -> list[str]:
        fit.save(fresh / "fit.json")
        fit.report(fresh / "report.html")
        # Columns that a user's own function makes cannot be loaded again from a file.
        if not fit.design.has_own_columns:
            fit.save(fresh / "fit.npz")
        return []

    return write_folder(folder, fill, force)


def _write_urdf(fit: Fit, source: Path | None, path: Path, log: StageLog) -> None:
    with log.stage("URDF", spare=True) as describe:
        written = fit.write_urdf(source, path)
        loss = written.loss
        # Loss in words; the figure beside is the torque error that is left.
        outcome = f"robot.urdf, {counted(len(written.findings), 'note')}" if written.findings else "robot.urdf"
        describe(outcome=outcome, check=f"{loss.rows}; {loss} lost", figure=loss.other, notes=tuple(written.findings))


def _write_models(model: RobotModel, folder: Path) -> None:
    model.robot.save(folder / "robot.toml")
    if model.closed_form is not None:
        model.closed_form.save(folder / "closed_form.npz")
    if model.fit is not None:
        model.fit.save(folder / "fit.json")
