"""tauform linearize: the linear model of a robot near a state."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tauform.cli.options import Force
from tauform.cli.outputs import check_outputs
from tauform.cli.page import Page
from tauform.cli.states import VALUES, joint_values
from tauform.cli.verb import verb
from tauform.escaping.shown import visible

if TYPE_CHECKING:
    from tauform.description.robot import Robot


@verb
def linearize(
    robot: Robot,
    q: Annotated[str, typer.Option(help=f"Positions: {VALUES}.")] = "",
    qd: Annotated[str, typer.Option(help="Velocities, in the same form.")] = "",
    tau: Annotated[
        str | None, typer.Option(help="Torques, in the same form (default: those that keep the velocity).")
    ] = None,
    dt: Annotated[float | None, typer.Option(help="Time step in s; without, the model is continuous.")] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Write the matrices to this .npz file.")] = None,
    force: Force = False,
) -> Page:
    """Linearise a robot near a state: A and B of the state space, eigenvalues, damping, controllability."""
    import numpy as np
    from rich.text import Text

    import tauform as tf

    # numpy would append .npz by itself, and the file would not be where the user looks.
    if output is not None and output.suffix != ".npz":
        raise typer.BadParameter(f"--output: the file's name must end in .npz, not {output.name!r}")
    check_outputs(force, files=[output])
    at, speed = joint_values(robot, q, "q"), joint_values(robot, qd, "qd")
    still = np.zeros(robot.n_joints)
    # Without torques the point is an equilibrium of the acceleration: tau that gives qdd = 0.
    torque = tf.inverse_dynamics(robot, at, speed, still) if tau is None else joint_values(robot, tau, "tau")
    state = {"q": at, "qd": speed, "tau": torque}
    model = tf.state_space(robot, at, speed, torque, dt)
    forward = tf.linearize_forward(robot, at, speed, torque)
    matrices = {"A": model.A, "B": model.B, "dq": forward.dq, "dqd": forward.dqd, "dtau": forward.dtau}
    if output is not None:
        # NaN stands for continuous time: npz holds arrays, and None would need pickle.
        write_matrices(output, {**state, **matrices, "dt": np.array(np.nan if dt is None else dt)})
    data = {
        "joint_names": robot.joint_names,
        "dt": dt,
        **state,
        **matrices,
        # JSON knows no complex numbers: pairs of real and imaginary part.
        "eigenvalues": [[value.real, value.imag] for value in model.eigenvalues],
        "damping": model.damping,
        "controllable": bool(model.is_controllable),
    }
    heading = Text(f"{visible(robot.name)}: {model!r} with x = (dq, dqd), u = dtau", style="bold")
    return Page(data, (heading, *_tables(robot, state, model, forward), *_written(output)))


def _tables(robot: Robot, state: dict[str, Any], model: Any, forward: Any) -> list[Any]:
    import numpy as np

    from tauform.report.tables import table

    names = robot.joint_names
    parts = [table("State", ("joint", *state), zip(names, *state.values(), strict=True))]
    for title, matrix in (("dqdd/dq", forward.dq), ("dqdd/dqd", forward.dqd), ("dqdd/dtau", forward.dtau)):
        # Columns of the table are columns of the matrix: the derivative by one joint's variable.
        parts.append(table(title, ("", *names), zip(names, *matrix.T, strict=True)))
    # Least stable first, by the real part.
    order = np.argsort(-model.eigenvalues.real)
    # what rounding leaves of zeros is not worth reading
    digits = 12 - int(np.ceil(np.log10(max(np.abs(model.eigenvalues).max(), 1e-12))))
    # + 0.0 turns -0.0 into 0.0.
    poles, damping = np.round(model.eigenvalues[order], digits) + 0.0, np.round(model.damping[order], 12) + 0.0
    unit = "1/s" if model.dt is None else "one step"
    rows = [(f"{pole.real:.4g} {pole.imag:+.4g}i", float(ratio)) for pole, ratio in zip(poles, damping, strict=True)]
    parts.append(table("Modes, least stable first", (f"eigenvalue [{unit}]", "damping"), rows))
    reached = "all modes are" if model.is_controllable else "not every mode is"
    return [*parts, f"Controllable: {reached} reached by the joint torques."]


def write_matrices(path: Path, arrays: dict[str, Any]) -> None:
    """Write the matrices of a linear model as .npz."""
    import numpy as np

    from tauform.errors import ModelError
    from tauform.files.file import fresh_file

    with fresh_file(path, ModelError) as file:
        np.savez(file, **arrays)


def _written(path: Path | None) -> tuple[str, ...]:
    return () if path is None else (f"Wrote {path}",)
