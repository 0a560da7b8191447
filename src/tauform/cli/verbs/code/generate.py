"""tauform generate: C99 of a robot's functions, with the fewest operations that were found and a self-test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tauform.cli.function_names import chosen_functions
from tauform.cli.options import Force, FunctionsOption, Name
from tauform.cli.outputs import check_outputs
from tauform.cli.page import Page
from tauform.cli.progress import ProgressDisplay
from tauform.cli.verb import verb
from tauform.codegen.backends.registry import TARGETS
from tauform.errors import ArgumentError
from tauform.messages import no_such

if TYPE_CHECKING:
    from tauform.arrays import Array
    from tauform.codegen.backends.backend import Backend
    from tauform.codegen.looped.program import AnyProgram
    from tauform.codegen.request import GenerationOptions
    from tauform.codegen.rounding.bound import RoundingBound
    from tauform.description.robot import Robot

DEFAULT = ("inverse_dynamics", "gravity_torque", "mass_matrix", "forward_dynamics")


@verb
def generate(
    robot: Robot,
    tell: ProgressDisplay,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="DIR", help="Folder for the C files.")],
    functions: FunctionsOption = None,
    online: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME,...", help="On-line functions: payload_estimator, friction_estimator, and others."),
    ] = None,
    fit: Annotated[
        Path | None,
        typer.Option(metavar="FIT", help="Saved fit whose torque deviation is the threshold of on-line functions."),
    ] = None,
    target: Annotated[str, typer.Option(help=f"{', '.join(TARGETS[:-1])} or {TARGETS[-1]}.")] = "c",
    real: Annotated[str, typer.Option(help="double or float.")] = "double",
    parameters: Annotated[
        str, typer.Option(help="baked: numbers folded in; runtime: base parameters theta.")
    ] = "baked",
    payload: Annotated[
        str,
        typer.Option(help="baked, or runtime: ten parameters of the body at the payload's frame, else the tool."),
    ] = "baked",
    wrenches: Annotated[
        list[str] | None,
        typer.Option("--wrench", metavar="FRAME", help="Frame whose external wrench is an input; several times."),
    ] = None,
    algorithm: Annotated[str, typer.Option(help="auto counts, fastest times; or the name of one.")] = "auto",
    batch: Annotated[bool, typer.Option("--batch", help="Also functions for many states, for vector units.")] = False,
    name: Name = None,
    single_header: Annotated[
        bool, typer.Option("--single-header", help="C in one file, declarations and definitions.")
    ] = False,
    knots: Annotated[int, typer.Option(help="CasADi: also functions over so many knots of a motion.")] = 0,
    rounding: Annotated[
        str | None,
        typer.Option(
            metavar="NAME=NUMBER,...", help="Guarantee rounding errors for inputs up to these, such as qd=2,qdd=10."
        ),
    ] = None,
    no_friction: Annotated[
        bool, typer.Option("--no-friction", help="Leave out friction and offsets; rotors and springs stay.")
    ] = False,
    force: Force = False,
) -> Page:
    """Write C99 without dependencies: each function checked against textbook algorithms, with its own self-test.

    Without --functions: inverse_dynamics, gravity_torque, mass_matrix and forward_dynamics, or what the target calls.
    """
    import tauform as tf
    from tauform.arguments import check_arguments
    from tauform.codegen.backends.backend import PrintOptions
    from tauform.codegen.backends.registry import backend
    from tauform.codegen.request import GenerationOptions, check_request
    from tauform.codegen.write import write_programs
    from tauform.realtime.online.programs import WITH_DEVIATION, check_online

    robot = robot.without_friction() if no_friction else robot
    learning = list(dict.fromkeys(name.strip() for word in online or () for name in word.split(",") if name.strip()))
    chosen = backend(target)
    # Programs that learn online are asked for alone too: the default is for those who name nothing.
    names = chosen_functions(robot, functions or _usual(robot, chosen)) if functions or not learning else []
    # what would fail at the end fails at once
    check_outputs(force, folders=[output])
    options = PrintOptions(real, batch, single_header, knots=knots)
    chosen.check_options(options)
    # The prefix decides file names; one that the language does not allow is refused here.
    prefix = chosen.prefix(name, robot.name)
    check_arguments(tf.generate, algorithm=algorithm, parameters=parameters, payload=payload)
    ranges = _ranges(rounding or "")
    # Frames by function: one that feels no wrenches is generated without them.
    frames = wrench_frames(names, wrenches or ())
    asked = GenerationOptions(algorithm, parameters, payload)  # type: ignore[arg-type]
    requests = {function: replace(asked, wrenches=frames[function]) for function in names}
    for function, request in requests.items():
        check_request(robot, function, request)
    for function in learning:
        check_online(robot, function)
    deviation = _deviation(fit, robot, learning)
    programs: list[AnyProgram] = []
    for function, request in requests.items():
        tell(f"generating {function}")
        programs.append(_generated(robot, function, request, chosen, tell))
    for function in learning:
        tell(f"generating {function}")
        threshold = deviation if function in WITH_DEVIATION else None
        programs.append(tf.online_program(robot, function, tau_deviation=threshold))  # type: ignore[arg-type]
    _check_ranges(ranges, programs)
    bounds = [_bounded(robot, program, ranges, real, tell) for program in programs] if rounding is not None else []
    tell(f"writing {chosen.title}")
    files = write_programs(programs, output, target, name, replace(options, bounds=tuple(bounds)), force)
    data = {"robot": robot.name, "folder": output, "files": files, "functions": list(map(describe, programs))}
    data["rounding"] = {bound.program: dict(bound.errors) for bound in bounds}
    # The very commands of the target, so that the hint can be pasted.
    check = " && ".join(" ".join(command) for command in chosen.check_commands(prefix))
    return Page(
        data, (*[bound.sentence for bound in bounds], *shown(programs, output, files, f"cd {output} && {check}"))
    )


def _usual(robot: Robot, chosen: Backend) -> Sequence[str]:
    """Functions where none are named: those that the target's interface calls, or the usual ones."""
    from tauform.codegen.minimal.problem import has_friction

    return [name for name in chosen.functions or DEFAULT if name != "friction" or has_friction(robot)]


