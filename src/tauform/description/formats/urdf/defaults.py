"""Defaults of a URDF that may not be meant, as findings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tauform.description.finding import Finding, Severity, place_of
from tauform.description.formats.urdf.values import vector
from tauform.description.robot import Robot

TURN = 2 * np.pi


def default_findings(root: Any, robot: Robot) -> Iterator[Finding]:
    """One finding for each kind of default, with all joints or links that have it."""
    # A link without <inertial> that others were merged into is not massless.
    silent = {link.get("name") for link in root.findall("link") if link.find("inertial") is None}
    massless = [link.name for link in robot.links if link.name in silent and not link.inertia.parameters.any()]
    yield from _note("link", massless, "no <inertial>: read as massless", "write one if it weighs anything")
    joints = [joint for joint in root.findall("joint") if joint.get("type") != "fixed"]
    yield from _joint_note(joints, "axis", "no <axis>: read as x, URDF's default", "write the axis")
    bounded = [joint for joint in joints if joint.get("type") != "continuous"]
    yield from _joint_note(bounded, "limit", "no <limit>: read as unlimited", "write its limits")
    yield from _limit_notes(joints)
    names = [joint.get("name") for joint in bounded if _lacks(joint.find("limit"), "lower", "upper")]
    yield from _note("joint", names, "no lower and upper in <limit>: read as 0, URDF's default", "write the range")
    known = {joint.get("name") for joint in root.findall("joint")}
    mimics = [joint for joint in joints if joint.find("mimic") is not None]
    names = [joint.get("name") for joint in mimics if joint.find("mimic").get("joint") not in known]
    yield from _note("joint", names, "follows a joint that is not there: read as independent", "correct its <mimic>")
    yield from _angle_doubts(root)


def _limit_notes(joints: list[Any]) -> Iterator[Finding]:
    for key in ("velocity", "effort"):
        names = [joint.get("name") for joint in joints if _lacks(joint.find("limit"), key)]
        yield from _note("joint", names, f"no {key} in <limit>: read as unlimited", "write it")


def _lacks(limit: Any, *keys: str) -> bool:
    return limit is not None and all(limit.get(key) is None for key in keys)


def _joint_note(joints: list[Any], tag: str, what: str, remedy: str) -> Iterator[Finding]:
    yield from _note("joint", [joint.get("name") for joint in joints if joint.find(tag) is None], what, remedy)


def _angle_doubts(root: Any) -> Iterator[Finding]:
    """Angles beyond a turn are legal, and more often degrees."""
    origins = [(link, link.find("inertial/origin")) for link in root.findall("link")]
    origins += [(joint, joint.find("origin")) for joint in root.findall("joint")]
    for tag in ("link", "joint"):
        names = [
            element.get("name")
            for element, origin in origins
            if element.tag == tag and np.abs(vector(origin, "rpy", np.zeros(3))).max() > TURN
        ]
        what = "an angle of its rpy is more than a turn"
        yield from _note(tag, names, what, "angles are in radians: 90 degrees are 1.5707963267948966", "doubtful")


def _note(noun: str, names: list[str], what: str, remedy: str, severity: Severity = "note") -> Iterator[Finding]:
    if names:
        yield Finding(severity, place_of(noun, names), what, remedy)
