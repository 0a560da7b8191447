"""Groups of parameters, and which of a robot's parameters take part: the one place that decides it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, get_args

from tauform.description.joint import Joint
from tauform.errors import UnknownNameError

if TYPE_CHECKING:
    from tauform.description.layout import Layout

ParameterGroup = Literal[
    "link", "rotor", "viscous", "coulomb", "offset",
    "smooth", "stribeck", "asymmetric", "quadratic", "load", "thermal",
    "stiffness", "sine", "cosine", "spring", "force",
    "coupled_inertia", "coupled_viscous", "coupled_coulomb",
]  # fmt: skip
# Groups of a joint's own parameters Ia, Fv, Fc, Fo.
JOINT_GROUPS: tuple[ParameterGroup, ...] = ("rotor", "viscous", "coulomb", "offset")
# All groups: that of the links, and the shapes of drive terms.
PARAMETER_GROUPS: tuple[ParameterGroup, ...] = get_args(ParameterGroup)
# Groups by name, each whole, or what the description declares.
Include = Sequence[ParameterGroup] | Literal["declared"]


def chosen_columns(layout: Layout, joints: Sequence[Joint], include: Include | None) -> tuple[int, ...]:
    """Columns of the layout of these joints; see `Robot.columns`.

    Raises:
        UnknownNameError: no group of that name.
    """
    asked = _asked_for(include)
    declared: set[int] = set()
    if include is None or "declared" in asked:
        declared |= {layout.rotor(j) for j, joint in enumerate(joints) if joint.rotor_inertia is not None}
        declared |= set(layout.columns_of("coupled_inertia"))
    if "declared" in asked:
        declared |= {*layout.columns_of(*_used_groups(joints)), *range(layout.n)[layout.further]}
    return tuple(sorted(declared.union(layout.columns_of(*asked))))


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