def _generated(
    robot: Robot, function: str, request: GenerationOptions, chosen: Backend, tell: ProgressDisplay
) -> AnyProgram:
    """The program; as loops over bodies where a straight line would be too long and nothing speaks against it."""
    import tauform as tf
    from tauform.codegen.looping import can_loop
    from tauform.codegen.request import GenerationOptions, check_function
    from tauform.errors import ProgramTooLongError

    try:
        return tf.generate(robot, function, **vars(request))
    except ProgramTooLongError:
        # Loops have no options: what was asked for beyond the usual would be lost in silence.
        if request != GenerationOptions() or not chosen.has_loops or not can_loop(robot, check_function(function)):
            raise
    tell(f"{function} as loops over {robot.n_bodies} bodies")
    return tf.generate_loops(robot, function)


def _ranges(text: str) -> dict[str, float]:
    """Largest magnitudes by input."""
    pairs = [word.partition("=") for word in text.split(",") if word.strip()]
    try:
        return {name.strip(): float(number) for name, _, number in pairs}
    except ValueError:
        raise typer.BadParameter(f"--rounding takes magnitudes such as q=3.14,qd=2,qdd=10, not {text!r}") from None


def _check_ranges(ranges: Mapping[str, float], programs: Sequence[AnyProgram]) -> None:
    """Refuse a magnitude of an input that no function has: it would limit nothing."""
    inputs = list(dict.fromkeys(port.name for program in programs for port in program.inputs))
    for name in ranges:
        if name not in inputs:
            raise no_such("--rounding: input", name, inputs)


def _bounded(
    robot: Robot, program: AnyProgram, ranges: dict[str, float], real: str, tell: ProgressDisplay
) -> RoundingBound:
    """The bound of a program; ranges of inputs that it does not have are left out."""
    import tauform as tf

    tell(f"bounding rounding errors of {program.name}")
    own = {port.name: ranges[port.name] for port in program.inputs if port.name in ranges}
    return tf.rounding_bound(program, own, robot=robot, real=real)  # type: ignore[arg-type]


