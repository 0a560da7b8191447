"""tauform show: what a robot is made of, and what is wrong with it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tauform.cli.options import Force
from tauform.cli.outputs import check_outputs
from tauform.cli.page import Page
from tauform.cli.states import VALUES, joint_values
from tauform.cli.verb import verb

# Torques of that share of the largest are rounding.
ROUNDING = 1e-12

if TYPE_CHECKING:
    from tauform.description.robot import Robot


@verb
def show(
    robot: Robot,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="Save the robot too: .toml .urdf")
    ] = None,
    q: Annotated[str | None, typer.Option(help=f"Show dynamics at these positions: {VALUES}.")] = None,
    qd: Annotated[str | None, typer.Option(help="Velocities there, in the same form.")] = None,
    qdd: Annotated[str | None, typer.Option(help="Accelerations there, in the same form.")] = None,
    force: Force = False,
) -> Page:
    """Show a robot: joints, limits, inertias, friction, frames, what its check finds; with --q its dynamics there."""
    from rich.text import Text

    from tauform.report import tables

    check_outputs(force, files=[output])
    # Saved before it is shown: a format that loses something says so below.
    saved = None if output is None else robot.save(output)
    findings = robot.check()
    asked = {name: text for name, text in {"q": q, "qd": qd, "qdd": qdd}.items() if text is not None}
    state = dynamics_at(robot, asked) if asked else {}
    at = _state_tables(robot, state) if state else ()
    heading = Text(f"{robot!r}, gravity {tables.cell(robot.gravity)} m/s^2\n", style="bold")
    parts = (
        heading,
        tables.joint_table(robot),
        tables.limit_table(robot),
        tables.mass_table(robot),
        tables.inertia_table(robot),
        tables.loss_table(robot),
        tables.loop_table(robot),
        tables.frame_table(robot),
        tables.finding_list(findings),
        *at,
        *(() if saved is None else (Text(f"wrote {saved.path}"), *(Text(f"  {text}") for text in saved.findings))),
    )
    data = {**describe(robot), "findings": [vars(finding) for finding in findings]}
    data |= {"state": state} if state else {}
    data |= {} if saved is None else {"written": saved.path, "save_findings": saved.findings}
    return Page(data, tuple(part for part in parts if part is not None))


def dynamics_at(robot: Robot, asked: dict[str, str]) -> dict[str, Any]:
    """Torques, mass matrix and manipulability at a state; what is not given is zero."""
    import numpy as np

    import tauform as tf
    from tauform.pipeline.motion import reference_temperature

    more: Any = reference_temperature(robot)
    state: dict[str, Any] = {name: joint_values(robot, asked.get(name, ""), name) for name in ("q", "qd", "qdd")}
    at = state["q"]
    return {
        **state,
        "tau": tf.inverse_dynamics(robot, **state, **more),
        "gravity_torque": tf.gravity_torque(robot, at),
        "mass_matrix": tf.mass_matrix(robot, at),
        # Yoshikawa's measure of the tool, sqrt(det(J J')).
        "manipulability": float(np.prod(np.linalg.svd(tf.jacobian(robot, at), compute_uv=False))),
    }


def _state_tables(robot: Robot, state: dict[str, Any]) -> tuple[Any, ...]:
    import numpy as np

    from tauform.report import tables

    names, columns = robot.joint_names, ("q", "qd", "qdd", "tau", "gravity_torque")
    # Rounding of zeros is not worth reading.
    dust = ROUNDING * max(float(np.abs(state[name]).max()) for name in ("tau", "gravity_torque"))
    shown = (np.where(np.abs(state[name]) <= dust, 0.0, state[name]) for name in columns[3:])
    rows = zip(names, *(state[name] for name in columns[:3]), *shown, strict=True)
    return (
        tables.table("At the state (rad or m, N m or N)", ("joint", *columns[:4], "gravity"), rows),
        tables.table("Mass matrix", ("", *names), zip(names, *state["mass_matrix"], strict=True)),
        f"Manipulability {state['manipulability']:.4g}\n",
    )


def describe(robot: Robot) -> dict[str, Any]:
    """The robot as nested plain values, for `--json`."""
    from tauform.report.tables import base_from_joints

    joints = [
        {
            "name": joint.name,
            "kind": joint.kind,
            # Parent -1 is the base, which is no link.
            "parent": robot.links[joint.parent].name if joint.parent >= 0 else None,
            "parent_from_joint": joint.parent_from_joint,
            # The axis of joint i is z of its frame, the third column of base_from_joint.
            "axis_at_zero": placement[:3, 2],
            "origin_at_zero": placement[:3, 3],
            "limits": vars(joint.limits),
            "rotor_inertia": joint.rotor_inertia,
            "viscous": joint.viscous,
            "coulomb": joint.coulomb,
            "offset": joint.offset,
        }
        for joint, placement in zip(robot.joints, base_from_joints(robot), strict=True)
    ]
    links = [
        {
            "name": link.name,
            "mass": inertia.mass,
            "com": inertia.com,
            # About the centre of mass, in link axes, as URDF and textbooks give it.
            "inertia_about_com": inertia.tensor_about_com,
        }
        for link, inertia in zip(robot.links, robot.inertias, strict=True)
    ]
    frames = [
        {
            "name": frame.name,
            "link": robot.links[frame.link].name if frame.link >= 0 else None,
            "link_from_frame": frame.link_from_frame,
        }
        for frame in robot.frames
    ]
    return {
        "name": robot.name,
        "n_joints": robot.n_joints,
        "joint_names": robot.joint_names,
        "is_chain": robot.is_chain,
        "gravity": robot.gravity,
        "tip": robot.tip,
        "joints": joints,
        "links": links,
        "frames": frames,
        "loops": _loops(robot.closure),
        "payload": robot.payload.frame if robot.payload else None,
    }


def _loops(closure: Any) -> dict[str, Any] | None:
    # Closures without relations show their fields.
    if closure is None or not hasattr(closure, "relations"):
        return None if closure is None else vars(closure)
    follows = {name: relation.text() for relation in closure.relations for name in relation.joints}
    return {"active": closure.active, "relations": follows}
