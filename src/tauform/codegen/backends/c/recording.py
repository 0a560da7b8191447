"""The self-test on recorded motion: a table of states and measured torques, and C that runs the functions on it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from textwrap import fill
from zlib import crc32

from tauform.arrays import Array
from tauform.codegen.backends.c.config import RealType
from tauform.codegen.backends.c.source import function_name
from tauform.codegen.backends.c.templates import template
from tauform.codegen.backends.replay import DIGITS, Kernels, Replay, Track
from tauform.codegen.looped.program import AnyProgram
from tauform.escaping.c import identifier, string
from tauform.version import __version__

FILE = "recording.csv"


def recording_files(replay: Replay, programs: Sequence[AnyProgram], name: str, real: RealType) -> dict[str, str]:
    """The table and the test of it, by file name."""
    table = table_text(replay)
    replayed = {figure.function: figure for figure in replay.figures}
    # Functions that are no torque function have no figure and are not replayed.
    chosen = [program for program in programs if program.name in replayed]
    text = template("recording.c").substitute(
        name=name,
        file=FILE,
        version=__version__,
        real=real.name,
        states=replay.n_states,
        inputs=replay.tracks[0].inputs.shape[1],
        joints=replay.tracks[0].measured.shape[1],
        # Checked before the run: a table that was edited would fail as if the code were wrong.
        digest=f"{crc32(table.encode()):#010x}",
        kernels="\n".join(_arrays(replay.kernels)),
        filters="\n".join(f"    {_filters(k, kernels)}," for k, kernels in enumerate(replay.kernels)),
        # A track is a number of rows and its filters; the tracks stand one after another in the table.
        tracks="\n".join(f"    {{{len(track.t)}, &all_filters[{track.kernels}]}}," for track in replay.tracks),
        functions="\n".join(_function(program, name, real) for program in chosen),
        calls="\n".join(
            # repr gives all digits: the test compares figures, not their print.
            f"    failed |= compare({string(program.name)}, run_{identifier(program.name)}, states, "
            f"{figure.error!r}, {figure.allowed!r});"
            for program in chosen
            for figure in [replayed[program.name]]
        ),
        words=string(f"{replay.motion}; {replay.verdict}"),
    )
    return {FILE: table, f"test_{name}_recording.c": text}


def table_text(replay: Replay) -> str:
    """CSV: time, whether errors count and who rests there, inputs, measured torques; tracks one after another."""
    n = replay.tracks[0].measured.shape[1]
    # Ports of a replayed function are of one size.
    size = replay.tracks[0].inputs.shape[1] // len(replay.ports)
    names = [f"{port}{k + 1}" for port in replay.ports for k in range(size)]
    heading = ",".join(["t", "judged", *names, *(f"tau{k + 1}" for k in range(n))])
    return "\n".join([heading, *(line for track in replay.tracks for line in _lines(track))]) + "\n"


def readme_text(replay: Replay, programs: Sequence[AnyProgram], name: str, real: RealType) -> str:
    """The README's section about it."""
    figures = {figure.function: figure for figure in replay.figures}
    rows = [
        f"| `{function_name(program, name)}` | {100 * figures[program.name].error:.4f} % | "
        f"{100 * figures[program.name].allowed:.4f} % |"
        for program in programs
        if program.name in figures
    ]
    intro = (
        f"`{FILE}` holds the motion that the model was judged on: {replay.motion}. `make check` runs the functions on "
        f"its states in {real.name} precision, filters computed and measured torques alike, and compares the error "
        "(RMS over RMS torque, all joints together) with the one that was found before the code was written."
    )
    table = ["| function | torque error | its own may differ by |", "|---|---|---|", *rows]
    verdict = f"{replay.verdict[0].upper()}{replay.verdict[1:]}."
    return "\n".join(
        ["## Torque error on recorded motion", "", fill(intro, 120), "", *table, "", fill(verdict, 120), ""]
    )


def _lines(track: Track) -> Iterator[str]:
    for t, code, inputs, measured in zip(track.t, track.codes, track.inputs, track.measured, strict=True):
        yield ",".join(
            # As many digits as `replay.rounded` leaves: figures were found on these very numbers.
            [f"{t:.{DIGITS}g}", str(int(code)), *(f"{x:.{DIGITS}g}" for x in (*inputs.tolist(), *measured.tolist()))]
        )


def _arrays(kernels: Sequence[Kernels]) -> Iterator[str]:
    for k, own in enumerate(kernels):
        for name, values in (("between", own.between), ("decimate", own.decimate), ("lowpass", own.lowpass)):
            yield _array(f"{name}_{k}", values)


def _array(name: str, values: Array) -> str:
    numbers = fill(", ".join(map(repr, values.ravel().tolist())), 116, initial_indent="    ", subsequent_indent="    ")
    return f"static const double {name}[] = {{\n{numbers}\n}};"


def _filters(k: int, own: Kernels) -> str:
    places, taps = own.between.shape
    return f"{{{places}, {taps}, {len(own.decimate)}, {len(own.lowpass)}, between_{k}, decimate_{k}, lowpass_{k}}}"


def _function(program: AnyProgram, name: str, real: RealType) -> str:
    """The program with its inputs side by side."""
    # The state is one row of the table, ports side by side in the order of the arguments.
    starts = [sum(port.size for port in program.inputs[:k]) for k in range(len(program.inputs))]
    inputs = ", ".join(f"state + {start}" for start in starts)
    head = f"static void run_{identifier(program.name)}(const {real.name} *state, {real.name} *tau)"
    return f"{head}\n{{\n    {function_name(program, name)}({inputs}, tau);\n}}\n"
