"""The order in which parameters are kept: Gautier's by default, the user's first where one is given."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tauform.description.layout import Layout
from tauform.description.robot import Robot
from tauform.errors import UnknownNameError

# Within a link, as Gautier1991 writes XX XY XZ YY YZ ZZ MX MY MZ M Ia.
GAUTIER_ORDER = ("Ixx", "Ixy", "Ixz", "Iyy", "Iyz", "Izz", "mx", "my", "mz", "m", "Ia")


def default_order(robot: Robot) -> tuple[int, ...]:
    """Every index into robot.parameters: links ascending in Gautier's order, then friction."""
    return gautier_order(robot.layout)


def gautier_order(layout: Layout) -> tuple[int, ...]:
    """The same of a layout."""
    place = {kind: k for k, kind in enumerate(GAUTIER_ORDER)}
    parameters, friction = layout.parameters, set(layout.friction)
    rigid = [k for k in range(len(parameters)) if k not in friction]
    # By joints first, so that parameters fold towards the base; unknown kinds follow in a link.
    rigid.sort(key=lambda k: (parameters[k].joints, place.get(parameters[k].kind, len(place))))
    return (*rigid, *layout.friction)


def order_of_preference(robot: Robot, columns: Sequence[int], order: Iterable[str] | None = None) -> tuple[int, ...]:
    """The columns, those that `order` names first (`Izz_2`, or a kind such as `Ia` for all), then the default order.

    Raises:
        UnknownNameError: a name is no parameter of the robot.
    """
    # dict.fromkeys keeps the first mention of each.
    chosen = dict.fromkeys(k for name in order or () for k in _named(robot, name))
    ranked = dict.fromkeys([*chosen, *default_order(robot)])
    available = set(columns)
    return tuple(k for k in ranked if k in available)


def parameter_index(robot: Robot, name: str) -> int:
    """Index of a parameter name.

    Raises:
        UnknownNameError: the robot has no such parameter.
    """
    if name in robot.parameter_names:
        return robot.parameter_names.index(name)
    raise UnknownNameError(
        f"parameter {name!r} does not exist in {robot.name}; names are a kind and a number, such as Izz_2 or Ia_1, "
        f"with 1 to {robot.n_bodies}"
    )


def _named(robot: Robot, name: str) -> list[int]:
    of_kind = [k for k, parameter in enumerate(robot.layout.parameters) if parameter.kind == name]
    # A kind names all its parameters; else it must be one parameter's name.
    return of_kind or [parameter_index(robot, name)]
