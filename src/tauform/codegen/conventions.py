"""Conventions that a caller of generated code must know and cannot see in a prototype."""

from __future__ import annotations

from collections.abc import Sequence

from tauform.description.joint import Frame
from tauform.description.robot import Robot


def conventions(robot: Robot) -> tuple[str, ...]:
    """The joint behind each entry, those that follow others, friction, gravity and the tool; a line each."""
    joints = {joint.name: joint for joint in robot.joints}
    units = {name: joints[name].type.unit for name in robot.joint_names}
    lines = ["Entries of q, qd, qdd and tau:"]
    lines += [f"  [{k}] {name} [{unit}]" for k, (name, unit) in enumerate(units.items())]
    followers = [name for name in joints if name not in units]
    if followers:
        lines.append(f"Joints that follow these: {', '.join(followers)}.")
    rubbing = [joint.name for joint in robot.joints if joint.viscous or joint.coulomb or joint.offset]
    where = "all joints" if len(rubbing) == len(joints) else ", ".join(rubbing) or "no joint"
    lines.append(f"Friction is described for {where}.")
    lines += _drive_lines(robot)
    # + 0.0: no minus before a zero.
    gravity = ", ".join(f"{value + 0.0:g}" for value in robot.gravity)
    lines.append(f"Gravity in the base frame: ({gravity}) m/s^2. Tool: {robot.tool.name}.")
    return tuple(lines)


def payload_line(frame: Frame) -> str:
    """Meaning of the input for the ten parameters of the body that the robot carries."""
    return f"payload: ten parameters of the body at frame {frame.name}, in its axes, in place of the described one."


def wrench_lines(ports: Sequence[tuple[str, Frame]]) -> list[str]:
    """Meaning of the inputs for external wrenches; each is given with its frame."""
    return [
        f"{port}: force [N], then moment [N m], on the robot at frame {frame.name}, in its axes, about its origin."
        for port, frame in ports
    ]


def _drive_lines(robot: Robot) -> list[str]:
    """Drive terms beyond plain friction, and the input that some need."""
    smooth = [joint for joint in robot.joints if joint.coulomb and joint.coulomb_width]
    lines = [f"Coulomb friction of {joint.name} is smooth: tanh(qd / {joint.coulomb_width:g})." for joint in smooth]
    if robot.further_drives:
        terms = zip(robot.parameter_names[robot.layout.further], robot.further_drives, strict=True)
        lines += ["Further drive terms:", *(f"  {name}: {term.meaning}" for name, term in terms)]
    if robot.needs_temperature:
        lines.append("Entries of temperature belong to the joints of q [degrees Celsius].")
    return lines
