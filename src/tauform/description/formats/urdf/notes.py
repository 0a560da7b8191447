"""Losses of a URDF, in words: what it has no place for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from tauform.description.loops.relation import single_leader
from tauform.description.robot import EARTH_GRAVITY, GeneralClosure, Robot
from tauform.description.shapes import Box, Cylinder, Mesh, Sphere


def left_out_of_urdf(robot: Robot) -> Iterator[str]:
    """Rotor inertias and friction offsets: what the torques of a URDF lack."""
    rotors = {f"Ia_{j + 1}": joint.rotor_inertia or 0.0 for j, joint in enumerate(robot.joints)}
    if any(rotors.values()):
        yield f"URDF has no place for rotor inertias ({_listed(rotors)}); in MJCF they are the joints' armature"
    offsets = {f"Fo_{j + 1}": joint.offset for j, joint in enumerate(robot.joints)}
    if any(offsets.values()):
        yield f"URDF has no place for friction offsets ({_listed(offsets)}); add them to the torques"
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
    waiting = [i for i in range(robot.n_bodies) if robot.joints[i].parent == -1][::-1]
    while waiting:
        i = waiting.pop()
        order.append(robot.joints[i].name)
        waiting += [k for k in range(robot.n_bodies) if robot.joints[k].parent == i][::-1]
    return order
