"""Drive terms of a robot: exchanged as a whole, carried along where joints are locked or left out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from tauform.arrays import Array
from tauform.description.drives import OF_JOINTS, Coulomb, Drive, End, Smooth
from tauform.description.drives.shafts import CoupledCoulomb
from tauform.description.drives.springs import BetweenPoints
from tauform.description.joint import Joint
from tauform.description.robot import Robot
from tauform.errors import DescriptionError
from tauform.portable.products import product


def with_drives(robot: Robot, terms: Iterable[Drive]) -> Robot:
    """Other drive terms; see `Robot.with_drives`."""
    terms = tuple(terms)
    further = tuple(term for term in terms if not isinstance(term, OF_JOINTS))
    own: dict[tuple[type[Drive], int], Drive] = {}
    for term in terms:
        # Rotor, viscous, Coulomb and offset are fields of their joint, where files spell them.
        if isinstance(term, OF_JOINTS):
            key = (type(term), term.joints[0])
            if key in own or not 0 <= term.joints[0] < robot.n_bodies:
                what = "twice" if key in own else f"for joint {term.joints[0]}, which does not exist"
                raise DescriptionError(f"drives: {term.shape} is given {what}; a joint has one of it")
            own[key] = term
    joints = tuple(_with_own(joint, j, own) for j, joint in enumerate(robot.joints))
    return replace(robot, joints=joints, further_drives=further)


def _with_own(joint: Joint, j: int, own: Mapping[tuple[type[Drive], int], Drive]) -> Joint:
    rotor, viscous, coulomb, offset = (own.get((shape, j)) for shape in OF_JOINTS)
    # None says that nobody spoke of a rotor; base parameters then leave it out.
    declared = joint.rotor_inertia is not None or (rotor is not None and rotor.coefficient != 0)
    return replace(
        joint,
        rotor_inertia=rotor.coefficient if rotor is not None and declared else None,
        viscous=viscous.coefficient if viscous else 0.0,
        coulomb=coulomb.coefficient if coulomb else 0.0,
        coulomb_width=coulomb.width if isinstance(coulomb, Coulomb) else 0.0,
        offset=offset.coefficient if offset else 0.0,
    )


def carried_along(
    robot: Robot, joints: tuple[Joint, ...], new_joint: Mapping[int, int], host: Mapping[int, tuple[int, Array]]
) -> tuple[tuple[Joint, ...], tuple[Drive, ...]]:
    """Joints and further terms of a robot of which some joints no longer move.

    A term of a joint that rests goes, for its velocity and acceleration are zero; what a shaft's Coulomb friction does
    to the joint that still moves stays.

    Args:
        joints: those that move.
        new_joint: their indices, by the old ones.
        host: link that each old link became part of, and host_from_link; of links that are gone it has none.
    """
    moving, terms = list(joints), []
    for term in robot.further_drives:
        if isinstance(term, BetweenPoints):
            terms += _rehung(term, host)
        elif all(j in new_joint for j in term.joints):
            _add(terms, term.moved(new_joint))
        # One joint of the shaft stands: what rubs is the other's motion alone.
        elif isinstance(term, CoupledCoulomb) and any(j in new_joint for j in term.joints):
            (left,) = (new_joint[j] for j in term.joints if j in new_joint)
            if term.width:
                _add(terms, Smooth(joints=(left,), coefficient=term.coefficient, width=term.width, label=term.label))
            else:
                for made in _sharpened(moving, left, term.coefficient):
                    _add(terms, made)
    return tuple(moving), tuple(terms)


def _add(terms: list[Drive], term: Drive) -> None:
    """Append a term, or add it to one that is the same but for its coefficient: two of a name are one column."""
    alike = [replace(other, coefficient=term.coefficient) == term for other in terms]
    if any(alike):
        k = alike.index(True)
        terms[k] = replace(term, coefficient=terms[k].coefficient + term.coefficient)
    else:
        terms.append(term)


def _sharpened(joints: list[Joint], j: int, coulomb: float) -> list[Drive]:
    """Add sharp Coulomb friction to a joint; its own, where smooth, becomes a further term."""
    own = joints[j]
    if not own.coulomb_width:
        joints[j] = replace(own, coulomb=own.coulomb + coulomb)
        return []
    joints[j] = replace(own, coulomb=coulomb, coulomb_width=0.0)
    return [Smooth(joints=(j,), coefficient=own.coulomb, width=own.coulomb_width)]


def _rehung(term: BetweenPoints, host: Mapping[int, tuple[int, Array]]) -> list[Drive]:
    """A force between the same points of the links that are left; none where no joint moves them any more."""
    if not all(end.link in host for end in term.ends):
        return []
    ends = []
    for end in term.ends:
        link, host_from_link = host[end.link]
        # Bit for bit where nothing moved: a product with the identity may round.
        unmoved = np.array_equal(host_from_link, np.eye(4))
        point = end.point if unmoved else tuple(product(host_from_link, np.append(end.point, 1.0))[:3].tolist())
        ends.append(End(link, point))
    if ends[0].link == ends[1].link:
        return []
    return [replace(term, ends=tuple(ends), joints=())]
