"""Groups of parameters, and which of a robot's parameters take part: the one place that decides it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from tauform.description.joint import Joint
from tauform.errors import UnknownNameError

if TYPE_CHECKING:
    from tauform.description.layout import Layout

ParameterGroup = Literal["link", "rotor", "viscous", "coulomb", "offset"]
# Groups of a joint's own parameters Ia, Fv, Fc, Fo.
JOINT_GROUPS: tuple[ParameterGroup, ...] = ("rotor", "viscous", "coulomb", "offset")
PARAMETER_GROUPS: tuple[ParameterGroup, ...] = ("link", *JOINT_GROUPS)
# Groups by name, each whole, or what the description declares.
Include = Sequence[ParameterGroup] | Literal["declared"]


def chosen_columns(layout: Layout, joints: Sequence[Joint], include: Include | None) -> tuple[int, ...]:
    """Columns of the layout of these joints; see `Robot.columns`.

    Raises:
        UnknownNameError: no group of that name.
    """
    asked = _asked_for(include)
    by_declaration = include is None or "declared" in asked
    groups = asked | _used_groups(joints) if "declared" in asked else asked
    rotors = [layout.rotor(j) for j, joint in enumerate(joints) if by_declaration and joint.rotor_inertia is not None]
    return tuple(sorted({*layout.columns_of(*groups), *rotors}))


def _used_groups(joints: Sequence[Joint]) -> frozenset[str]:
    """Links, and friction that some joint has; rotors are declared joint by joint."""
    used = zip(JOINT_GROUPS[1:], zip(*(joint.parameters[1:] for joint in joints), strict=True), strict=True)
    return frozenset(["link", *(group for group, values in used if any(values))])


def _asked_for(include: Include | None) -> frozenset[str]:
    asked = ("link",) if include is None else (include,) if isinstance(include, str) else tuple(include)
    known = (*PARAMETER_GROUPS, "declared")
    for group in asked:
        if group not in known:
            raise UnknownNameError(f"include: no group {group!r}; choose from {', '.join(known)}")
    return frozenset(asked)
