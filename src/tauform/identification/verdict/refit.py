"""A fit with fewer columns or other values, its figures brought up to date."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tauform.arrays import Array, read_only
from tauform.identification.fitted.model import Fitted, FittedModel, Unreduced
from tauform.identification.regression.colour import coloured
from tauform.identification.regression.design import Design
from tauform.identification.regression.estimate import Estimate, least_squares
from tauform.identification.regression.estimators import METHODS, least_squares_refit
from tauform.identification.regression.evidence import Evidence, RowsOfBlocks
from tauform.identification.regression.tuning import Weights, tuned_weights
from tauform.identification.signals.filters import correlation_of_filters
from tauform.identification.verdict.carried import with_own_load
from tauform.identification.verdict.validate import (
    held_out_errors,
    inflation_of,
    inflation_of_filters,
    residuals_of,
    validated,
)

# Estimators that a refit on the condensed rows repeats.
KEPT = "ordinary", "robust"


def with_columns(fit: Fitted, columns: Sequence[int], note: str = "") -> Fitted:
    """The fit on some of its columns, estimated anew on the condensed rows."""
    names = [fit.names[c] for c in columns]

    def chosen(rows: Fitted) -> Fitted:
        # The whole evidence is kept: a second reduction may bring columns back.
        unreduced = rows.unreduced or Unreduced(rows.design, rows.evidence, rows.rows)
        # By name: columns of the reduced fit have other places in the whole one.
        return of_columns(rows, unreduced, unreduced.places(names))

    smaller = with_own_load(fit, chosen)
    return smaller.with_findings(note) if note else smaller


def of_columns(fit: Fitted, unreduced: Unreduced, columns: Sequence[int]) -> Fitted:
    """The fit on some columns of what it was reduced from."""
    kept = list(columns)
    evidence, design = unreduced.evidence.chosen(kept), chosen_design(unreduced.design, kept)
    weights = fit.weights if fit.weights is not None else 1.0 / fit.sigma
    # Weights stay: errors before and after are in one norm.
    found = least_squares(evidence, sigma=1.0 / weights)
    rows = unreduced.rows_of(kept, design)
    refit = least_squares_refit(evidence, weights_of_blocks(fit, unreduced))
    source = fit.source and replace(fit.source, design=design)
    held_out, _ = held_out_errors(evidence, refit, found.values, fit.choice_cost, source)
    return replace(
        with_values(replace(fit, design=design, rows=rows), found.values, evidence, found),
        held_out=held_out,
        method=refit_method(fit.method),
        condition=found.condition,
        raw_condition=found.raw_condition,
        unreduced=unreduced,
    )


def weights_of_blocks(fit: FittedModel, unreduced: Unreduced | None) -> Weights:
    """Weights of a fit's joints as some blocks alone would have it."""
    evidence = fit.evidence if unreduced is None else unreduced.evidence
    weights = fit.weights if fit.weights is not None else 1.0 / fit.sigma
    return tuned_weights(evidence, weights, tuned=refit_method(fit.method) != METHODS["ordinary"])


def of_blocks(fit: Fitted, blocks: Sequence[int]) -> Fitted:
    """The fit that some blocks make: what chooses by it knows nothing of the others."""
    weights = weights_of_blocks(fit, fit.unreduced)
    part = fit.evidence.blocks(blocks)
    found = least_squares(part, sigma=1.0 / weights(blocks))
    refit = least_squares_refit(fit.evidence, weights)
    held_out, _ = held_out_errors(part, lambda own: refit([blocks[k] for k in own]), found.values, fit.choice_cost)
    values, sigma, own = (read_only(x) for x in (found.values, found.sigma, found.weights))
    made = replace(fit, evidence=part, values=values, sigma=sigma, weights=own, held_out=held_out, rows=())
    # Of long recordings the rows are stretches, which other blocks divide: their noise stands for all.
    if fit.source is None or not fit.rows or fit.segments is not fit.source.segments:
        return made
    return _with_noise(made, RowsOfBlocks(fit.rows, part), found)


def _with_noise(fit: Fitted, rows: RowsOfBlocks, found: Estimate) -> Fitted:
    """The fit with residuals, their correlation, and largest columns and torques of its rows."""
    assert fit.source is not None
    rate, evidence = fit.source.segments[0].rate, fit.evidence
    peaks = np.max([np.abs(own.A).max(axis=0) for own in rows], axis=0)
    torque_peaks = np.max([np.abs(own.tau).max(axis=0) for own in rows], axis=0)
    evidence = replace(evidence, peaks=peaks, torque_peaks=torque_peaks)
    if evidence.coloured is not None:
        evidence = coloured(evidence, found, rows, correlation_of_filters(fit.filters, rate))
    residuals = residuals_of(found.values, rows, fit.residuals.rate)
    inflation = inflation_of(residuals, inflation_of_filters(fit.filters, rate))
    return replace(fit, evidence=evidence, residuals=residuals, inflation=inflation)


def refit_method(method: str) -> str:
    """Words for the estimator of a refit on the condensed rows: least squares, with the weights of the fit."""
    # Without ", physical links", which whoever makes them so says anew.
    return next((words for words in map(METHODS.get, KEPT) if words and method.startswith(words)), METHODS["weighted"])


def with_values(fit: Fitted, values: Array, evidence: Evidence, found: Estimate) -> Fitted:
    """The fit with other values; residual sizes, covariance and errors on other recordings follow."""
    inflation = fit.inflation if fit.inflation is not None else np.ones(evidence.n_joints)
    changed = replace(
        fit,
        values=read_only(values),
        covariance=read_only(found.covariance(evidence, inflation)),
        sigma=read_only(found.sigma),
        evidence=evidence,
        residuals=residuals_of(values, fit.rows, fit.residuals.rate) if fit.rows else fit.residuals,
        # New values need not be physical, whatever the old ones were.
        physical=None,
        physical_method=None,
        free_error=None,
        saved_unfiltered=None,
    )
    return validated(changed)


def chosen_design(design: Design, columns: Sequence[int]) -> Design:
    """The design with only some columns; base parameters keep their meaning."""
    kept = [c for c in columns if c < design.base.n]
    terms = [design.terms[c - design.base.n] for c in columns if c >= design.base.n]
    return replace(design, base=design.base.part(kept), terms=tuple(terms))
