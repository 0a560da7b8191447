"""Elements of a URDF by the letter: what each must hold, may hold, and what is not read.

Joints and inertias that lack something without a default, hold it twice or misspell it are refused. What simulators add
for themselves is noted, so that `check()` can say what was not read.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from tauform.description.finding import Finding, place_of
from tauform.errors import DescriptionError

# Python would also take 1_000, digits of other scripts and the word infinity.
NUMBER = re.compile(r"[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|inf|INF|Inf)", re.ASCII)
VERSIONS = ("1.0", "1.1", "1.2")
MOMENTS = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
BOUNDS = ("lower", "upper", "velocity", "effort")
# Public files hold these twice, and every reader takes the first.
FIRST_COUNTS = {("joint", "origin")}


@dataclass(frozen=True)
class Form:
    """Contents of an element.

    Attributes:
        numbers: attribute -> how many finite numbers it holds.
        texts: other attributes.
        required: attributes without a default.
        children: elements that are read; each stands at most once.
        needed: those of them without a default.
        extensible: simulators add attributes and elements of their own, which is noted, not refused.
    """

    numbers: Mapping[str, int] = field(default_factory=dict)
    texts: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    children: tuple[str, ...] = ()
    needed: tuple[str, ...] = ()
    extensible: bool = False


LIMITS = dict.fromkeys((*BOUNDS, "acceleration", "deceleration", "jerk"), 1)
FORMS = {
    "robot": Form(texts=("name", "version"), required=("name",), extensible=True),
    "link": Form(texts=("name",), required=("name",), children=("inertial",), extensible=True),
    "inertial": Form(children=("origin", "mass", "inertia"), needed=("mass", "inertia")),
    "mass": Form({"value": 1}, required=("value",)),
    "inertia": Form(dict.fromkeys(MOMENTS, 1), required=MOMENTS),
    "origin": Form({"xyz": 3, "rpy": 3, "quat_xyzw": 4}),
    "joint": Form(
        texts=("name", "type"),
        required=("name", "type"),
        children=("origin", "parent", "child", "axis", "limit", "dynamics", "mimic"),
        needed=("parent", "child"),
        extensible=True,
    ),
    "parent": Form(texts=("link",), required=("link",)),
    "child": Form(texts=("link",), required=("link",)),
    "axis": Form({"xyz": 3}, required=("xyz",), extensible=True),
    "limit": Form(LIMITS, extensible=True),
    "dynamics": Form({"damping": 1, "friction": 1}, extensible=True),
    "mimic": Form({"multiplier": 1, "offset": 1}, ("joint",), required=("joint",)),
}
# Elements of links and joints that have no bearing on dynamics, and that nobody writes by mistake for another.
IGNORED = ("visual", "collision", "contact", "gazebo", "calibration", "safety_controller", "material", "transmission")
# What belongs into <inertial> or <joint> and would be lost elsewhere.
MISPLACED = ("mass", "inertia")
Extras = dict[tuple[str, str, str], list[str]]


def check_elements(root: Any) -> tuple[Finding, ...]:
    """Check a document, and list what in it is not read.

    Raises:
        DescriptionError: an element lacks what has no default, holds something twice, misspelt or in the wrong place,
            or a text where numbers belong; the message names link or joint, element and attribute.
    """
    _check_root(root)
    # Gathered over the file: one sentence for forty links that hold the same.
    extras: Extras = {}
    for tag in ("link", "joint"):
        seen: set[str] = set()
        # By name from here on; without one, only its number says which is meant.
        for k, element in enumerate(root.findall(tag)):
            name = element.get("name")
            if not name:
                raise DescriptionError(f"<{tag}> number {k + 1} has no name; give it one")
            if name in seen:
                raise DescriptionError(f"{tag} name {name!r} is used twice; names must be unique")
            seen.add(name)
            for path, extra in _check(element, f"{tag} {name!r}"):
                extras.setdefault((tag, path, extra), []).append(name)
    return tuple(_not_read(extras))


def _not_read(extras: Extras) -> Iterator[Finding]:
    """One finding for all extras of an element that the same links or joints have."""
    together: dict[tuple[str, str, tuple[str, ...]], list[str]] = {}
    for (tag, path, extra), names in extras.items():
        together.setdefault((tag, path, tuple(names)), []).append(extra)
    for (tag, path, sharing), held in together.items():
        are = "is" if len(held) == 1 else "are"
        what = f"{path} holds {', '.join(held)}, which {are} not part of URDF and not read"
        yield Finding("note", place_of(tag, sharing), what, "make sure that the torques do not depend on it")


def _check_root(root: Any) -> None:
    if root.tag != "robot":
        raise DescriptionError(f"the root element is <{root.tag}>, a URDF has <robot>; check the file")
    if not root.get("name"):
        raise DescriptionError("<robot> has no name; give it one")
    version = root.get("version", "1.0")
    if version not in VERSIONS:
        raise DescriptionError(f"URDF version {version!r} is not supported; known are {', '.join(VERSIONS)}")
    # All of it, also below what is not read: xacro may stand anywhere.
    for element in root.iter():
        if element.tag.startswith("xacro:"):
            raise DescriptionError(f"<{element.tag}> stands in it; name the file .xacro so that it is expanded")
        if version == "1.0" and element.tag == "origin" and element.get("quat_xyzw") is not None:
            raise DescriptionError('<origin quat_xyzw="..."> needs <robot version="1.1">; write it, or rpy instead')
    for child in root:
        # An unknown element may be anything; one that is nearly <link> is a lost link.
        near = _misspelt(child.tag, ("link", "joint"))
        if child.tag not in (*FORMS, *IGNORED) and near:
            raise DescriptionError(f"<{child.tag}> is not an element of URDF; did you mean <{near}>?")
        if child.tag == "robot":
            raise DescriptionError("a second <robot> stands in it, whose links would be lost; keep one per file")
        if child.tag in MISPLACED or child.tag == "inertial":
            raise DescriptionError(f"<{child.tag}> stands outside of any link; move it into one")


def _check(element: Any, where: str) -> Iterator[tuple[str, str]]:
    """Check an element and what is read of its children; yields where something else stands, and what."""
    form, tag = FORMS[element.tag], element.tag
    for key in form.required:
        if not element.get(key):
            raise DescriptionError(f"{where}: <{tag}> lacks {key!r}{_meant(element, key)}")
    for key, text in element.attrib.items():
        if key in form.numbers:
            _check_numbers(element, key, text, form.numbers[key], where)
        elif key not in form.texts:
            # Only what is missing can have been meant: a second, misspelt copy is merely extra.
            absent = [known for known in (*form.numbers, *form.texts) if known not in element.attrib]
            _check_extra(form, key, absent, f"{where}: <{tag} {key}=...>")
            yield f"<{tag}>", repr(key)
    yield from _check_children(element, form, where)


def _check_children(element: Any, form: Form, where: str) -> Iterator[tuple[str, str]]:
    tag, present = element.tag, [child.tag for child in element]
    for needed in form.needed:
        if needed not in present:
            # A known element is what it says, however near its name is.
            near = _misspelt(needed, [child for child in present if child not in FORMS])
            raise DescriptionError(f"{where}: <{tag}> lacks <{needed}>; " + (f"is <{near}> it?" if near else "add it"))
    for k, child in enumerate(element):
        if child.tag in form.children:
            # The second is not read: neither checked nor silent.
            if (tag, child.tag) in FIRST_COUNTS and child.tag in present[:k]:
                yield f"<{tag}>", f"a second <{child.tag}>"
                continue
            if present.count(child.tag) > 1 and (tag, child.tag) not in FIRST_COUNTS:
                raise DescriptionError(f"{where}: <{child.tag}> stands {present.count(child.tag)} times; keep one")
            yield from _check(child, where)
        elif child.tag not in IGNORED:
            if child.tag in MISPLACED:
                raise DescriptionError(f"{where}: <{child.tag}> stands outside of <inertial>; move it there")
            absent = [known for known in form.children if known not in present]
            _check_extra(form, child.tag, absent, f"{where}: <{child.tag}>")
            yield f"<{tag}>", f"<{child.tag}>"


def _check_extra(form: Form, name: str, absent: list[str], what: str) -> None:
    # Misspelt before unknown: then the sentence can say what was meant.
    near = _misspelt(name, absent)
    if near:
        raise DescriptionError(f"{what} is not part of URDF; did you mean {near!r}?")
    # Elements that hold the dynamics take nothing unknown: it might be a number that was meant to count.
    if not form.extensible:
        raise DescriptionError(f"{what} is not part of URDF and might change the dynamics; remove it")


def _misspelt(name: str, known: Any) -> str | None:
    # A prefix says that another tool reads it.
    if ":" in name:
        return None
    return next(iter(difflib.get_close_matches(name.lower(), list(known), n=1, cutoff=0.6)), None)


def _meant(element: Any, key: str) -> str:
    near = _misspelt(key, [other for other in element.attrib if other not in FORMS[element.tag].numbers])
    return f"; is {near!r} it?" if near else ", which has no default; add it"


def _check_numbers(element: Any, key: str, text: str, count: int, where: str) -> None:
    # Of limits, infinity means none; anywhere else it would spoil every torque.
    words, bound = text.split(), key in LIMITS
    if len(words) != count or not all(_is_number(word, bound) for word in words):
        expected = "a finite number" if count == 1 else f"{count} finite numbers"
        raise DescriptionError(f"{where}: expected {expected} in <{element.tag} {key}={text!r:.60}>; correct it")


def _is_number(word: str, infinite: bool) -> bool:
    return NUMBER.fullmatch(word) is not None and (infinite or math.isfinite(float(word)))
