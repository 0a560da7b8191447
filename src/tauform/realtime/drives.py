"""Drive terms in split programs: which task each belongs to."""

from __future__ import annotations

from tauform.description.drives.drive import Drive
from tauform.description.robot import Robot


def depends_on_position(term: Drive) -> bool:
    """Whether it is a spring, whose torque changes as slowly as gravity does."""
    return "q" in term.reads


def depends_on_load(term: Drive) -> bool:
    """Whether it needs the torque of the present acceleration, which no background knows."""
    return "carried" in term.reads


def of_velocity(robot: Robot) -> Robot:
    """The robot with friction that either task can make: no springs, nothing that depends on load."""
    terms = [term for term in robot.drives if not depends_on_position(term) and not depends_on_load(term)]
    return robot.with_drives(terms)


def of_position(robot: Robot) -> Robot:
    """The robot with springs alone: no friction."""
    return robot.with_drives(term for term in robot.drives if depends_on_position(term) or term.is_inertial)


def of_load(robot: Robot) -> Robot:
    """The robot with friction that depends on load alone."""
    return robot.with_drives(term for term in robot.drives if depends_on_load(term) or term.is_inertial)


def without_load(robot: Robot) -> Robot:
    """The robot without friction that depends on load."""
    return robot.with_drives(term for term in robot.drives if not depends_on_load(term))
