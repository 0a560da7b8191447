"""Save a fit: as JSON, whose first part people and other programs read, or as an archive of arrays; both load."""

from __future__ import annotations

import io
import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from tauform.arrays import Array
from tauform.description.drives import Drive
from tauform.description.formats.toml.writer import to_toml
from tauform.errors import IdentificationError
from tauform.files.file import fresh_file, write_text
from tauform.identification.fitted.model import FittedModel
from tauform.identification.regression.residuals import Errors
from tauform.identification.regression.terms import Term
from tauform.identification.verdict.judge import judge
from tauform.identification.verdict.validate import unfiltered_errors

# 2 holds the robot too, 3 what a reduced fit was reduced from, 4 drive terms of the robot; its .json can be loaded.
FORMAT = 4


def save_fit(fit: FittedModel, path: Path) -> Path:
    """Write a fit as .json or .npz; nothing is left behind when writing fails.

    Raises:
        IdentificationError: the ending is neither, the fit holds columns of the user's own (.npz), or the disk
            refuses.
    """
    # A reduced fit keeps its whole evidence, whose own columns no file can hold either.
    design = fit.design if fit.unreduced is None else fit.unreduced.design
    check_save(path, own_columns=design.has_own_columns)
    text, arrays = _contents(fit)
    # The robot itself: a fit without its geometry has no columns.
    robot = to_toml(fit.robot, path.parent)[0]
    if path.suffix == ".json":
        # What only a program can use comes last, packed: fifty times as much as all the rest.
        # Functions of the user's cannot be stored: such a .json is for reading only.
        packed = {} if design.has_own_columns else {"description": robot, "arrays": _packed(arrays)}
        return write_text(path, json.dumps({**text, **packed}, indent=1), IdentificationError)
    with fresh_file(path, IdentificationError) as file:
        # Text inside the archive: one file holds both parts.
        texts = {"summary": np.array(json.dumps(text)), "robot": np.array(robot)}
        np.savez_compressed(file, **texts, **arrays)  # type: ignore[arg-type]
    return path


def check_save(path: Path, own_columns: bool = False) -> None:
    """Refuse a name or a fit that `save_fit` cannot write; ask before a fit is made.

    Args:
        own_columns: whether the fit will hold columns of the user's own.

    Raises:
        IdentificationError: the ending is neither .json nor .npz, or such a fit cannot be loaded again.
    """
    if path.suffix not in (".json", ".npz"):
        raise IdentificationError(f"{path.name}: a fit is saved as .json (to read and load) or .npz (to load)")
    if own_columns and path.suffix == ".npz":
        raise IdentificationError("a fit with columns of your own cannot be loaded again; save it as .json, to read")


def summary(fit: FittedModel) -> dict[str, Any]:
    """Contents of a fit, in plain values."""
    verdict = judge(fit)
    return {
        "format": FORMAT,
        "robot": fit.robot.name,
        "joints": list(fit.robot.joint_names),
        "method": fit.method,
        "verdict": verdict.grade,
        "reasons": list(verdict.reasons),
        "next": list(verdict.next),
        # JSON has no infinity: a ratio without gravity is null.
        "gravity_ratios": [x if np.isfinite(x) else None for x in verdict.gravity_ratios.tolist()],
        "held_out": _plain(fit.held_out),
        "validation": _plain(fit.validation),
        # Without recordings the figure cannot be computed again.
        "unfiltered": _plain(fit.saved_unfiltered if fit.source is None else unfiltered_errors(fit, fit.source)),
        "free_error": fit.free_error,
        "swap": fit.swap and {key: np.asarray(x).tolist() for key, x in vars(fit.swap).items()},
        "suspicions": [asdict(suspicion) for suspicion in fit.suspicions],
        "choice_cost": fit.choice_cost,
        "condition": fit.condition,
        "names": list(fit.names),
        "values": fit.values.tolist(),
        "deviations": fit.deviations.tolist(),
        "covariance": fit.covariance.tolist(),
        "sigma": fit.sigma.tolist(),
        "coulomb_widths": list(fit.design.widths),
        "order": list(fit.design.order),
        "terms": _plain_terms(fit.terms),
        "physical_parameters": None
        if fit.physical is None
        else dict(zip(fit.design.robot.parameter_names, fit.physical.tolist(), strict=True)),
        "physical_method": fit.physical_method,
        "filters": None if fit.filters is None else asdict(fit.filters),
        "findings": list(fit.findings),
    }


def _plain_terms(terms: Sequence[Term]) -> list[dict[str, Any]]:
    """Arguments of `Drive.of`; of a user's column the name alone."""
    # A shape's name and constants make the term again.
    return [{"shape": term.shape, **asdict(term)} if isinstance(term, Drive) else {"name": term.name} for term in terms]


def _plain(errors: Errors | None) -> dict[str, Any] | None:
    """Errors as plain values; those against torques as measured stand within."""
    if errors is None:
        return None
    held = {key: x for key, x in vars(errors).items() if x is not None}
    return {key: _plain(x) if isinstance(x, Errors) else _listed(x) for key, x in held.items()}


def _listed(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else value


def _contents(fit: FittedModel) -> tuple[dict[str, Any], dict[str, Array]]:
    """Plain values and arrays of a fit."""
    residuals, evidence = fit.residuals, fit.evidence
    arrays = {
        "triangles": evidence.triangles,
        "counts": evidence.counts,
        "recordings": np.array(evidence.recordings),
        "peaks": evidence.peaks,
        "torque_peaks": evidence.torque_peaks,
        "t": residuals.t,
        "measured": residuals.measured,
        "predicted": residuals.predicted,
        "recording": residuals.recording,
        "pivots": np.array(fit.design.base.pivots),
        "columns": np.array(fit.design.base.columns),
        "weights": fit.weights if fit.weights is not None else 1 / fit.sigma,
        "inflation": fit.inflation if fit.inflation is not None else np.ones_like(fit.sigma),
    }
    if evidence.coloured is not None:
        arrays |= {"coloured": evidence.coloured}
    if evidence.counted is not None:
        arrays |= {"counted": evidence.counted}
    if len(evidence.heard):
        arrays |= {"heard": evidence.heard, "factors": evidence.factors}
    text = {**summary(fit), "rate": residuals.rate, "raw_condition": fit.raw_condition}
    if fit.unreduced is not None:
        arrays |= {"unreduced_triangles": fit.unreduced.evidence.triangles}
        arrays |= {"unreduced_peaks": fit.unreduced.evidence.peaks}
        if len(fit.unreduced.evidence.factors):
            arrays |= {"unreduced_factors": fit.unreduced.evidence.factors}
        if fit.unreduced.evidence.coloured is not None:
            arrays |= {"unreduced_coloured": fit.unreduced.evidence.coloured}
        if fit.unreduced.evidence.counted is not None:
            arrays |= {"unreduced_counted": fit.unreduced.evidence.counted}
        text |= {"unreduced_terms": _plain_terms(fit.unreduced.design.terms)}
    return text, arrays


def _packed(arrays: Mapping[str, Array]) -> str:
    """The archive of the arrays as text."""
    with io.BytesIO() as archive:
        np.savez_compressed(archive, **arrays)  # type: ignore[arg-type]
        return b64encode(archive.getvalue()).decode("ascii")
