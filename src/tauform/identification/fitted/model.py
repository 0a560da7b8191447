"""FittedModel: what was identified, how well it is known, and what it predicts; data that every later stage takes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from tauform.arguments import Tier, checked_methods
from tauform.arrays import Array, read_only
from tauform.description.drives import Drive
from tauform.description.robot import Robot
from tauform.errors import IdentificationError
from tauform.fast.models import ModelSource, TieredMethod
from tauform.identification.diagnosis.suspicion import Suspicion
from tauform.identification.diagnosis.swaps import Swap
from tauform.identification.recording.segments import Segment
from tauform.identification.regression.design import Design
from tauform.identification.regression.evidence import Evidence
from tauform.identification.regression.residuals import Errors, Residuals
from tauform.identification.regression.rows import Rows, RowSource
from tauform.identification.regression.terms import Column, Term
from tauform.identification.signals.filters import Filters
from tauform.notebook import Displayed
from tauform.rigidbody.sweeps.evaluation import batched

# Columns of (states, n, p) are held at once.
STATES_PER_SLICE = 5000
ConsistencyMethod = Literal["semidefinite", "log_cholesky"]
# A stage gives back the type that it was given: users keep their Fit.
Fitted = TypeVar("Fitted", bound="FittedModel")


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
        # By name: a smaller design numbers its columns anew.
        place = {name: k for k, name in enumerate(self.design.names)}
        return [place[name] for name in names]

    def rows_of(self, columns: Sequence[int], design: Design) -> Sequence[Rows] | RowSource:
        """The rows with only some columns, those of a smaller design."""
        if isinstance(self.rows, RowSource):
            # Rows that are made on demand take the smaller design; rows in memory lose columns.
            return replace(self.rows, design=design)
        return [replace(part, A=part.A[:, :, list(columns)]) for part in self.rows]


@checked_methods
@dataclass(frozen=True, eq=False, repr=False)
class FittedModel(Displayed):
    """Values that explain recordings, how well they are known, and where they came from.

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
        physical: full parameters of physically consistent links, where the fit was asked to be physical.
        physical_method: how these were found.
        source: where the shown rows come from, unfiltered.
        segments: all that was fitted; of long recordings `source` holds stretches.
        others: the validation recordings.
        unreduced: what the fit was reduced from; None where nothing was left out.
        swap: another order of the recordings' columns that explains them far better, where there is one.
        choice_cost: how many times as large errors are on blocks that the choice of terms, of the values of a reduced
            fit and of the estimator has not seen; `held_out` includes it.
        suspicions: what else seems to be wrong with the recordings or the description, by hypotheses that were tried.
        free_error: error on held-out blocks of the fit without the condition of physical consistency.
        saved_unfiltered: `Fit.unfiltered` of a fit that was loaded; None where values have changed since.

    Files hold no recordings: `rows`, `source`, `segments` and `others` of a loaded fit are empty, and what needs them
    says so.
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
    segments: tuple[Segment, ...] = ()
    others: RowSource | None = None
    free_error: float | None = None
    unreduced: Unreduced | None = None
    swap: Swap | None = None
    suspicions: tuple[Suspicion, ...] = ()
    choice_cost: float = 1.0
    saved_unfiltered: Errors | None = None

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
        """Meaning of theta: names, grouping."""
        return self.design.base

    @cached_property
    def terms(self) -> tuple[Term, ...]:
        """Further terms: friction laws, springs, couplings, with the coefficients that were found."""
        # Values behind the base parameters are coefficients of the terms, in their order.
        found = zip(self.design.terms, self.values[self.design.base.n :], strict=True)
        return tuple(term.with_coefficient(value) if isinstance(term, Drive) else term for term, value in found)

    @cached_property
    def deviations(self) -> Array:
        """(p,) standard deviation of each value."""
        return read_only(np.sqrt(np.diag(self.covariance)))

    @property
    def relative_deviations(self) -> Array:
        """(p,) standard deviation over size of each value; infinite where a value is exactly zero."""
        size = np.abs(self.values)
        with np.errstate(over="ignore"):  # nearly zero: infinite, too
            return np.divide(self.deviations, size, out=np.full_like(size, np.inf), where=size > 0)

    def predict(
        self,
        q: ArrayLike,
        qd: ArrayLike,
        qdd: ArrayLike,
        temperature: ArrayLike | None = None,
        *,
        tier: Tier | None = None,
    ) -> Array:
        """Torque with friction, (..., n).

        Args:
            temperature: (..., n) of the joints [degrees Celsius], where friction depends on it.
            tier: 1 computes by the columns of the fit in NumPy, 2 and 3 by a kernel of the identified robot, 3 by one
                that was searched for the fewest operations. None takes the best there is.

        Raises:
            ShapeError: a last dimension differs from robot.n_joints, a value is not finite, or batches do not fit.
        """
        torque: Array = _PREDICT(self, {"q": q, "qd": qd, "qdd": qdd}, {"temperature": temperature}, tier)  # type: ignore[arg-type]
        return torque

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
        # Of a new measurement the noise adds to the uncertainty of the model.
        extra = self.sigma**2 if noise else 0.0
        # var(A theta) = A cov A^T, joint by joint: covariances between joints are not asked for.
        return self._over_states(
            lambda A: np.sqrt(np.einsum("kjp,pq,kjq->kj", A, self.covariance, A) + extra), q, qd, qdd, temperature
        )

    def _over_states(
        self, result: Any, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, temperature: ArrayLike | None
    ) -> Array:
        given = {"q": q, "qd": qd, "qdd": qdd} | ({} if temperature is None else {"temperature": temperature})

        def core(*inside: Array) -> Array:
            # The batch's core takes components first, (n, N); designs take samples first.
            positions, velocities, accelerations, *temperatures = (x.T for x in inside)
            warm = temperatures[0] if temperatures else None
            values: Array = result(self.own_design.columns(positions, velocities, accelerations, temperature=warm))
            return values.T

        return batched(self.robot.n_joints, core, STATES_PER_SLICE, **given)

    @property
    def unseen(self) -> Errors:
        """Errors on data that was not fitted: validation recordings where there are any, else held-out blocks."""
        return self.validation or self.held_out

    @property
    def has_plain_friction(self) -> bool:
        """Whether links, rotors, Fv, Fc with a sharp sign and Fo say all that the fit does."""
        return not self.terms and not any(self.design.widths)

    @property
    def identified_robot(self) -> Robot:
        """The robot with all that was identified: its inverse dynamics are what `predict` gives, to rounding.

        Links are physical where that was asked for, else virtual ones with the same torques.

        Raises:
            IdentificationError: the fit holds columns of the user's own, which are functions of Python.
        """
        own = [term.name for term in self.terms if isinstance(term, Column)]
        if own:
            raise IdentificationError(
                f"identified_robot: the fit of {self.robot.name} holds columns of your own ({', '.join(own)}), which "
                "no robot, file or code can hold",
                remedy="identify without them, or with drive terms (tf.Drive.of)",
            )
        return self.carrier

    @cached_property
    def carrier(self) -> Robot:
        """All that a robot can hold of the fit: without columns of the user's own."""
        drives = tuple(term for term in self.terms if isinstance(term, Drive))
        return replace(self.rigid_robot, further_drives=drives)

    @property
    def rigid_robot(self) -> Robot:
        """The identified links with Ia, Fv, Fc and Fo of each joint, further terms left out."""
        robot = self.design.robot
        if self.physical is not None:
            parameters = np.array(self.physical)
        else:
            # Virtual links with the same base parameters: the same torques, not necessarily physical ones.
            parameters = np.array(robot.with_base_parameters(self.theta, self.design.base).parameters)
        # What took no part in the fit has no share in the torque that was judged, whatever the description says.
        parameters[np.setdiff1d(np.arange(len(parameters)), self.design.base.columns)] = 0.0
        return robot.with_parameters(parameters)

    @cached_property
    def own_design(self) -> Design:
        """The design on which friction by load grows with the torque of the identified links themselves."""
        return self.design.carried_by(self.carrier) if self.design.is_loaded else self.design

    def with_findings(self: Fitted, *sentences: str) -> Fitted:
        """The same fit with more to say."""
        return replace(self, findings=(*self.findings, *sentences))


def _by_columns(
    fit: FittedModel, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, temperature: ArrayLike | None = None
) -> Array:
    return fit._over_states(lambda A: A @ fit.values, q, qd, qdd, temperature)


_by_columns.__name__ = "predict"
# Kernels are compiled from the identified robot; columns of the user's own have the slow tier alone.
_PREDICT = TieredMethod(_by_columns, lambda fit, _: ModelSource(fit.identified_robot, "inverse_dynamics"))
