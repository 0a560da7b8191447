"""Drive terms in smaller and split programs: which take part, and which cannot."""

from __future__ import annotations

from tauform.description.drives.drive import Drive
from tauform.description.robot import Robot
from tauform.errors import GenerationError

# Quantities that neither a profile of states nor a stored torque holds, and why.
HIDDEN = {"temperature": "temperatures are no part of a motion", "carried": "it changes with the torque that is left"}


def refuse_hidden(robot: Robot, what: str) -> None:
    """Raise GenerationError where friction depends on load or temperature.

    Args:
        what: is made of the robot, for the message.
    """
    for name, term in zip(robot.parameter_names[robot.layout.further], robot.further_drives, strict=True):
        for quantity in sorted(HIDDEN.keys() & term.reads):
            raise GenerationError(
                f"{what}: {robot.name} has {term.meaning} ({name}), and {HIDDEN[quantity]}; leave the term out with "
                f"robot.with_drives([d for d in robot.drives if d.shape != {term.shape!r}]) and add its torque outside"
            )


def depends_on_position(term: Drive) -> bool:
    """Whether it is a spring, whose torque changes as slowly as gravity does."""
    return "q" in term.reads


def of_velocity(robot: Robot) -> Robot:
    """The robot with friction alone: no springs."""
    return robot.with_drives(term for term in robot.drives if not depends_on_position(term))


def of_position(robot: Robot) -> Robot:
    """The robot with springs alone: no friction."""
    return robot.with_drives(term for term in robot.drives if depends_on_position(term) or term.is_inertial)
