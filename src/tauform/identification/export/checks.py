"""Whether a fit from a file is one: every number finite, every array of the size that the others imply."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

import numpy as np

from tauform.arrays import LARGEST
from tauform.documents import is_indices, is_number, is_texts
from tauform.identification.diagnosis.swaps import KINDS, Swap
from tauform.identification.fitted.model import ConsistencyMethod, FittedModel
from tauform.identification.regression.residuals import Errors

# Asymmetry of a covariance, relative to its largest entry, that is rounding.
ROUNDING = 1e-9
# Rows of one block; sums of more no longer fit into an integer.
MOST_ROWS = 1e12


def check_fit(fit: FittedModel) -> None:
    """Refuse a fit whose parts do not belong together.

    Raises:
        ValueError: with the name of the part.
    """
    wrong = next(_wrong_parts(fit), None)
    if wrong is not None:
        raise ValueError(f"{wrong} makes no sense")


def _wrong_parts(fit: FittedModel) -> Iterator[str]:
    for name, (array, shape) in _arrays(fit).items():
        if not _is_array(array, shape):
            yield name
    # An asymmetric covariance gives deviations that depend on which half is read.
    if np.abs(fit.covariance - fit.covariance.T).max(initial=0) > ROUNDING * np.abs(fit.covariance).max(initial=0):
        yield "covariance"
    # Squares and counts: a negative one would turn into NaN far from here.
    for name, array in (("covariance", np.diag(fit.covariance)), ("sigma", fit.sigma), ("counts", fit.evidence.counts)):
        if (array < 0).any():
            yield name
    if (fit.evidence.counts > MOST_ROWS).any():
        yield "counts"
    # Without rows every figure of the verdict would be a quotient of nothings.
    if not fit.evidence.counts.any() or not len(fit.residuals.t):
        yield "evidence"
    judged = {"held_out": fit.held_out, "validation": fit.validation, "unfiltered": fit.saved_unfiltered}
    for name, errors in judged.items():
        if errors is not None and not _is_errors(errors, fit.robot.n_joints):
            yield name
    if fit.swap is not None and not _is_swap(fit.swap, fit.robot.n_joints):
        yield "swap"
    if not _is_positive(fit.residuals.rate) or not all(map(_is_positive, _cutoffs(fit))):
        yield "filters"
    # A condition number is infinite where a column is zero.
    if not all(isinstance(x, int | float) and x >= 0 for x in (fit.condition, fit.raw_condition)):
        yield "condition"
    if not is_texts([fit.method, *fit.findings]) or not (fit.free_error is None or is_number(fit.free_error)):
        yield "method"
    if fit.physical_method not in (None, *get_args(ConsistencyMethod)):
        yield "physical_method"


def _arrays(fit: FittedModel) -> dict[str, tuple[Any, tuple[int, ...]]]:
    """Name -> array, and its shape."""
    # n joints, p values; triangles are the R factors of [columns, torque], one per block and joint.
    n, p, evidence, residuals = fit.robot.n_joints, len(fit.names), fit.evidence, fit.residuals
    n_blocks, n_rows = len(evidence.counts), len(residuals.t)
    arrays: dict[str, tuple[Any, tuple[int, ...]]] = {
        "values": (fit.values, (p,)),
        "covariance": (fit.covariance, (p, p)),
        "sigma": (fit.sigma, (n,)),
        "weights": (fit.weights, (n,)),
        "inflation": (fit.inflation, (n,)),
        "triangles": (evidence.triangles, (n_blocks, n, p + 1, p + 1)),
        "counts": (evidence.counts, (n_blocks,)),
        "recordings": (np.asarray(evidence.recordings), (n_blocks,)),
        "peaks": (evidence.peaks, (n, p)),
        "torque_peaks": (evidence.torque_peaks, (n,)),
        "t": (residuals.t, (n_rows,)),
        "measured": (residuals.measured, (n_rows, n)),
        "predicted": (residuals.predicted, (n_rows, n)),
        "recording": (residuals.recording, (n_rows,)),
    }
    if len(evidence.heard):
        arrays["heard"] = (evidence.heard, (n_blocks, n))
    if len(evidence.factors):
        arrays["factors"] = (evidence.factors, (p,))
    if evidence.coloured is not None:
        # Of a reduced fit they are columns of the triangles of the whole.
        arrays["coloured"] = (evidence.coloured, (n, evidence.coloured.shape[1], p))
    if evidence.counted is not None:
        arrays["counted"] = (evidence.counted, (n_blocks, n, p + 1, p + 1))
    if fit.physical is not None:
        arrays["physical_parameters"] = (fit.physical, fit.design.robot.parameters.shape)
    if fit.unreduced is not None:
        whole, width = fit.unreduced.evidence, fit.unreduced.design.n_columns
        arrays["unreduced_triangles"] = (whole.triangles, (n_blocks, n, width + 1, width + 1))
        arrays["unreduced_peaks"] = (whole.peaks, (n, width))
        if len(whole.factors):
            arrays["unreduced_factors"] = (whole.factors, (width,))
        if whole.coloured is not None:
            arrays["unreduced_coloured"] = (whole.coloured, (n, width, width))
        if whole.counted is not None:
            arrays["unreduced_counted"] = (whole.counted, (n_blocks, n, width + 1, width + 1))
    return arrays


def _is_array(array: Any, shape: tuple[int, ...]) -> bool:
    """Whether these are finite numbers of a shape, of a size that can be meant."""
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "fiu" or array.shape != shape:
        return False
    # NaN compares as false and is refused too.
    return bool((np.abs(array) <= LARGEST).all())


def _is_errors(errors: Errors, n: int) -> bool:
    within = errors.unfiltered is None or _is_errors(errors.unfiltered, n)
    arrays = all(_is_array(array, (n,)) and (array >= 0).all() for array in (errors.joints, errors.rms))
    totals = all(is_number(total) and total >= 0 for total in (errors.total, errors.elsewhere or 0.0))
    return within and arrays and totals and isinstance(errors.source, str)


def _is_swap(swap: Swap, n: int) -> bool:
    # A swap that changes nothing is none.
    whole = is_indices(list(swap.order), n) and len(swap.order) == n and list(swap.order) != list(range(n))
    return whole and swap.kind in KINDS and _is_array(swap.before, (n,)) and _is_array(swap.after, (n,))


def _cutoffs(fit: FittedModel) -> tuple[Any, ...]:
    filters = fit.filters
    if filters is None:
        return ()
    spectrum = filters.spectrum
    known = () if filters.bandwidth is None else (filters.bandwidth,)
    shown = () if spectrum is None else (spectrum.bandwidth, *spectrum.frequencies, *map(max, spectrum.density))
    return (filters.position, filters.torque, filters.rows, *known, *shown)


def _is_positive(value: Any) -> bool:
    return is_number(value) and 0 < value < LARGEST
