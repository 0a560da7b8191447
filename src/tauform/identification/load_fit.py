"""load_fit: a fit that was saved as .json or .npz, checked before it is used."""

from __future__ import annotations

import io
from base64 import b64decode
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from tauform.archives import ordinary, read_archive, unpacked
from tauform.arrays import read_only
from tauform.description.drives import SHAPES, Drive
from tauform.description.formats.toml.reader import robot_from_mapping
from tauform.description.geometry import difference
from tauform.description.parameter_groups import PARAMETER_GROUPS, Include
from tauform.description.robot import Robot
from tauform.documents import parse_json, parse_toml
from tauform.errors import DescriptionError, IdentificationError, TauformError
from tauform.identification.diagnosis.suspicion import Suspicion
from tauform.identification.diagnosis.swaps import Swap
from tauform.identification.export.checks import check_fit
from tauform.identification.export.save import FORMAT
from tauform.identification.fit import Fit
from tauform.identification.fitted.model import Unreduced
from tauform.identification.regression.design import Design
from tauform.identification.regression.evidence import Evidence
from tauform.identification.regression.excitation import straightened
from tauform.identification.regression.residuals import Errors, Residuals
from tauform.identification.signals.filters import Filters
from tauform.rigidbody.load import leading_joints
from tauform.wording import call


def load_fit(path: str | Path, robot: Robot | None = None) -> Fit:
    """Read a fit that was saved as .json or .npz.

    Args:
        robot: the robot it was identified on, whose geometry gives the columns; by default the one in the file.

    Raises:
        IdentificationError: not such a file, of another robot, of a newer version, or with columns of the user's own.
    """
    path = Path(path)
    if not path.exists():
        raise IdentificationError(f"{path}: no such file; fit.save('name.npz') writes one")
    # Made ahead: two kinds of damage end in the same sentence.
    no_fit = IdentificationError(f"{path}: not a fit, or a damaged one; fit.save('name.npz') writes one")
    try:
        text, data = _read_json(path) if path.suffix == ".json" else _read_npz(path)
        fit = _fit_of(_checked_robot(robot, data, path), data, text, path)
        check_fit(fit)
        # Friction by load grows with the torque of the identified links, which are known only now.
        fit = replace(fit, design=fit.own_design)
    except MemoryError:
        raise IdentificationError(f"{path}: does not fit into memory; read it on a larger machine") from None
    except DescriptionError:  # a drive term that no robot takes
        raise no_fit from None
    except TauformError:
        raise
    except Exception:  # a forged file ends in nearly any error
        raise no_fit from None
    return fit


