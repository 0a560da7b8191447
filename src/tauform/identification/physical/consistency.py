"""Physically consistent fits: every link's pseudo-inertia is positive definite, friction cannot push."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import get_args

import numpy as np
from numpy.typing import ArrayLike

from tauform.arrays import Array, fixed_array, read_only
from tauform.closedform.threads import on_one_thread
from tauform.description.robot import Robot
from tauform.errors import IdentificationError
from tauform.identification.fitted.model import ConsistencyMethod, Fitted
from tauform.identification.physical.log_cholesky import SmoothProgram
from tauform.identification.physical.semidefinite import PRIOR_PULL, SemidefiniteFit, needed, typical_sizes
from tauform.identification.regression.estimate import least_squares
from tauform.identification.verdict.carried import with_own_load
from tauform.identification.verdict.refit import chosen_design, of_columns, refit_method, weights_of_blocks, with_values
from tauform.identification.verdict.validate import held_out_errors


@on_one_thread
def physically_consistent(
    fit: Fitted, prior: Robot | ArrayLike | None = None, method: ConsistencyMethod = "semidefinite"
) -> Fitted:
    """The best fit with physically consistent links; the prior decides what the data leave open.

    What a reduced fit leaves out is zero in the links too. Where no physical links have all those zeros at about the
    same error, the values that they cannot lack take part again, and a finding names them.

    Args:
        prior: robot or (n_parameters,) parameters near which open parameters stay; the fit's robot by default.
        method: "semidefinite" reaches the boundary of physical consistency, and any start leads to the best fit;
            "log_cholesky" searches smoothly inside it and needs no solver. It approaches zero without reaching it, so
            that all that was left out takes part again, as small as the data allow.

    Raises:
        MissingExtraError: the extra `feasible` is not installed, which "semidefinite" needs.
        IdentificationError: no such method, or the solver finds no solution.
    """
    if method not in get_args(ConsistencyMethod):
        raise IdentificationError(f"method: expected semidefinite or log_cholesky, got {method!r}")
    n_own = fit.design.robot.layout.n
    if prior is None or isinstance(prior, Robot):
        # The last ones are those of further drive terms, which links do not need.
        prior = (fit.robot if prior is None else prior).parameters[:n_own]
    mean = fixed_array(prior, (n_own,), "prior")
    refit = PhysicalRefit(fit, mean, method)
    return refit.judged(with_own_load(fit, refit))


class PhysicalRefit:
    """Physical fits of a fit's rows, which differ in what joints carry where friction grows with it."""

    def __init__(self, fit: Fitted, mean: Array, method: ConsistencyMethod) -> None:
        self.before, self.mean, self.method = fit, mean, method
        self.weights = fit.weights if fit.weights is not None else 1.0 / fit.sigma
        # By the columns that take part: a program takes longer to set up than to solve, and loads change none of it.
        self.programs: dict[tuple[str, ...], SemidefiniteFit | SmoothProgram] = {}

    def __call__(self, fit: Fitted) -> Fitted:
        """The best physical fit of these rows; its held-out errors are still those of the free one."""
        whole, small = _with_what_links_need(fit, self.mean, self.weights, self.method)
        evidence = whole.evidence
        parameters, values, doubt = self._program(whole, small).solve(evidence, self.weights)
        free = least_squares(evidence, sigma=1.0 / self.weights)
        # Constraints can only make residuals larger: the unconstrained spread stays a lower bound.
        sigma = np.sqrt(evidence.residual_squares(values).sum(axis=0) / evidence.rows_heard)
        changed = with_values(whole, values, evidence, replace(free, sigma=np.maximum(sigma, free.sigma)))
        told = changed.with_findings(*filter(None, [doubt]))
        return replace(told, physical=read_only(parameters), physical_method=self.method)

    def judged(self, fit: Fitted) -> Fitted:
        """A fit that was made here, with held-out errors of its own."""
        program, evidence = self.programs[tuple(fit.names)], fit.evidence
        # Held-out blocks are solved with the same constraints, so that the error belongs to what is handed over.
        weights = weights_of_blocks(fit, fit.unreduced)

        def refit(blocks: Sequence[int]) -> Array:
            return program.solve(evidence.blocks(blocks), weights(blocks)).values

        source = fit.source and replace(fit.source, design=fit.design)
        # The choice of terms was the free fit's, and so is what it costs on data that it has not seen.
        held_out, _ = held_out_errors(evidence, refit, fit.values, self.before.choice_cost, source)
        return replace(
            fit,
            held_out=held_out,
            free_error=self.before.held_out.total,
            method=f"{refit_method(self.before.method)}, physical links",
        )

    def _program(self, fit: Fitted, small: list[int]) -> SemidefiniteFit | SmoothProgram:
        key = tuple(fit.names)
        if self.method == "log_cholesky":
            size = typical_sizes(fit.design.robot, self.mean)
            self.programs[key] = SmoothProgram(fit.design, self.mean, size, PRIOR_PULL, small)
        elif key not in self.programs:
            self.programs[key] = SemidefiniteFit(fit.design, self.mean)
        return self.programs[key]


def _with_what_links_need(
    fit: Fitted, prior: Array, weights: Array, method: ConsistencyMethod
) -> tuple[Fitted, list[int]]:
    """The fit with those values back that physical links cannot lack, and its columns that should be small."""
    unreduced = fit.unreduced
    if unreduced is None or not fit.base.left_out:
        return fit, []
    # Terms that were left out are no part of the links and stay away.
    n_base = unreduced.design.base.n
    terms = [k for k in unreduced.places(fit.names) if k >= n_base]
    candidates = [*range(n_base), *terms]
    left_out = list(fit.base.left_out)
    back = left_out
    if method == "semidefinite":
        design, evidence = chosen_design(unreduced.design, candidates), unreduced.evidence.chosen(candidates)
        back = needed(design, left_out, prior, evidence, weights)
    if not back:
        return fit, []
    kept = set(unreduced.places(fit.names)) | set(back)
    whole = of_columns(fit, unreduced, [k for k in candidates if k in kept])
    names = [unreduced.design.names[k] for k in back]
    note = f"no physical links lack {', '.join(names)} at about this error, so that they take part again"
    return whole.with_findings(note), [whole.names.index(name) for name in names]
