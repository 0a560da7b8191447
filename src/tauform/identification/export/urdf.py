"""URDF of a fit: identified links, as much friction as a URDF holds, and in words what it lacks and what that costs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from tauform.closedform.base.conic import semidefinite_solver
from tauform.description.formats.save import Written
from tauform.description.formats.urdf.notes import gravity_note, left_out_of_urdf
from tauform.description.formats.urdf.parts import comment, inertial_element, origin, set_dynamics
from tauform.description.formats.urdf.writer import to_urdf
from tauform.description.robot import Robot
from tauform.errors import IdentificationError
from tauform.files.file import write_text
from tauform.identification.export.plain_friction import Loss, loss_of, robot_with_plain_friction
from tauform.identification.export.urdf_source import UrdfSource, check_joints
from tauform.identification.fitted.model import FittedModel
from tauform.identification.physical.consistency import physically_consistent

# In place of a URDF to copy.
NEW = "new"
# Elements that a fixed joint does not have.
OF_MOVING_JOINTS = ("axis", "limit", "dynamics", "mimic", "calibration", "safety_controller")


@dataclass(frozen=True)
class WrittenUrdf(Written):
    """A URDF of a fit that was written.

    Attributes:
        robot: what its torques are, with the rotor inertias and friction offsets that its findings list.
        loss: errors of the fit and of the URDF as it stands, without these, on the same rows.
        loss_with_notes: the same with these added.
    """

    robot: Robot
    loss: Loss
    loss_with_notes: Loss


def source_of(urdf: str | Path) -> Path | None:
    """The URDF to copy; None where a new one is asked for."""
    return None if str(urdf) == NEW else Path(urdf)


def check_urdf(robot: Robot, source: Path | None) -> UrdfSource | None:
    """The URDF to copy, if one was given; asked before long work, it refuses what `write_urdf` would.

    Raises:
        IdentificationError: a URDF cannot hold the robot's joints, or the file is not its URDF.
        MissingExtraError: the extra `feasible` is not installed.
    """
    check_joints(robot)
    # Raises where the extra is missing: better now than after an hour of fitting.
    semidefinite_solver()
    return None if source is None else UrdfSource.of_robot(source, robot)


def write_urdf(fit: FittedModel, source: Path | None, path: Path) -> WrittenUrdf:
    """Write a fit's links and friction as a URDF; a fit that is not physical is made so first.

    Fv and Fc become damping and friction of <dynamics>, as Gazebo and MuJoCo read them. Where the fit holds other
    friction, springs or couplings, Fv and Fc are fitted to the recordings anew, links and rotors being as they are. In
    a copy, what moves rigidly with an identified link (flanges, grippers, locked joints) is part of it, so these parts
    lose their own inertia, and joints that were locked or cut off become fixed.

    Args:
        source: the URDF that the robot was read from, to be copied; None writes one of the robot.

    Raises:
        IdentificationError: a URDF cannot hold the robot's joints, the file is not its URDF, or the result cannot be
            written.
        MissingExtraError: the fit is not physical and the extra `feasible` is not installed.
    """
    check_joints(fit.robot)
    document = None if source is None else UrdfSource.of_robot(source, fit.robot)
    physical = fit if fit.physical is not None else physically_consistent(fit)
    robot = robot_with_plain_friction(physical)
    # What a simulator reads from the file, and what it could reach with the notes applied.
    loss, with_notes = (loss_of(fit, told) for told in (without_rotors_and_offsets(robot), robot))
    notes = (*_made_physical(fit, physical), *_other_terms(fit), _lost(loss, with_notes))
    if document is None:
        text, findings = to_urdf(robot, path.parent, notes, _heading(fit))
    else:
        # In place: the document is written with the user's meshes, limits and comments.
        merged, held = list(_fill(document, robot)), list(_fix_joints(document, robot))
        findings = (*notes, *left_out_of_urdf(robot), *gravity_note(robot), *_merged(merged), *_held(held))
        text = _text(document, (_heading(fit), *(f"Note: {finding}." for finding in findings)))
    return WrittenUrdf(write_text(path, text, IdentificationError), findings, robot, loss, with_notes)


def without_rotors_and_offsets(robot: Robot) -> Robot:
    """The robot as the URDF says it."""
    # URDF has no element for either.
    return replace(robot, joints=tuple(replace(joint, rotor_inertia=None, offset=0.0) for joint in robot.joints))


def _fill(source: UrdfSource, robot: Robot) -> Iterator[str]:
    """Put a robot's inertias and friction into a document; names the links that lost their own inertia."""
    # All inertias go first: what is fixed to a link is part of the identified one and would count twice.
    yield from _strip_inertias(source, robot)
    for joint, inertia in zip(robot.joints, robot.inertias, strict=True):
        element = source.joints[joint.name]
        link = source.links[source.link_of(element, "child")]
        # The inertia stands in the frame whose z is the axis; a URDF wants its own link frame.
        link.insert(0, inertial_element(inertia.moved(source.link_from_z(element))))
        set_dynamics(element, joint)


