"""tauform base: the minimal set of parameters, how it is made of the standard ones, and its values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from tauform.cli.page import Page
from tauform.cli.verb import verb
from tauform.escaping.shown import visible

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tauform.closedform.base.baseset import BaseParameters
    from tauform.description.robot import Robot


@verb
def base(
    robot: Robot,
    method: Annotated[str, typer.Option(help="qr, qr_pivoted or svd.")] = "qr",
    source: Annotated[str, typer.Option(help="dynamic, velocity_free, energy or closed_form.")] = "dynamic",
    include: Annotated[
        list[str] | None,
        typer.Option(metavar="GROUP", help="Group: link, rotor, viscous, coulomb, offset, or declared; repeatable."),
    ] = None,
    order: Annotated[
        list[str] | None,
        typer.Option(metavar="PARAMETER", help="Parameter (Izz_2) or kind (Ia) to keep first; repeatable."),
    ] = None,
    symbols: Annotated[str, typer.Option(help="Names in relations: names (ours), gautier or latex.")] = "names",
    spectrum: Annotated[
        bool, typer.Option("--spectrum", help="Show what decided the rank, parameter by parameter.")
    ] = False,
    explain: Annotated[str | None, typer.Option(metavar="PARAMETER", help="Say what would expose it.")] = None,
) -> Page:
    """Base parameters of a robot: relations in symbols of the geometry, values, and how clear the rank is."""
    import tauform
    from tauform.closedform.base.relations.relations import WRITERS

    # Before the base set is found: a wrong word costs no waiting.
    if symbols not in WRITERS:
        raise typer.BadParameter(f"--symbols takes {', '.join(WRITERS)}, not {symbols!r}")
    # One parameter's story stands alone; the table of all would bury it.
    if explain is not None:
        explanation = tauform.explain(robot, explain, include=include or None)  # type: ignore[arg-type]
        return Page(vars(explanation), (str(explanation),))
    found = tauform.base_parameters(
        robot,
        method=method,  # type: ignore[arg-type]
        source=source,  # type: ignore[arg-type]
        include=include or None,  # type: ignore[arg-type]
        order=order or None,
    )
    if spectrum:
        # The figures that the rank was decided on, so that a doubtful rank can be judged.
        decided = found.spectrum()
        return Page({**vars(decided), "rank": decided.rank}, (str(decided),))
    return Page(describe(found, robot, symbols), shown(found, robot, symbols))


def describe(found: BaseParameters, robot: Robot, symbols: str) -> dict[str, Any]:
    """The base parameters as plain values, for `--json`."""
    rows = [
        {
            "name": relation.name,
            "relation": relation.text(symbols),  # type: ignore[arg-type]
            "exact": relation.exact,
            "value": value,
            # As text: a coefficient may be an expression in the geometry, which no JSON number holds.
            "terms": {name: str(coefficient) for name, coefficient in relation.terms.items()},
        }
        for relation, value in zip(found.relations, found.values(robot), strict=True)
    ]
    return {
        "robot": robot.name,
        "source": found.source,
        "standard": len(found.columns),
        "counted": found.composition,
        "no_effect": found.no_effect,
        "regrouped": found.regrouped,
        "alone": found.alone,
        "n": found.n,
        "gap": found.gap,
        "condition": found.condition,
        "findings": found.findings,
        "base": rows,
    }


def shown(found: BaseParameters, robot: Robot, symbols: str) -> tuple[Any, ...]:
    """What a terminal shows."""
    from rich.text import Text

    from tauform.closedform.base.relations.relations import WRITERS
    from tauform.report.tables import table

    write = WRITERS[symbols]
    heading = (
        f"{visible(robot.name)}: {found.n} base parameters\n{len(found.columns)} standard ({found.composition}), "
        f"{len(found.no_effect)} without effect, {len(found.regrouped)} regrouped\n"
    )
    rows = []
    for relation, value in zip(found.relations, found.values(robot), strict=True):
        # A parameter that stands alone repeats its own name on the right; the column stays empty instead.
        name, right = relation.text(symbols).split(" = ", 1)  # type: ignore[arg-type]
        rows.append((name, "" if len(relation.terms) == 1 else right, float(value)))
    note = not_counted(robot, found)
    absent = ", ".join(write(found.layout.parameter(name)) for name in found.no_effect)
    parts = (
        Text(heading, style="bold"),
        table("Base parameters", ("name", "relation", "value"), rows, text_columns=2),
        Text(f"Without effect: {absent}") if absent else None,
        Text(f"Rank decided by a gap of {found.gap:.0e}; condition number {found.condition:.1f} ({found.source})."),
        Text("\n".join(found.findings), style="yellow") if found.findings else None,
        Text(note, style="yellow") if note else None,
    )
    # Sentences without content are None, so no blank lines reach the terminal.
    return tuple(part for part in parts if part is not None)


def not_counted(robot: Robot, found: BaseParameters, never: Iterable[int] = ()) -> str:
    """A sentence on what the description declares but the default leaves out; empty if there is nothing.

    Args:
        never: columns that no choice counts.
    """
    from tauform.closedform.base.baseset import composition

    # Whoever chose groups by name knows what is left out.
    if found.columns != robot.columns():
        return ""
    left_out = composition(set(robot.columns("declared")) - {*found.columns, *never}, robot.layout)
    return f"Declared but not counted: {left_out}; --include declared counts all." if left_out else ""