def _read_npz(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Plain values and arrays."""
    data: dict[str, Any] = read_archive(path)
    text = parse_json(str(data["summary"]))
    _check_format(text["format"], path)
    return text, data


def _read_json(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    text = parse_json(ordinary(path).read_bytes())
    _check_format(text["format"], path)
    # Columns of the user's are stored by name alone.
    own = [term["name"] for term in text["terms"] if "name" in term]
    if own:
        raise IdentificationError(
            f"{path}: holds columns of your own ({', '.join(own)}), functions that no file holds",
            remedy="identify again",
        )
    if text["format"] < FORMAT:
        raise IdentificationError(
            f"{path}: written when a .json held a part of a fit only",
            remedy=f"load its .npz, {call('load_fit', repr(path.stem + '.npz'))}, or identify again",
        )
    # Strict base64: a damaged character is refused, not skipped.
    arrays = unpacked(io.BytesIO(b64decode(text["arrays"], validate=True)))
    return text, {**arrays, "robot": text["description"]}


def _check_format(found: int, path: Path) -> None:
    if found > FORMAT:
        raise IdentificationError(
            f"{path}: written by a newer tauform (format {found}, this one reads up to {FORMAT}); upgrade tauform"
        )


def _checked_robot(given: Robot | None, data: dict[str, Any], path: Path) -> Robot:
    """The robot in the file, or the given one, which must have the same columns."""
    if given is None:
        return _held_robot(data, path)
    held = _held_robot(data, path) if "robot" in data else given
    differs = difference(held, given) if held.joint_names == given.joint_names else "its joints"
    # `identify` straightens axes first, so that the file may hold the straightened robot.
    if differs and difference(held, straightened(given)[0]) is None:
        return straightened(given)[0]  # what `identify` fits where a file has a rounded pi
    if differs:
        raise IdentificationError(
            f"{path.name}: was identified on {held.name!r}, which differs from {given.name!r} in {differs}",
            argument="robot",
            value=given,
            remedy=f"load it without a robot, {call('load_fit', repr(path.name))}",
        )
    return given


def _held_robot(data: dict[str, Any], path: Path) -> Robot:
    if "robot" not in data and "summary" in data:
        raise IdentificationError(
            f"{path}: written before fits held their robot",
            argument="robot",
            remedy=f"give it too, {call('load_fit', f'{path.name!r}, robot')}",
        )
    try:
        return robot_from_mapping(parse_toml(str(data["robot"])))
    except TauformError as error:
        raise IdentificationError(f"{path}: the robot in it is damaged ({error}); fit.save writes another") from None


def _fit_of(robot: Robot, data: dict[str, Any], text: dict[str, Any], path: Path) -> Fit:
    design = _design(robot, data, text, path)
    physical = text["physical_parameters"]
    # Values without their names in order would be silently assigned to other parameters.
    if text["names"] != list(design.names):
        raise ValueError("values of other parameters")
    evidence = Evidence(
        *(data["triangles"], data["counts"], tuple(data["recordings"].tolist()), data["peaks"], data["torque_peaks"]),
        # Absent in older files: the variances' inflation has to do.
        coloured=data.get("coloured"),
        # Absent where all rows count alike.
        counted=data.get("counted"),
        # Absent where all joints moved all the time.
        heard=data.get("heard", np.zeros((0, 0))),
        factors=data.get("factors", np.zeros(0)),
    )
    return Fit(
        robot=robot,
        design=design,
        values=read_only(text["values"]),
        covariance=read_only(text["covariance"]),
        sigma=read_only(text["sigma"]),
        evidence=evidence,
        unreduced=_unreduced(design, evidence, data, text),
        residuals=Residuals(data["t"], data["measured"], data["predicted"], data["recording"], text["rate"]),
        held_out=_errors(text["held_out"]),
        validation=None if text["validation"] is None else _errors(text["validation"]),
        free_error=text["free_error"],
        swap=_swap(text["swap"]),
        suspicions=tuple(Suspicion(**plain) for plain in text.get("suspicions", ())),
        # Absent in older formats: a choice that costs nothing.
        choice_cost=text.get("choice_cost", 1.0),
        saved_unfiltered=_errors(text["unfiltered"]) if text.get("unfiltered") else None,
        condition=text["condition"],
        raw_condition=text["raw_condition"],
        method=text["method"],
        filters=None if text["filters"] is None else Filters(**text["filters"]),
        findings=tuple(text["findings"]),
        physical=None if physical is None else read_only([physical[name] for name in design.robot.parameter_names]),
        physical_method=text.get("physical_method"),
        inflation=data["inflation"],
        weights=data["weights"],
    )


def _include(robot: Robot, columns: list[int]) -> Include:
    """Request of the fit, found from what took part."""
    if columns == list(robot.columns("declared")):
        return "declared"
    groups = {robot.layout.parameters[c].group for c in columns}
    return [group for group in PARAMETER_GROUPS if group in groups]


def _design(robot: Robot, data: dict[str, Any], text: dict[str, Any], path: Path) -> Design:
    # Without drives: these are terms of the fit, and would count twice.
    own = replace(robot, further_drives=())
    full = Design.of(own, _include(own, data["columns"].tolist()), order=text["order"])
    place = {pivot: k for k, pivot in enumerate(full.base.pivots)}
    if text["joints"] != list(robot.joint_names) or not set(data["pivots"].tolist()) <= set(place):
        raise IdentificationError(
            f"{path.name}: was identified on {text['robot']!r}, whose joints differ from {robot.name!r}"
        )
    # A reduced fit has a part of the pivots, in its own order.
    base = full.base.part([place[pivot] for pivot in data["pivots"].tolist()])
    design = replace(full, base=base).with_widths(text["coulomb_widths"])
    return design.with_terms(_terms(text["terms"], design.robot))


def _unreduced(design: Design, evidence: Evidence, data: dict[str, Any], text: dict[str, Any]) -> Unreduced | None:
    """Fit that a reduced fit was reduced from."""
    if "unreduced_triangles" not in data:
        return None
    terms = _terms(text["unreduced_terms"], design.robot)
    # The whole base before the reduction; equal to it where only terms were dropped.
    whole = replace(design, base=design.base.whole or design.base, terms=terms)
    shape = (*evidence.triangles.shape[:2], whole.n_columns + 1, whole.n_columns + 1)
    if data["unreduced_triangles"].shape != shape or data["unreduced_peaks"].shape != (shape[1], whole.n_columns):
        raise ValueError("the evidence of a reduced fit does not fit its design")
    names = ("triangles", "counted", "peaks", "coloured")
    columns: dict[str, Any] = {name: data.get(f"unreduced_{name}") for name in names}
    columns["factors"] = data.get("unreduced_factors", np.zeros(0))
    return Unreduced(whole, replace(evidence, **columns), ())


def _terms(plain: list[dict[str, Any]], robot: Robot) -> tuple[Drive, ...]:
    """Drive terms, as the robot takes them."""
    drives = tuple(_older(term, robot) if "kind" in term else Drive.of(**term) for term in plain)
    return replace(robot, further_drives=drives).further_drives


def _older(term: dict[str, Any], robot: Robot) -> Drive:
    """A term of format 3 or before, which counted the joints in q."""
    leading = leading_joints(robot)
    known = SHAPES[term["kind"]].constant_names()
    constants = {name: value for name, value in term.items() if name in known}
    return Drive.of(term["kind"], [leading[j] for j in term["joints"]], **constants)


def _errors(plain: dict[str, Any]) -> Errors:
    """Errors from plain values."""
    within = plain.get("unfiltered")
    read = {key: np.array(plain[key], dtype=np.float64) for key in ("joints", "rms")}
    unlike = tuple((str(what), str(remedy)) for what, remedy in plain["unlike"])
    return Errors(**plain | read | {"unlike": unlike, "unfiltered": within and _errors(within)})


def _swap(plain: dict[str, Any] | None) -> Swap | None:
    if plain is None:
        return None
    return Swap(plain["kind"], tuple(plain["order"]), np.array(plain["before"]), np.array(plain["after"]))
