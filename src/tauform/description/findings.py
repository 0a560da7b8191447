"""Doubts about a robot's numbers, in words; nothing is changed."""

from __future__ import annotations

import numpy as np

from tauform.arrays import Array
from tauform.description.finding import Finding
from tauform.description.inertia import Inertia
from tauform.description.robot import Robot
from tauform.portable.correct import hypot
from tauform.portable.products import norm

# Printed tables round: a violation smaller than this part of the largest moment is rounding.
MOMENT_TOLERANCE = 1e-6
# Other tools list the same six numbers in other orders.
ORDER = "the order of its inertia (six numbers are Ixx Iyy Izz Ixy Ixz Iyz)"


def inertia_findings(robot: Robot) -> list[Finding]:
    """Masses, moments and centres of mass of all links and of the payload."""
    bodies = [(f"link {link.name!r}", link.inertia) for link in robot.links]
    if robot.payload:
        bodies.append((f"payload at {robot.payload.frame!r}", robot.payload.inertia))
    findings = [finding for place, inertia in bodies for finding in _unphysical(place, inertia)]
    # No unit is known: the robot's own longest link is the only ruler.
    longest = max(norm(joint.parent_from_joint[:3, 3]) for joint in robot.joints)
    for i, link in enumerate(robot.links):
        distance = _com_distance(robot, i)
        if longest and distance > longest:
            what = f"its centre of mass lies {distance:.3g} m away, the robot's longest link has {longest:.3g} m"
            remedy = "check the unit (m, not mm) and the frame of the centre of mass"
            findings.append(Finding("doubtful", f"link {link.name!r}", what, remedy))
    return findings


def _unphysical(place: str, inertia: Inertia) -> list[Finding]:
    if inertia.mass < 0:
        return [Finding("unphysical", place, f"its mass is negative ({inertia.mass:g} kg)", "correct the mass")]
    if inertia.mass == 0:
        if not inertia.parameters.any():
            return []
        what = "its mass is 0 but its moments are not"
        return [Finding("unphysical", place, what, "fine for base parameters; as a body it needs a mass")]
    # About the centre of mass: about any other point the tensor is larger, and hides a fault.
    moments = np.linalg.eigvalsh(inertia.tensor_about_com)
    scale = float(np.abs(moments).max())
    listed = ", ".join(f"{moment:.4g}" for moment in moments)
    if moments[0] < -MOMENT_TOLERANCE * scale:
        what = f"its inertia about the centre of mass is not positive definite (principal moments {listed} kg m^2)"
        return [Finding("unphysical", place, what, f"check signs, reference point and {ORDER}")]
    if moments[0] + moments[1] < moments[2] * (1 - MOMENT_TOLERANCE):
        what = f"its principal moments {listed} kg m^2 violate the triangle inequality (two must outweigh the third)"
        return [Finding("unphysical", place, what, f"check rounding, axes and {ORDER}")]
    return []


def _com_distance(robot: Robot, i: int) -> float:
    """Distance from the centre of mass of link i to the nearest of its joints and frames [m]."""
    inertia = robot.links[i].inertia
    if inertia.mass == 0:
        return 0.0
    # A link reaches from its own joint to those that it carries and to its frames.
    places: list[Array] = [np.zeros(3)]
    places += [joint.parent_from_joint[:3, 3] for joint in robot.joints if joint.parent == i]
    places += [frame.link_from_frame[:3, 3] for frame in robot.frames if frame.link == i]
    return min(norm(inertia.com - place) for place in places)


def gravity_findings(robot: Robot) -> list[Finding]:
    """Gravity that points up: a sign of the other convention, or a robot that hangs."""
    x, y, z = robot.gravity
    # Robots on walls and ceilings have gravity aside or up: only what points more up than aside is doubtful.
    if z <= hypot(float(x), float(y)):
        return []
    what = f"({x:g}, {y:g}, {z:g}) points along the base's z, up where the robot stands"
    return [Finding("doubtful", "gravity", what, "a falling body accelerates by (0, 0, -9.81); fine where it hangs")]


def drive_findings(robot: Robot) -> list[Finding]:
    """Rotors, friction and limits with a sign that no drive has."""
    findings = []
    for joint in robot.joints:
        place = f"joint {joint.name!r}"
        for name, value in (("rotor inertia", joint.rotor_inertia or 0.0), ("viscous friction", joint.viscous)):
            if value < 0:
                findings.append(Finding("unphysical", place, f"its {name} is negative ({value:g})", "correct it"))
        if joint.coulomb < 0:
            what = f"its Coulomb friction is negative ({joint.coulomb:g})"
            findings.append(Finding("unphysical", place, what, "correct it"))
        if joint.limits.lower > joint.limits.upper:
            what = f"its lower limit {joint.limits.lower:g} is above its upper limit {joint.limits.upper:g}"
            findings.append(Finding("doubtful", place, what, "exchange them"))
        for name, bound in (("velocity", joint.limits.velocity), ("effort", joint.limits.effort)):
            if bound < 0:
                findings.append(Finding("doubtful", place, f"its {name} limit is negative ({bound:g})", "correct it"))
    for name, term in zip(robot.layout.names[robot.layout.further], robot.further_drives, strict=True):
        if term.is_nonnegative and term.coefficient < 0:
            what = f"its coefficient is negative ({term.coefficient:g})"
            findings.append(Finding("unphysical", f"drive {name}", what, "correct it"))
    return findings + _coupling_findings(robot)


def _coupling_findings(robot: Robot) -> list[Finding]:
    """Shafts whose inertia is more than the rotors of their joints, which then turn without energy."""
    findings = []
    rotors = [joint.rotor_inertia or 0.0 for joint in robot.joints]
    for term in robot.further_drives:
        if term.shape == "coupled_inertia":
            i, j = term.joints
            # The 2 x 2 block of the rotors must be positive: Iam^2 <= Ia_i Ia_j.
            if term.coefficient**2 > rotors[i] * rotors[j]:
                what = f"its inertia {term.coefficient:g} is more than the rotors of both joints hold"
                remedy = "the rotors of both joints contain that of a shared shaft; correct Ia or Iam"
                place = f"drive on {robot.joints[i].name!r} and {robot.joints[j].name!r}"
                findings.append(Finding("doubtful", place, what, remedy))
    return findings