def _strip_inertias(source: UrdfSource, robot: Robot) -> Iterator[str]:
    """Take the inertias of all links that move, and name those that move rigidly with another one."""
    for name, link in source.links.items():
        carrier = source.carrier(name, robot)
        # Nothing was identified of the base: what is part of it keeps its inertia.
        held = link.findall("inertial") if carrier is not None else []
        for inertial in held:
            link.remove(inertial)
        if held and carrier != name:
            yield name


def _fix_joints(source: UrdfSource, robot: Robot) -> Iterator[str]:
    """Fix joints that the robot does not have on links that it has, and name them.

    Their links are part of the identified one: free, they would move without inertia.
    """
    own = {joint.name for joint in robot.joints}
    for name, joint in source.joints.items():
        link = source.link_of(joint, "child")
        if name in own or joint.get("type") == "fixed" or source.carrier(link, robot) is None:
            continue
        # Where a lock put it; of what was cut off nothing is known, and it stays at zero.
        placed = source.placed_on(source.link_of(joint, "parent"), link, robot)
        if placed is not None:
            for old in joint.findall("origin"):
                joint.remove(old)
            joint.insert(0, origin(placed))
        joint.set("type", "fixed")
        for tag in OF_MOVING_JOINTS:
            for old in joint.findall(tag):
                joint.remove(old)
        yield name


def _text(source: UrdfSource, lines: Sequence[str]) -> str:
    root: Any = source.document.getroot()
    # First in the file, where people look.
    root.insert(0, comment(lines))
    ElementTree.indent(source.document)
    return f'<?xml version="1.0"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def _heading(fit: FittedModel) -> str:
    errors = fit.unseen
    return f"Identified by {fit.method}; error of the fit on {errors.source} {100 * errors.total:.2g} %."


def _made_physical(fit: FittedModel, physical: FittedModel) -> Iterator[str]:
    if physical is not fit:
        before, after = (100 * x.held_out.total for x in (fit, physical))
        yield (
            f"the fit is not physical, so it holds the nearest physically consistent one, fit.physically_consistent(): "
            f"its error on held-out blocks is {after:.3g} %, that of the fit {before:.3g} %"
        )


def _other_terms(fit: FittedModel) -> Iterator[str]:
    if not fit.has_plain_friction:
        smooth = ["the width of Coulomb steps"] if any(fit.design.widths) else []
        lacking = ", ".join([*smooth, *(term.name for term in fit.terms)])
        yield f"URDF has no place for {lacking}; damping and friction were fitted to the recordings without that"


def _lost(loss: Loss, with_notes: Loss) -> str:
    return (
        f"torques of this URDF are off by {100 * loss.other:.3g} % on {loss.rows}, those of the fit by "
        f"{100 * loss.fit:.3g} %: a loss of {loss} ({with_notes} with rotor inertias and friction offsets added)"
    )


def _merged(names: Sequence[str]) -> Iterator[str]:
    if names:
        yield f"what moves rigidly with a link is part of it and lost its own inertia: {', '.join(names)}"


def _held(names: Sequence[str]) -> Iterator[str]:
    if names:
        yield f"joints that were locked or cut off are fixed, as what they carry is part of a link: {', '.join(names)}"
