"""Groups of parameters, and which of a robot's parameters take part: the one place that decides it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from tauform.description.joint import Joint
from tauform.errors import UnknownNameError

ParameterGroup = Literal["link", "rotor", "viscous", "coulomb", "offset"]
PARAMETER_GROUPS: tuple[ParameterGroup, ...] = ("link", "rotor", "viscous", "coulomb", "offset")
# Groups by name, each whole, or what the description declares.
Include = Sequence[ParameterGroup] | Literal["declared"]


def chosen_columns(joints: Sequence[Joint], include: Include | None) -> tuple[int, ...]:
    """Indices into the parameters of the tree of these joints; see `Robot.columns`.

    Raises:
        UnknownNameError: no group of that name.
    """
    asked, n = _asked_for(include), len(joints)
    by_declaration = include is None or "declared" in asked
    groups = asked | _used_groups(joints) if "declared" in asked else asked
    chosen = list(range(10 * n)) if "link" in groups else []
    for i, joint in enumerate(joints):
        has_rotor = by_declaration and joint.rotor_inertia is not None
        for k, group in enumerate(PARAMETER_GROUPS[1:]):
            if group in groups or (group == "rotor" and has_rotor):
                chosen.append(10 * n + 4 * i + k)
    return tuple(chosen)


def _used_groups(joints: Sequence[Joint]) -> frozenset[str]:
    """Links, and friction that some joint has; rotors are declared joint by joint."""
    friction = enumerate(PARAMETER_GROUPS[2:], start=1)
    return frozenset(["link", *(group for k, group in friction if any(j.parameters[k] for j in joints))])


def _asked_for(include: Include | None) -> frozenset[str]:
    asked = ("link",) if include is None else (include,) if isinstance(include, str) else tuple(include)
    known = (*PARAMETER_GROUPS, "declared")
    for group in asked:
        if group not in known:
            raise UnknownNameError(f"include: no group {group!r}; choose from {', '.join(known)}")
    return frozenset(asked)
