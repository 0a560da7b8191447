"""Fit: an identified model as users hold it, with everything that they do next."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from numpy.typing import ArrayLike

from tauform.arguments import checked_methods
from tauform.deferred import deferred
from tauform.description.robot import Robot
from tauform.errors import IdentificationError
from tauform.identification.export.code import CodeOptions, write_code
from tauform.identification.export.save import save_fit
from tauform.identification.export.urdf import WrittenUrdf, write_urdf
from tauform.identification.fitted.model import ConsistencyMethod, FittedModel
from tauform.identification.physical.consistency import physically_consistent
from tauform.identification.regression.residuals import Errors
from tauform.identification.selection.significance import Limit, reduced
from tauform.identification.verdict.comparison import Comparison, compared_with, per_recording
from tauform.identification.verdict.judge import Verdict, judge
from tauform.identification.verdict.validate import unfiltered_errors

FitPlot = Literal["torque", "errors", "friction", "residuals", "spectrum", "filters", "sensitivity", "correlations"]


@checked_methods
class Fit(FittedModel):
    """An identified model: what it predicts, its verdict, and the ways on to robots, files and C."""

    @property
    def has_unfiltered(self) -> bool:
        """Whether `unfiltered` can be told: a fit that was loaded and refitted has no recordings to compare with."""
        return self.source is not None or self.saved_unfiltered is not None

    @cached_property
    def unfiltered(self) -> Errors:
        """Errors against the torques as they were measured: noise that the filters took off shows here.

        Raises:
            IdentificationError: the fit was loaded, and refitted since; or its file is an older one.
        """
        if self.source is not None:
            # Computed on demand: every sample is predicted again, without filters.
            return unfiltered_errors(self, self.source)
        if self.saved_unfiltered is None:
            raise IdentificationError(
                f"unfiltered: a fit of {self.robot.name} that was loaded has no recordings to compare new values with",
                remedy="identify again, and reduce or constrain the fit before it is saved",
            )
        return self.saved_unfiltered

    @cached_property
    def verdict(self) -> Verdict:
        """Good, usable or not trustworthy, and why."""
        # On demand: fits in between, such as those of held-out blocks, are never judged.
        return judge(self)

    def reduced(
        self,
        tolerance: float = 0.01,
        max_deviation: float = 0.3,
        most: int | None = None,
        keep_accuracy: bool = True,
        limit: Limit = "joint",
    ) -> Fit:
        """Fit of the significant values alone; a physical fit stays one.

        See `tauform.identification.selection.significance.reduced`.
        """
        # Functions of other rooms: a fit is data, and what is done with it stands where it belongs.
        return reduced(self, tolerance, max_deviation, most, keep_accuracy, limit)

    def physically_consistent(
        self,
        prior: Robot | ArrayLike | None = None,
        method: ConsistencyMethod = "semidefinite",
    ) -> Fit:
        """The nearest fit with physically consistent links; see `tauform.identification.physical.consistency`."""
        return physically_consistent(self, prior, method)

    def compared_with(self, other: Robot | None = None) -> Comparison:
        """Residuals and values beside those of another model, by default the robot as described."""
        return compared_with(self, other)

    def per_recording(self) -> Any:
        """Mean, standard deviation, maximum and minimum over recordings.  [Izaguirre1992, Table 1]"""
        return per_recording(self)

    def save(self, path: str | Path) -> Path:
        """Write the fit: .json for people and other programs, .npz for `tauform.load_fit`."""
        return save_fit(self, Path(path))

    def write_urdf(self, source: str | Path | None, path: str | Path) -> WrittenUrdf:
        """Write a URDF with the identified, physically consistent links and as much friction as it holds.

        Its `findings`, a comment in the file too, say what is not in it (rotor inertias, offsets, other friction laws)
        and how much that costs on the recordings.

        Args:
            source: the URDF that the robot was read from, which is copied; None writes one of the robot.
        """
        return write_urdf(self, None if source is None else Path(source), Path(path))

    def write_code(
        self,
        folder: str | Path,
        name: str | None = None,
        *,
        functions: Sequence[str] = ("inverse_dynamics",),
        real: Literal["double", "float"] = "double",
        recording: bool = True,
        excerpt: float | None = None,
        force: bool = False,
    ) -> list[Path]:
        """C99 of the whole prediction, friction included, with the motion that the fit was judged on.

        `make check` in the folder runs the compiled C on that motion and repeats the torque error.

        Args:
            name: prefix of all names, an identifier of C; the robot's name if not given.
            functions: of the identified robot; the motion checks those that give torques of its states.
            real: floating-point type.
            recording: store the motion in the folder; leave it out where logs are confidential.
            excerpt: seconds of it that are stored; all by default.
            force: also write into a folder that holds other files.
        """
        return write_code(
            self, Path(folder), name, CodeOptions(real, recording, excerpt, tuple(functions)), force
        ).files

    def plot(self, what: FitPlot = "torque") -> Any:
        """A figure of Plotly: notebooks display it, `.show()` opens it, `.write_html(path)` writes it.

        Args:
            what: "torque" (measured and predicted, on the motion that the fit was judged on), "errors" by joint before
                and after, "friction" over velocity with its data, "residuals" (their correlation in time), "spectrum"
                of the residuals, "filters" (spectrum of the motion and cut-offs), "sensitivity" (torque that each
                value's uncertainty costs), or "correlations" of the values.

        Raises:
            IdentificationError: the fit has nothing of the kind.
        """
        # Rows above this one draw; see `deferred.py`.
        return deferred("Fit.plot")(self, what)

    def report(self, path: str | Path) -> Path:
        """One HTML file with plots and tables that opens offline."""
        return deferred("Fit.report")(self, Path(path))

    def __repr__(self) -> str:
        return (
            f"Fit({self.robot.name!r}, {self.method}, {len(self.values)} values, error on {self.unseen.source} "
            f"{100 * self.unseen.total:.2f} %: {self.verdict.grade})"
        )
