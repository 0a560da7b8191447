"""What the elements of a URDF must hold before a reader turns them into numbers: names, ends of joints, numbers."""

from __future__ import annotations

import math
from typing import Any

from tauform.errors import DescriptionError

# Attributes that the dynamics depend on, and how many numbers each holds.
NUMBERS = {"xyz": 3, "rpy": 3}
NUMBERS |= dict.fromkeys(("value", "ixx", "ixy", "ixz", "iyy", "iyz", "izz"), 1)
NUMBERS |= dict.fromkeys(("damping", "friction", "multiplier", "offset"), 1)
BOUNDS = ("lower", "upper", "velocity", "effort")


def check_elements(root: Any) -> None:
    """Raise DescriptionError where a link or joint lacks its name, shares it, or holds text that is no number.

    The reader would take the last of two links of one name, and says of a missing attribute only that it is missing.
    """
    if not root.get("name"):
        raise DescriptionError("<robot> has no name; give it one")
    seen: set[tuple[str, str]] = set()
    for tag in ("link", "joint"):
        for k, element in enumerate(root.findall(tag)):
            name = element.get("name")
            if not name:
                raise DescriptionError(f"<{tag}> number {k + 1} has no name; give it one")
            if (tag, name) in seen:
                raise DescriptionError(f"{tag} name {name!r} is used twice; names must be unique")
            seen.add((tag, name))
            where = f"{tag} {name!r}"
            if tag == "joint":
                _check_ends(element, where)
            for part in element.findall("inertial") if tag == "link" else [element]:
                _check_numbers(part, where)


def _check_ends(joint: Any, where: str) -> None:
    if not joint.get("type"):
        raise DescriptionError(f"{where}: its type is missing; write revolute, continuous, prismatic or fixed")
    for end in ("parent", "child"):
        element = joint.find(end)
        if element is None or not element.get("link"):
            raise DescriptionError(f'{where}: <{end} link="..."/> is missing; name the link it joins')


def _check_numbers(part: Any, where: str) -> None:
    for element in part.iter():
        for key, text in element.attrib.items():
            count = 1 if key in BOUNDS else NUMBERS.get(key)
            if count is None:
                continue
            words = text.split()
            if len(words) != count or not all(_is_number(word, infinite=key in BOUNDS) for word in words):
                expected = "a finite number" if count == 1 else f"{count} finite numbers"
                raise DescriptionError(f"{where}: expected {expected} in <{element.tag} {key}={text!r}>; correct it")


def _is_number(word: str, infinite: bool) -> bool:
    try:
        value = float(word)
    except ValueError:
        return False
    return math.isfinite(value) or (infinite and not math.isnan(value))
