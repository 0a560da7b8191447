"""Fit: what was identified, how well it is known, and what it predicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from tauform.arguments import checked_methods
from tauform.arrays import Array, read_only
from tauform.description.robot import Robot
from tauform.errors import IdentificationError
from tauform.identification.regression.design import Design
from tauform.identification.regression.evidence import Evidence
from tauform.identification.regression.residuals import Errors, Residuals
from tauform.identification.regression.rows import Rows, RowSource
from tauform.identification.regression.terms import Column, Term
from tauform.identification.signals.filters import Filters
from tauform.identification.verdict.swaps import Swap
from tauform.rigidbody.sweeps.evaluation import batched

if TYPE_CHECKING:
    from tauform.identification.fitted.urdf import WrittenUrdf
    from tauform.identification.verdict.comparison import Comparison
    from tauform.identification.verdict.judge import Verdict

STATES_PER_SLICE = 5000
ConsistencyMethod = Literal["semidefinite", "log_cholesky"]


@dataclass(frozen=True, eq=False)
class Unreduced:
    """All columns, before some were left out: what physical links cannot lack comes back from here.

    Attributes:
        design: which columns there were.
        evidence: what the rows say about them.
        rows: with all columns, or where they come from.
    """

    design: Design
    evidence: Evidence
    rows: Sequence[Rows] | RowSource

    def places(self, names: Sequence[str]) -> list[int]:
        """Columns of these names."""
        place = {name: k for k, name in enumerate(self.design.names)}
        return [place[name] for name in names]


@checked_methods
@dataclass(frozen=True, eq=False, repr=False)
class Fit:
    """An identified model.

    Attributes:
        robot: the robot as described before; its parameters are the prior.
        design: which columns explain the torque.
        values: (p,) base parameters, then the further terms.
        covariance: (p, p) of the values, with the residuals' correlation in time accounted for.
        sigma: (n,) standard deviation of each joint's residuals [N m or N].
        evidence: the rows, condensed; refits work on it.
        residuals: measured and predicted torque.
        held_out: errors on held-out blocks: each predicted by values from the others.
        condition: of the weighted, unit columns; raw_condition without the scaling.
        method: estimator, in words.
        filters: cut-offs; None where nothing was filtered.
        findings: sentences about recordings, delays, terms that were found.
        validation: errors on validation recordings, which are predicted and never fitted; None without any.
        inflation: (n,) how much correlation in time adds to the variance of the values.
        weights: (n,) of the joints' rows.
        rows: the rows, or where they come from; refits bring the residuals up to date with them.
        physical: full parameters of links that could be built, where the fit was asked to be physical.
        physical_method: how these were found.
        source: where the shown rows come from, unfiltered.
        others: the validation recordings.
        unreduced: what the fit was reduced from; None where nothing was left out.
        swap: another order of the recordings' columns that explains them far better, where there is one.
        free_error: error on held-out blocks of the fit without the condition that links could be built.
    """

    robot: Robot
    design: Design
    values: Array
    covariance: Array
    sigma: Array
    evidence: Evidence
    residuals: Residuals
    held_out: Errors
    condition: float
    raw_condition: float
    method: str
    filters: Filters | None
    findings: tuple[str, ...] = ()
    validation: Errors | None = None
    physical: Array | None = None
    physical_method: ConsistencyMethod | None = None
    inflation: Array | None = None
    weights: Array | None = None
    rows: Sequence[Rows] | RowSource = ()
    source: RowSource | None = None
    others: RowSource | None = None
    free_error: float | None = None
    unreduced: Unreduced | None = None
    swap: Swap | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the values."""
        return self.design.names

    @property
    def theta(self) -> Array:
        """(l,) base parameters, in the order of fit.base.names."""
        return self.values[: self.design.base.n]

    @property
    def base(self) -> Any:
        """What theta means: names, grouping."""
        return self.design.base

    @property
    def terms(self) -> tuple[Term | Column, ...]:
        """Further terms: friction laws, springs, couplings."""
        return self.design.terms

    @cached_property
    def deviations(self) -> Array:
        """(p,) standard deviation of each value."""
        return read_only(np.sqrt(np.diag(self.covariance)))

    @property
    def relative_deviations(self) -> Array:
        """(p,) standard deviation over size of each value."""
        return self.deviations / np.maximum(np.abs(self.values), 1e-300)

    def predict(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, temperature: ArrayLike | None = None) -> Array:
        """Torque with friction, (..., n).

        Args:
            temperature: (..., n) of the joints [degrees Celsius], where friction depends on it.

        Raises:
            ShapeError: a last dimension differs from robot.n_joints, a value is not finite, or batches do not fit.
        """
        return self._over_states(lambda A: A @ self.values, q, qd, qdd, temperature)

    def torque_std(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        noise: bool = False,
        temperature: ArrayLike | None = None,
    ) -> Array:
        """Standard deviation of the predicted torque from that of the values, (..., n).

        Args:
            noise: add the scatter of the measured torque about the model, as it is after filtering (fit.sigma); what
                a single unfiltered sample scatters by is fit.unfiltered.rms.
            temperature: as in `predict`.
        """
        extra = self.sigma**2 if noise else 0.0
        return self._over_states(
            lambda A: np.sqrt(np.einsum("kjp,pq,kjq->kj", A, self.covariance, A) + extra), q, qd, qdd, temperature
        )

    def _over_states(
        self, result: Any, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, temperature: ArrayLike | None
    ) -> Array:
        given = {"q": q, "qd": qd, "qdd": qdd} | ({} if temperature is None else {"temperature": temperature})

        def core(*inside: Array) -> Array:
            positions, velocities, accelerations, *warmth = (x.T for x in inside)
            warm = warmth[0] if warmth else None
            values: Array = result(self.design.columns(positions, velocities, accelerations, temperature=warm))
            return values.T

        return batched(self.robot.n_joints, core, STATES_PER_SLICE, **given)

    @cached_property
    def unfiltered(self) -> Errors | None:
        """Errors against the torques as they were measured: noise that the filters took off shows here."""
        if self.source is None:
            return None
        from tauform.identification.verdict.validate import unfiltered_errors

        return unfiltered_errors(self, self.source)

    @property
    def unseen(self) -> Errors:
        """Errors on data that was not fitted: validation recordings where there are any, else held-out blocks."""
        return self.validation or self.held_out

    @cached_property
    def verdict(self) -> Verdict:
        """Good, usable or not trustworthy, and why."""
        from tauform.identification.verdict.judge import judge

        return judge(self)

    @property
    def holds_nothing_else(self) -> bool:
        """Whether a robot's own parameters (links, rotors, Fv, Fc, Fo) say all that the fit does."""
        return not self.terms and not any(self.design.widths)

    @property
    def identified_robot(self) -> Robot:
        """The robot with the identified parameters: physical ones where they were asked for, else virtual links.

        Raises:
            IdentificationError: the fit holds smooth friction, springs or couplings, which are no parameters of a
                robot; left out, they would take their share of the torque with them.
        """
        if not self.holds_nothing_else:
            raise IdentificationError(
                f"identified_robot: the fit of {self.robot.name} holds friction or couplings that a robot has no "
                "parameters for; identify with friction='plain', couplings=None (--friction plain --no-couplings) "
                "for a robot, or use fit.write_code, which writes those terms too"
            )
        return self.rigid_robot

    @property
    def rigid_robot(self) -> Robot:
        """The identified links with Fv, Fc and Fo as they stand in this fit, its further terms left out."""
        if self.physical is not None:
            parameters = np.array(self.physical)
        else:
            parameters = np.array(self.robot.with_base_parameters(self.theta, self.design.base).parameters)
        # What took no part in the fit has no share in the torque that was judged, whatever the description says.
        parameters[np.setdiff1d(np.arange(len(parameters)), self.design.base.columns)] = 0.0
        return self.robot.with_parameters(parameters)

    def reduced(
        self,
        tolerance: float = 0.01,
        max_deviation: float = 0.3,
        most: int | None = None,
        keep_accuracy: bool = True,
    ) -> Fit:
        """Only the significant values, refitted; a physical fit stays one.

        See `tauform.identification.selection.significance.reduced`.
        """
        from tauform.identification.selection.significance import reduced

        return reduced(self, tolerance, max_deviation, most, keep_accuracy)

    def physically_consistent(
        self,
        prior: Robot | ArrayLike | None = None,
        method: ConsistencyMethod = "semidefinite",
    ) -> Fit:
        """The nearest fit whose links could be built; see `tauform.identification.physical.consistency`."""
        from tauform.identification.physical.consistency import physically_consistent

        return physically_consistent(self, prior, method)

    def compared_with(self, other: Robot | None = None) -> Comparison:
        """Residuals and values beside those of another model, by default the robot as described."""
        from tauform.identification.verdict.comparison import compared_with

        return compared_with(self, other)

    def per_recording(self) -> Any:
        """Mean, standard deviation, maximum and minimum over recordings.  [Izaguirre1992, Table 1]"""
        from tauform.identification.verdict.scatter import per_recording

        return per_recording(self)

    def save(self, path: str | Path) -> Path:
        """Write the fit: .json for people and other programs, .npz for `tauform.load_fit`."""
        from tauform.identification.fitted.save import save_fit

        return save_fit(self, Path(path))

    def write_urdf(self, source: str | Path | None, path: str | Path) -> WrittenUrdf:
        """Write a URDF with the identified, physically consistent links and as much friction as it holds.

        Its `findings`, a comment in the file too, say what is not in it (rotor inertias, offsets, other friction laws)
        and how much that costs on the recordings.

        Args:
            source: the URDF that the robot was read from, which is copied; None writes one of the robot.
        """
        from tauform.identification.fitted.urdf import write_urdf

        return write_urdf(self, None if source is None else Path(source), Path(path))

    def write_code(self, folder: str | Path, name: str | None = None, *, force: bool = False) -> list[Path]:
        """C99 of the whole prediction: rigid body, friction and further terms.

        Args:
            name: prefix of all names, an identifier of C; the robot's name and _fit if not given.
            force: also write into a folder that holds other files.
        """
        from tauform.identification.fitted.code import write_code

        return write_code(self, Path(folder), name, force=force)

    def report(self, path: str | Path) -> Path:
        """One HTML file with plots and tables that opens offline."""
        from importlib import import_module

        return import_module("tauform.report.sections.identification").write_report(self, Path(path))

    def with_findings(self, *sentences: str) -> Fit:
        """The same fit with more to say."""
        return replace(self, findings=(*self.findings, *sentences))

    def __repr__(self) -> str:
        return (
            f"Fit({self.robot.name!r}, {self.method}, {len(self.values)} values, error on {self.unseen.source} "
            f"{100 * self.unseen.total:.2f} %: {self.verdict.grade})"
        )
