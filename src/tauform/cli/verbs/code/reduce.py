"""tauform reduce: the cheapest program within a stated error, and the figures of the trade-off."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tauform.cli.options import (
    NUMBERS,
    Force,
    Name,
    Scheduler,
    Temperature,
    Workers,
    need,
    one_per_joint,
    temperatures,
)
from tauform.cli.outputs import check_outputs
from tauform.cli.page import Page
from tauform.cli.progress import ProgressDisplay
from tauform.cli.reading import LogOptions, lines, read_from
from tauform.cli.verb import verb
from tauform.escaping.shown import visible

if TYPE_CHECKING:
    from tauform.closedform.profile import Profile
    from tauform.description.robot import Robot
    from tauform.identification.recording.recording import Recording
    from tauform.realtime.reduction.reduce import Reduction

# Shares of the states whose errors --verify lists.
VERIFIED_SHARES = (0.5, 0.99, 0.999, 0.999999)


@verb
def reduce(
    robot: Robot,
    tell: ProgressDisplay,
    profile: Annotated[
        str, typer.Option(help="slow, fast (within joint limits), or bounds such as 3.1,0.5,5 of q,qd,qdd.")
    ] = "slow",
    velocity: Annotated[
        str | None, typer.Option(metavar=NUMBERS, help="Bound in place of the profile's: one value, or one per joint.")
    ] = None,
    acceleration: Annotated[
        str | None, typer.Option(metavar=NUMBERS, help="Bound in place of the profile's: one value, or one per joint.")
    ] = None,
    temperature: Temperature = None,
    recording: Annotated[list[Path] | None, typer.Option(help="Recorded motion in place of a profile.")] = None,
    tolerance: Annotated[
        str, typer.Option(metavar=NUMBERS, help="Largest relative error (0.01 is 1 %): one value, or one per joint.")
    ] = "0.01",
    norm: Annotated[
        str, typer.Option(help="vector, or joint: each joint's error relative to its own torque.")
    ] = "vector",
    confidence: Annotated[float, typer.Option(help="Share of the states that must keep it.")] = 0.999,
    function: Annotated[str, typer.Option(help="inverse_dynamics, gravity_torque, mass_matrix, forward_dynamics.")] = (
        "inverse_dynamics"
    ),
    route: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ROUTE", help="Way to reduce: terms, parameters, velocity, operations; repeatable, all by default."
        ),
    ] = None,
    still: Annotated[
        list[str] | None,
        typer.Option(
            metavar="JOINT",
            help="Joint or link whose velocity terms the route velocity leaves out, or all; repeatable.",
        ),
    ] = None,
    definite: Annotated[bool, typer.Option(help="Keep the mass matrix in it positive definite.")] = True,
    samples: Annotated[int, typer.Option(help="Fresh states to verify on.")] = 1_000_000,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="DIR", help="Write the program as C to this folder.")
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot", "--figures", metavar="DIR", help="Write figures and table of Lloyd2021 for this robot instead."
        ),
    ] = None,
    also: Annotated[
        list[str] | None, typer.Option(metavar="ROBOT", help="Further robot to draw figures of; repeatable.")
    ] = None,
    contributions: Annotated[
        bool, typer.Option("--contributions", help="Show the share that each term has over the profile instead.")
    ] = False,
    verify: Annotated[
        int | None,
        typer.Option(metavar="N", help="Verify on so many further states, against the textbook algorithm.", min=1),
    ] = None,
    starts: Annotated[
        int, typer.Option(help="Searches from other states each; the cheapest that holds wins.", min=1)
    ] = 1,
    workers: Workers = 0,
    scheduler: Scheduler = None,
    threads: Annotated[int, typer.Option(help="Threads for the fresh states.")] = 1,
    seed: Annotated[int, typer.Option(help="Seed of the random states.")] = 0,
    name: Name = None,
    force: Force = False,
    reading: LogOptions = LogOptions(),
) -> Page:
    """Leave out what hardly matters for the motions to come, and keep a stated error for a stated share of them."""
    import tauform
    from tauform.codegen.names import c_prefix
    from tauform.realtime.reduction.joints import joint_tolerances
    from tauform.realtime.reduction.reduce import ROUTES, check_guarantee
    from tauform.scheduler import cluster_if_asked

    own: dict[str, Any] = {"profile": profile, "recording": recording, "tolerance": tolerance, "confidence": confidence}
    own |= {"norm": norm, "velocity": velocity, "acceleration": acceleration, "temperature": temperature}
    own |= {"function": function, "route": route, "still": still, "definite": definite, "seed": seed, "output": output}
    own |= {"verify": verify, "starts": starts}
    # Before anything else: with --plot most options would be ignored without a word.
    _check_plot(plot, also, own)
    check_outputs(force, folders=[output, plot])
    # A name that C does not allow is told before the search, not after it.
    c_prefix(name, robot.name)
    need(output, {"--name": name}, "names C functions; give a folder for them with -o")
    divided = verify is not None or starts > 1
    need(divided, {"--workers": workers or None, "--scheduler": scheduler}, "is for --verify N and --starts N")
    if verify is not None and (recording or contributions):
        raise typer.BadParameter("--verify draws fresh states of a profile; leave out --recording and --contributions")
    bounds = [flag for flag, value in (("--velocity", velocity), ("--acceleration", acceleration)) if value]
    # Recorded states carry their velocities; a bound beside them would be ignored.
    if recording and bounds:
        raise typer.BadParameter(f"--recording brings its own velocities; leave out {bounds[0]}")
    # Recordings hold their own temperatures.
    warm = temperatures(robot, temperature, bool(recording))
    limits = one_per_joint(robot, tolerance=tolerance)["tolerance"]
    # One number stays one: a list would ask for a tolerance of each joint.
    limit = limits if "," in tolerance else limits[0]
    # Impossible guarantees are refused before logs are read, which may take minutes.
    check_guarantee(max(limits), confidence, function, tuple(route or ROUTES))
    joint_tolerances(robot, limit, norm, function)  # type: ignore[arg-type]
    if contributions and (output is not None or plot is not None):
        raise typer.BadParameter("--contributions shows a table and writes nothing; leave out -o and --plot")
    if plot is not None:
        robots = [robot, *(tauform.load(name) for name in also or [])]
        return _figures(robots, plot, samples, threads, tell, force)
    recordings = reading.recordings(recording, robot, tell)
    states = _profile(robot, profile, velocity, acceleration, warm, recordings)
    if contributions:
        # Shares need the parameters' values: terms of a bound model, weighted over the profile.
        shares = tauform.derive(robot).bind(robot).contributions(states, seed=seed)
        return Page({**vars(shares), "order": shares.order}, (str(shares),))
    with cluster_if_asked(scheduler, workers) as client:
        found = tauform.reduce(
            robot,
            states,
            limit,
            confidence,
            norm=norm,  # type: ignore[arg-type]
            function=function,
            routes=tuple(route or ROUTES),
            still=still or None,
            definite=definite,
            n_fresh=samples,
            seed=seed,
            threads=threads,
            n_starts=starts,
            client=client,
            progress=tell,
        )
    if output is not None:
        tauform.write_c(found.program, output, force=force, name=name)
    page = _page(found, output)
    if verify is not None:
        # Another seed: the states that the search was verified on are no proof of it.
        # Behind those of all searches, too.
        page = _verified(page, found, verify, seed=seed + starts, workers=workers, scheduler=scheduler, progress=tell)
    return replace(page, data={**page.data, "columns": read_from(recordings)}, shown=(*page.shown, *lines(recordings)))


def _verified(page: Page, found: Reduction, n_states: int, **options: Any) -> Page:
    """The page with errors of the exact and the reduced program against the textbook algorithm."""
    import tauform
    from tauform.report.tables import table

    compared = [("exact", tauform.verify(found.exact, found.robot, found.profile, n_states, **options))]
    # The exact program may be the winner; once is enough then.
    if found.route != "exact":
        # The winner is compared with the textbook too, not with the exact program: their errors would add up unseen.
        compared.append((found.route, tauform.verify(found, n_states=n_states, **options)))
    columns = (
        "program",
        *(f"{100 * share:.10g} % within" for share in VERIFIED_SHARES),
        "largest",
        "tolerance",
        "above",
    )
    rows = [
        (
            name,
            *(f"{d.quantile(share):.3g}" for share in VERIFIED_SHARES),
            f"{d.largest:.3g}",
            f"{d.tolerance:.3g}",
            d.n_above,
        )
        for name, d in compared
    ]
    title = f"Errors against the {compared[0][1].reference}, on {n_states} states"
    data = {
        name: {
            "states": d.n_states,
            "tolerance": d.tolerance,
            "above": d.n_above,
            "largest": d.largest,
            "worst": [vector.tolist() for vector in d.worst],
            "quantiles": {f"{share:.10g}": d.quantile(share) for share in VERIFIED_SHARES},
        }
        for name, d in compared
    }
    return replace(page, data={**page.data, "verified": data}, shown=(*page.shown, table(title, columns, rows)))


def _check_plot(plot: Path | None, also: list[str] | None, own: dict[str, Any]) -> None:
    """Refuse what would be left unused: figures have profiles and tolerances of their own."""
    if plot is None:
        if also:
            raise typer.BadParameter("--also names further robots to draw; give a folder for the figures with --plot")
        return
    # Asked of the signature: a default changed there is known here.
    defaults = inspect.signature(reduce).parameters
    given = [f"--{name}" for name, value in own.items() if value not in (defaults[name].default, [])]
    if given:
        raise typer.BadParameter(
            f"--plot draws the profiles and tolerances of Lloyd2021 and writes no C; leave out {', '.join(given)}"
        )


def _profile(
    robot: Robot,
    text: str,
    velocity: str | None,
    acceleration: str | None,
    warm: tuple[float, float] | None,
    recordings: list[Recording],
) -> Profile:
    import tauform

    given = one_per_joint(robot, velocity=velocity, acceleration=acceleration)
    if recordings:
        return tauform.recorded_profile(recordings)
    # Named profiles keep within the limits of the joints; bare bounds know no limits.
    if text in ("slow", "fast"):
        return tauform.Profile.within(robot, text, **given, temperature=warm)
    try:
        q, qd, qdd = (float(number) for number in text.split(","))
    except ValueError:
        raise typer.BadParameter(
            f"--profile is slow, fast, or bounds of position, velocity and acceleration such as 3.1,0.5,5, not {text!r}"
        ) from None
    # A bound by option stands over the profile's own, joint by joint.
    rates = given.get("velocity", qd), given.get("acceleration", qdd)
    return tauform.Profile.ranges(robot.n_joints, q, *rates, name=text, temperature=warm)


def _page(found: Reduction, output: Path | None) -> Page:
    from rich.text import Text

    from tauform.report.tables import table

    headings = ("route", "what was left out", "mult", "add", "error", "share within tolerance", "mass matrix")
    # None: the route has no mass matrix to judge.
    inertia = {True: "definite", False: "not definite", None: ""}
    rows = [
        (
            # * the one chosen, x one that misses the tolerance on fresh states.
            ("* " if c.name == found.route else "  " if c.verification.holds else "x ") + c.name,
            c.remark,
            c.program.n_multiplications,
            c.program.n_additions,
            f"{c.verification.error:.3%}",
            f"{c.verification.share:.4%}",
            inertia[c.verification.definite],
        )
        for c in found.candidates
    ]
    shown: list[Any] = [
        Text(f"{found!r}\n", style="bold"),
        table(f"Routes, verified on {_kind(found)} states", headings, rows, text_columns=2),
        Text(f"{found.reason}\n"),
        # Names of joints are the file's: control characters must not reach the terminal.
        *([Text(f"{visible(found.by_joint)}\n")] if found.by_joint else []),
    ]
    if output is not None:
        shown.append(Text(f"C written to {output}", style="green"))
    data = {
        "robot": found.robot.name,
        "profile": found.profile.name,
        "tolerance": found.tolerance,
        "confidence": found.confidence,
        "route": found.route,
        "reason": found.reason,
        "multiplications": found.program.n_multiplications,
        "additions": found.program.n_additions,
        "error": found.error,
        "joint_errors": found.joint_errors,
        "joint_tolerances": found.joint_tolerances,
        "exact_operations": found.exact.n_operations,
        "routes": [
            {
                "name": c.name,
                "operations": c.program.n_operations,
                "error": c.verification.error,
                "share": c.verification.share,
                "holds": c.verification.holds,
                "definite": c.verification.definite,
                "states": c.verification.n_states,
                "remark": c.remark,
            }
            for c in found.candidates
        ],
        "written": output,
    }
    return Page(data, tuple(shown))


def _kind(found: Reduction) -> str:
    # Recorded profiles have no fresh states, only samples that were held out.
    return "fresh" if found.profile.recorded is None else "held-out"


def _figures(
    robots: list[Robot], folder: Path, samples: int, threads: int, tell: Callable[[str], None], force: bool
) -> Page:
    from rich.text import Text

    import tauform
    from tauform.report.figures.reduction import check_figures, write_figures

    # All robots first: half a set of figures helps no one.
    check_figures(robots)
    files = []
    for robot in robots:
        bound = tauform.derive(robot).bind(robot)
        files += write_figures(bound, folder, samples, threads, tell, force)
    return Page({"files": files}, tuple(Text(f"wrote {file}", style="green") for file in files))
