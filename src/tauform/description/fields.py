"""Numbers, placements and inertias as people write them in tables and files."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tauform.arrays import LARGEST, Array, fixed_array
from tauform.description.inertia import LINK_PARAMETERS, Inertia
from tauform.description.joint import Limits
from tauform.description.joint_types import CONSTANTS
from tauform.description.transform import rotation_rpy, translation
from tauform.errors import DescriptionError, TauformError

INERTIAL = ("mass", "com", "inertia", "inertia_about", "parameters")
DRIVE = ("rotor_inertia", "viscous", "coulomb", "coulomb_width", "offset")
BOUNDS = ("lower", "upper", "velocity", "effort")
# A larger constant angle is written in degrees [rad].
LARGEST_ANGLE = 4 * np.pi
PLACEMENT = ("xyz", "rpy", "rotation")

_UNSIGNED = r"(?:\d+\.?\d*|\.\d+)"
# "pi", "-pi/2", "3*pi/4", "2 pi": exact multiples that decimals cannot write.
_MULTIPLE_OF_PI = re.compile(rf"\s*([+-]?)\s*({_UNSIGNED})?\s*\*?\s*pi\s*(?:/\s*({_UNSIGNED}))?\s*")


def number(value: Any, where: str) -> float:
    """A finite number; text may be a decimal or a multiple of pi such as "-pi/2"."""
    # Parsed, never evaluated: the text is of a file.
    multiple = _MULTIPLE_OF_PI.fullmatch(value) if isinstance(value, str) else None
    try:
        if isinstance(value, bool):  # which Python counts as 1 and 0
            raise TypeError
        if multiple:
            sign, factor, divisor = multiple.groups()
            result = float(f"{sign}1") * float(factor or 1) * np.pi / float(divisor or 1)
        else:
            result = float(value)
    except (TypeError, ValueError, OverflowError, ZeroDivisionError):
        raise DescriptionError(f"{where}: expected a number (or text such as '-pi/2'), got {value!r:.60}") from None
    if not np.isfinite(result):
        raise DescriptionError(f"{where}: expected a finite number, got {value!r:.60}")
    # Finite, and still no robot: squares of it would overflow later, without a name.
    if abs(result) > LARGEST:
        raise DescriptionError(f"{where}: {result:g} cannot be meant; check the number and its unit")
    return result


def checked_angles(angles: Array, where: str) -> Array:
    """Angles of a constant placement, which nobody writes beyond two turns unless they are degrees."""
    for angle in np.atleast_1d(angles):
        if abs(angle) > LARGEST_ANGLE:
            raise DescriptionError(f"{where} = {angle:g} is more than two turns; angles are in radians")
    return angles


def reject_unknown(fields: Mapping[str, Any], known: tuple[str, ...], where: str, what: str = "key") -> None:
    """Raise for what is no table, or where a key is not one of those known: a misspelt key must not be ignored."""
    if not isinstance(fields, Mapping):
        raise DescriptionError(f"{where}: expected a table of {', '.join(known)}, got {fields!r:.60}")
    for key in fields:
        if key not in known:
            raise DescriptionError(f"{where}: unknown {what} {key!r}; known are {', '.join(known)}")


def constants_of(fields: Mapping[str, Any], where: str) -> tuple[tuple[str, float], ...]:
    """Constants of a joint's type, such as a pitch, by name; the joint itself says which it needs."""
    return tuple((key, number(fields[key], f"{where}: {key}")) for key in CONSTANTS if fields.get(key) is not None)


def drive_of(fields: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Keyword arguments of Joint: rotor inertia (None where silent), friction and limits."""
    drive: dict[str, Any] = {}
    for key in DRIVE:
        if fields.get(key) is not None:
            drive[key] = number(fields[key], f"{where}: {key}")
    # What is silent stays unlimited.
    bounds = {key: number(fields[key], f"{where}: {key}") for key in BOUNDS if fields.get(key) is not None}
    return {**drive, "limits": Limits(**bounds)}


def inertia_of(fields: Mapping[str, Any], where: str) -> Inertia:
    """Inertia from mass, com, inertia and inertia_about; or from parameters, the ten in order or by name."""
    given = {key: fields[key] for key in INERTIAL if fields.get(key) is not None}
    try:
        if "parameters" in given:
            if len(given) > 1:
                raise DescriptionError('give "parameters" or "mass", "com", "inertia", not both')
            return Inertia(_ten(given["parameters"]))
        # Both are in use, and the parallel-axis term between them is no small change.
        if "inertia" in given and "inertia_about" not in given:
            raise DescriptionError('"inertia" needs "inertia_about": "com" or "origin"')
        return Inertia.of(
            number(given.get("mass", 0.0), "mass"),
            given.get("com", (0.0,) * 3),
            given.get("inertia", (0.0,) * 6),
            inertia_about=given.get("inertia_about", "com"),
        )
    except TauformError as error:
        raise DescriptionError(f"{where}: {error}") from None


def _ten(parameters: Any) -> Any:
    if not isinstance(parameters, Mapping):
        return parameters
    # A misspelt Ixy would be a moment of zero.
    reject_unknown(parameters, LINK_PARAMETERS, "parameters", "name")
    return [number(parameters.get(name, 0.0), f"parameters: {name}") for name in LINK_PARAMETERS]


def placement_of(fields: Any, where: str) -> Array:
    """(4, 4) from xyz and rpy (roll, pitch, yaw about fixed axes) or a (3, 3) rotation; or from a (4, 4) itself."""
    if not isinstance(fields, Mapping):
        return fixed_array(fields, (4, 4), where)
    T = translation(fixed_array(fields.get("xyz", (0.0,) * 3), (3,), f"{where}: xyz"))
    if "rotation" in fields:
        if "rpy" in fields:
            raise DescriptionError(f'{where}: give "rpy" or "rotation", not both')
        T[:3, :3] = fixed_array(fields["rotation"], (3, 3), f"{where}: rotation")
    elif "rpy" in fields:
        if not isinstance(fields["rpy"], Sequence):
            raise DescriptionError(f"{where}: rpy: expected three angles, got {fields['rpy']!r:.60}")
        angles = [number(angle, f"{where}: rpy") for angle in fields["rpy"]]
        checked = checked_angles(fixed_array(angles, (3,), f"{where}: rpy"), f"{where}: rpy")
        T[:3, :3] = rotation_rpy(checked)[:3, :3]
    return T
