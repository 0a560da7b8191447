"""tauform derive: the closed-form dynamics of a robot, verified, and saved on request."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tauform.cli.options import Force
from tauform.cli.outputs import check_outputs
from tauform.cli.page import Page
from tauform.cli.progress import ProgressDisplay
from tauform.cli.verb import verb
from tauform.cli.verbs.equations.base import not_counted
from tauform.escaping.shown import visible

if TYPE_CHECKING:
    from tauform.closedform.model.model import ClosedFormModel
    from tauform.description.robot import Robot

SHOWN_EQUATIONS = 30  # terms


@verb
def derive(
    robot: Robot,
    tell: ProgressDisplay,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Save the model to this file.")] = None,
    include: Annotated[
        list[str] | None,
        typer.Option(metavar="GROUP", help="Group: link, rotor, viscous, coulomb, offset, or declared; repeatable."),
    ] = None,
    zero: Annotated[
        list[str] | None, typer.Option(metavar="PARAMETER", help="Parameter assumed zero, such as my_2; repeatable.")
    ] = None,
    force: Force = False,
) -> Page:
    """Derive the closed-form dynamics of a chain, check them against Newton-Euler, and show what they are made of."""
    import time

    import tauform
    from tauform.closedform.model.beside import columns_beside
    from tauform.pipeline.comparison import closed_form_error

    # A derivation may take minutes; a file that cannot be written is refused before it starts.
    check_outputs(force, files=[output])
    derivation = tauform.derive  # loads what it needs, before the clock starts
    tell(f"deriving {_expected_size(robot)}".strip())
    start = time.perf_counter()
    model = derivation(
        robot,
        include=include,  # type: ignore[arg-type]  # names are checked by derive
        assume=dict.fromkeys(zero, 0) if zero else None,
        progress=tell.reached,
    )
    seconds = time.perf_counter() - start
    tell("comparing with Newton-Euler")
    # Measured each time, not guaranteed: the figure stands beside the model.
    error = closed_form_error(robot, model)
    if output is not None:
        model.save(output)
    return _page(model, seconds, error, output, not_counted(robot, model.base, columns_beside(robot)))


def _expected_size(robot: Robot) -> str:
    """Expected size of the closed form of a long chain; nothing where it takes no time."""
    from tauform.closedform.expansion.estimate import ALWAYS_FITS, estimate_size

    # Short chains are done before a reader could read the estimate; loops have no such estimate.
    return str(estimate_size(robot)) if robot.closure is None and robot.n_bodies > ALWAYS_FITS else ""


def _page(model: ClosedFormModel, seconds: float, error: float, output: Path | None, note: str) -> Page:
    import numpy as np
    from rich.text import Text

    from tauform.closedform.model.equations import KIND_NAMES, term_kinds
    from tauform.report.tables import table

    # One kind per row of exponents: gravity, acceleration, squared velocity, product of velocities.
    kinds = np.bincount(term_kinds(model.exponents), minlength=len(KIND_NAMES)).tolist()
    # How many standard parameters each base parameter groups: entries of a row of the reduction.
    entries = [f"{np.count_nonzero(row)} of {len(model.base.columns)}" for row in model.base.grouping]
    facts = (
        ("terms p", model.n_terms),
        ("base parameters l", model.n_base),
        ("standard parameters", f"{len(model.base.columns)} ({model.base.composition})"),
        ("entries of the reduction", model.sparse_reduction.nnz),
        ("derived in", f"{1e3 * seconds:.3g} ms"),
        ("largest relative torque error against Newton-Euler", f"{error:.1e}"),
    )
    shown: list[Any] = [
        Text(f"Closed-form dynamics of {visible(model.robot_name)}\n", style="bold"),
        table("Model", ("", ""), facts),
        table("Terms", ("what they multiply", "terms"), zip(KIND_NAMES, kinds, strict=True)),
        table("Base parameters", ("name", "made of"), zip(model.base.names, entries, strict=True)),
    ]
    if note:
        shown.append(Text(note, style="yellow"))
    # Longer equations fill screens; the saved model and generated code hold them.
    if model.n_terms <= SHOWN_EQUATIONS:
        shown.append(Text("\n".join(model.equations())))
    if output is not None:
        shown.append(Text(f"Saved to {output}", style="green"))
    data = {
        "robot": model.robot_name,
        "n_terms": model.n_terms,
        "n_base": model.n_base,
        "terms": dict(zip(KIND_NAMES, kinds, strict=True)),
        "counted": model.base.composition,
        "base": {"names": model.base.names, "grouping": model.base.grouping},
        "parameter_names": model.base.parameter_names,
        "seconds": seconds,
        "torque_error": error,
        "saved": output,
    }
    return Page(data, tuple(shown))
