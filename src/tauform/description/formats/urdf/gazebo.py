"""What a URDF says to simulators only: springs, damping, gravity, joints and rotors beside those of URDF, as findings.

Torques of the described arm may depend on it, and URDF has no place for it: it is named, never silently left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from tauform.description.finding import Finding, place_of
from tauform.escaping.shown import visible

# Elements of <gazebo> that change how the arm moves, in the words of both its own format and SDF.
FORCES = frozenset(
    """
    springStiffness spring_stiffness springReference spring_reference implicitSpringDamper implicit_spring_damper
    cfmDamping cfm_damping dampingFactor damping friction velocity_decay turnGravityOff gravity mass
    ixx ixy ixz iyy iyz izz static kinematic joint link gearbox_ratio
    """.split()  # noqa: SIM905
)
# Words inside of them speak of contacts and of pictures.
OF_THEIR_OWN = ("sensor", "visual", "collision", "material", "surface")
# Plugins are programs: only their names say what they do.
FORCEFUL = re.compile(r"mimic|spring|damp|friction|gravity|force|disturb|buoyan|loop|parallel", re.IGNORECASE)
# Written out, though nothing is switched on.
IDLE = re.compile(r"\s*([+-]?0*\.?0*([eE][+-]?\d+)?|false)\s*", re.IGNORECASE)
# Elements beside links and joints that have no bearing on dynamics.
HARMLESS = ("link", "joint", "gazebo", "material", "transmission", "ros2_control", "sensor", "group", "mujoco")
DRAKE_ROTOR = ("drake:rotor_inertia", "drake:gear_ratio", "rotorInertia", "rotor_inertia")


def simulator_findings(root: Any) -> Iterator[Finding]:
    """One finding for all joints or links that hold the same."""
    found: dict[tuple[str, ...], list[str]] = {}
    for element in root.findall("gazebo"):
        held = tuple(dict.fromkeys(_forces(element)))
        if held:
            found.setdefault(held, []).append(element.get("reference") or root.get("name"))
    for held, names in found.items():
        yield _finding(place_of("<gazebo> reference", names), held, "changes motions in Gazebo")
    rotors = [e for holder in root.findall("transmission") for e in holder.iter() if e.tag in DRAKE_ROTOR]
    if rotors:
        held = tuple(dict.fromkeys(f"<{element.tag}>" for element in rotors))
        yield _finding("<transmission>", held, "belongs to the rotors")
    # Any element may stand beside links and joints; what closes a loop must not be lost without a word.
    others = tuple(dict.fromkeys(f"<{child.tag}>" for child in root if child.tag not in HARMLESS))
    if others:
        yield _finding("<robot>", others, "is not part of URDF")


def _forces(element: Any) -> Iterator[str]:
    for inner in element:
        if inner.tag == "plugin":
            name = f"{inner.get('filename', '')} {inner.get('name', '')}"
            if FORCEFUL.search(name):
                yield f"<plugin> {visible(name.strip())}"
        elif inner.tag in FORCES:
            if len(inner) or not IDLE.fullmatch(inner.get("value", inner.text or "")):
                yield f"<{inner.tag}>"
        elif inner.tag not in OF_THEIR_OWN:
            yield from _forces(inner)


def _finding(place: str, held: tuple[str, ...], why: str) -> Finding:
    what = f"holds {', '.join(held)}, which {why} and is not read"
    return Finding("note", place, what, "describe it in TOML as a drive term if the arm itself has it")
