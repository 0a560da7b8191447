"""Notes on a URDF, in words: defaults that may not be meant, and what it has no place for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from tauform.description.finding import Finding, Severity, place_of
from tauform.description.formats.urdf.values import vector
from tauform.description.loops.relation import single_leader
from tauform.description.robot import EARTH_GRAVITY, GeneralClosure, Robot
from tauform.description.shapes import Box, Cylinder, Mesh, Sphere

TURN = 2 * np.pi


def left_out_of_urdf(robot: Robot) -> Iterator[str]:
    """Rotor inertias and friction offsets: what the torques of a URDF lack."""
    rotors = {f"Ia_{j + 1}": joint.rotor_inertia or 0.0 for j, joint in enumerate(robot.joints)}
    if any(rotors.values()):
        yield f"URDF has no place for rotor inertias ({_listed(rotors)}); in MJCF they are the joints' armature"
    offsets = {f"Fo_{j + 1}": joint.offset for j, joint in enumerate(robot.joints)}
    if any(offsets.values()):
        yield f"URDF has no place for friction offsets ({_listed(offsets)}); add them to the torques"
    # Without friction a width changes nothing.
    smooth = {joint.name: joint.coulomb_width for joint in robot.joints if joint.coulomb}
    if any(smooth.values()):
        yield f"URDF has no place for widths of Coulomb friction ({_listed(smooth)}); there it changes sign at once"
    names = robot.layout.names[robot.layout.further]
    further = {name: term.coefficient for name, term in zip(names, robot.further_drives, strict=True)}
    if any(further.values()):
        yield f"URDF has no place for further drive terms ({_listed(further)}); TOML holds them"


def _listed(values: Mapping[str, float]) -> str:
    return ", ".join(f"{name} = {value:.4g}" for name, value in values.items() if value)


def gravity_note(robot: Robot) -> Iterator[str]:
    """Gravity other than the earth's on a robot that stands upright."""
    if not np.array_equal(robot.gravity, EARTH_GRAVITY):
        listed = ", ".join(f"{value:g}" for value in robot.gravity)
        yield f"URDF has no place for gravity; give ({listed}) when you load it"


def other_than_urdf(robot: Robot) -> Iterator[str]:
    """Facts of a Robot that a URDF cannot say, or says in another way."""
    yield from gravity_note(robot)
    if robot.tip is not None:
        yield f"URDF names no tip; the tool frame of this robot is {robot.tip!r}"
    if robot.payload:
        yield f"the payload at {robot.payload.frame!r} is a link of its own"
    yield from _relations(robot)
    order = _depth_first(robot)
    # q of a reader has another order then: torques land on other joints unless somebody says so.
    if order != [joint.name for joint in robot.joints]:
        yield f"joints of a URDF are read depth first: {', '.join(order)}"
    lost = [shape.frame for shape in robot.shapes if not isinstance(shape.solid, Box | Cylinder | Sphere | Mesh)]
    if lost:
        yield f"URDF has no capsules and hulls, so collision shapes of {', '.join(dict.fromkeys(lost))} are missing"


def _relations(robot: Robot) -> Iterator[str]:
    if robot.closure is None:
        return
    if isinstance(robot.closure, GeneralClosure):
        for relation in robot.closure.relations:
            if single_leader(relation) is None:
                for name in relation.joints:
                    yield f"mimic is linear in one joint, so {name!r}, which follows others by a function, is free here"
        return
    for joint, row, constant in zip(robot.joints, robot.closure.F, robot.closure.offset, strict=True):
        if np.count_nonzero(row) > 1:
            terms = [f"{factor:+g} {name}" for factor, name in zip(row, robot.closure.active, strict=True) if factor]
            terms += [f"{constant:+g}"] * bool(constant)
            yield (
                f"mimic follows one joint, so {joint.name!r}, which is {' '.join(terms)}, is free here; "
                "Robot.with_relations makes it follow again"
            )


def _depth_first(robot: Robot) -> list[str]:
    order: list[str] = []
    # Reversed, since a stack gives the last one first.
    waiting = [i for i in range(robot.n_bodies) if robot.joints[i].parent == -1][::-1]
    while waiting:
        i = waiting.pop()
        order.append(robot.joints[i].name)
        waiting += [k for k in range(robot.n_bodies) if robot.joints[k].parent == i][::-1]
    return order


# Defaults of a URDF that may not be meant, as findings.


def default_findings(root: Any, robot: Robot) -> Iterator[Finding]:
    """One finding for each kind of default, with all joints or links that have it."""
    # A link without <inertial> that others were merged into is not massless.
    silent = {link.get("name") for link in root.findall("link") if link.find("inertial") is None}
    massless = [link.name for link in robot.links if link.name in silent and not link.inertia.parameters.any()]
    yield from _note("link", massless, "no <inertial>: read as massless", "write one if it weighs anything")
    # A fixed joint has neither axis nor limits to miss.
    joints = [joint for joint in root.findall("joint") if joint.get("type") != "fixed"]
    yield from _joint_note(joints, "axis", "no <axis>: read as x, URDF's default", "write the axis")
    # URDF asks no range of a continuous joint.
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
    # One finding for all: a humanoid without limits would fill a page.
    if names:
        yield Finding(severity, place_of(noun, names), what, remedy)
