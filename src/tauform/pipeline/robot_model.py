"""RobotModel: everything that the main job makes of a robot, and how it is written."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from tauform.arguments import checked_methods
from tauform.closedform.base.baseset import BaseParameters
from tauform.closedform.model.bound import BoundModel
from tauform.closedform.model.model import ClosedFormModel
from tauform.closedform.reduction.tradeoff import Tradeoff
from tauform.codegen.program.program import Program
from tauform.deferred import deferred
from tauform.description.finding import Finding
from tauform.description.robot import Robot
from tauform.escaping.shown import visible
from tauform.identification.export.code import CodeOptions
from tauform.identification.fit import Fit
from tauform.messages import Progress
from tauform.pipeline.stages import Stage
from tauform.realtime.reduction.reduce import Reduction

if TYPE_CHECKING:
    from tauform.report.delivery import Delivery


@checked_methods
@dataclass(frozen=True, eq=False, repr=False)
class RobotModel:
    """Everything that `model_robot` made.

    Attributes:
        described: the robot as it was given.
        robot: the robot that the models and programs describe: identified where recordings were given.
        findings: what `check` found about the description.
        base: base parameters of the robot.
        closed_form: its closed form; None where it has none (trees, loops) or it would be too large.
        bound: the closed form with the robot's numbers.
        fit: the identification with all the terms that held-out blocks asked for; None without recordings.
        programs: the exact programs, one per function.
        reduction: the cheapest program within the tolerance; None where that was not asked for.
        tradeoff: errors of the closed form with ever fewer terms; None without a closed form or a tolerance.
        stages: what was done and verified, in order.
    """

    described: Robot
    robot: Robot
    findings: tuple[Finding, ...]
    base: BaseParameters
    closed_form: ClosedFormModel | None
    bound: BoundModel | None
    fit: Fit | None
    programs: tuple[Program, ...]
    reduction: Reduction | None
    tradeoff: Tradeoff | None
    stages: tuple[Stage, ...]

    @property
    def delivered(self) -> tuple[Program, ...]:
        """The exact programs, and the reduced one under a name of its own, as C holds them."""
        reduction = self.reduction
        # The exact program again would only be a second name for the first.
        if reduction is None or reduction.route == "exact":
            return self.programs
        return (*self.programs, replace(reduction.program, name=f"{reduction.program.name}_reduced"))

    def write(
        self,
        folder: str | Path,
        *,
        urdf: str | Path | None = None,
        name: str | None = None,
        real: Literal["double", "float"] = "double",
        recording: bool = True,
        excerpt: float | None = None,
        force: bool = False,
        progress: Progress | None = None,
    ) -> Delivery:
        """Write C, its self-test run, models and an HTML report; see `tauform.report.delivery.deliver`."""
        # Together, since they are passed on through several stages.
        options = CodeOptions(real, recording, excerpt)
        return deferred("RobotModel.write")(
            self, folder, urdf=urdf, name=name, options=options, force=force, progress=progress
        )

    def __repr__(self) -> str:
        names = ", ".join(program.name for program in self.programs)
        return f"RobotModel({self.robot.name!r}, {self.base.n} base parameters, programs {names})"

    def __str__(self) -> str:
        """The summary, one line per stage."""
        stages = [f"{s.name}: {s.outcome}; {s.verdict or s.status}" for s in self.stages]
        return "\n".join(map(visible, [repr(self), *stages]))