def wrench_frames(names: Sequence[str], wrenches: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Frames of each function: those asked for where it feels wrenches, which at least one must."""
    from tauform.codegen.functions import FUNCTIONS

    able = [name for name, function in FUNCTIONS.items() if function.feels_wrenches]
    # A wrench that no function takes would vanish silently.
    if wrenches and not set(able) & set(names):
        raise typer.BadParameter(f"--wrench: none of {', '.join(names)} takes one; those that do are {', '.join(able)}")
    return {name: tuple(wrenches) if name in able else () for name in names}


def describe(program: AnyProgram) -> dict[str, Any]:
    """A program's cost, candidates and certificate as plain values."""
    certificate = program.certificate
    return {
        "name": program.name,
        "algorithm": program.algorithm,
        "multiplications": program.n_multiplications,
        "additions": program.n_additions,
        "sine_cosine_pairs": program.n_angles,
        "setup_operations": program.setup.n_operations if program.setup else 0,
        "candidates": [vars(candidate) for candidate in program.candidates],
        "certificate": vars(certificate) if certificate else None,
    }


def shown(programs: Sequence[AnyProgram], folder: Path, files: Sequence[Path], check: str) -> tuple[Any, ...]:
    """Tables of operations and candidates, and what to do next."""
    from tauform.report.tables import table

    rows = [
        (
            p.name,
            p.algorithm,
            p.n_multiplications,
            p.n_additions,
            p.n_angles,
            f"{p.certificate.error:.0e} < {p.certificate.tolerance:.0e}" if p.certificate else "-",
        )
        for p in programs
    ]
    headings = ("function", "algorithm", "mult", "add", "sin/cos", "error")
    # The first program with a certificate speaks for all.
    states = next((p.certificate.states for p in programs if p.certificate), 0)
    costs = table(f"{programs[0].robot}: operations per call", headings, rows, text_columns=2)
    checked = f"Errors: largest of {states} random states against the textbook algorithm, relative to each joint."
    return (costs, *([checked] if states else []), *_others(programs), *_next_steps(folder, files, check))


def _deviation(file: Path | None, robot: Robot, learning: Sequence[str]) -> Array | None:
    """What torques of a fit are off by on data that was not fitted, for the functions that learn."""
    import tauform as tf
    from tauform.realtime.online.programs import WITH_DEVIATION

    if file is None:
        return None
    if not set(learning) & set(WITH_DEVIATION):
        raise ArgumentError(
            f"--fit: nothing asked for has a threshold; add --online {WITH_DEVIATION[-1]}, or leave it out"
        )
    fit = tf.load_fit(file)
    if fit.robot.joint_names != robot.joint_names:
        raise ArgumentError(f"--fit: {file} is of {fit.robot.name}, whose joints are others than those of {robot.name}")
    return fit.unseen.rms


def _others(programs: Sequence[AnyProgram]) -> list[Any]:
    """Candidates that were tried."""
    from tauform.report.tables import table

    rows = []
    for p in programs:
        # Cheapest first, by multiplications and additions alike.
        for c in sorted(p.candidates, key=lambda c: c.n_multiplications + c.n_additions):
            verdict = "; ".join(filter(None, ("chosen" if c.chosen else "", c.remark)))
            rows.append((p.name, c.algorithm, c.n_multiplications + c.n_additions, verdict))
    return ["", table("Candidates", ("function", "algorithm", "operations", ""), rows, text_columns=2)] if rows else []


def _next_steps(folder: Path, files: Sequence[Path], check: str) -> list[Any]:
    from rich.text import Text

    # Resolved on both sides: a folder may be given through a link.
    names = ", ".join(path.resolve().relative_to(folder.resolve()).as_posix() for path in files)
    return [Text(f"Wrote {folder}: {names}"), Text(f"Next: {check}", style="bold")]
