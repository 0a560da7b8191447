"""Both tasks as C: the functions of `tauform.write_c`, the exchange of results between threads, and a demonstration."""

from __future__ import annotations

import os
from importlib import resources
from pathlib import Path
from string import Template

from tauform.closedform.profile import VECTORS
from tauform.codegen.backends.backend import PrintOptions, Request
from tauform.codegen.backends.registry import backend
from tauform.codegen.program.program import Program
from tauform.codegen.write import with_setups
from tauform.errors import GenerationError
from tauform.files.file import write_text
from tauform.files.folder import write_folder, write_texts
from tauform.realtime.multirate.tasks import Tasks
from tauform.version import __version__

TEMPLATES = {
    "multirate.h": "{prefix}_multirate.h",
    "multirate.c": "{prefix}_multirate.c",
    "demo.c": "demo_{prefix}_multirate.c",
}


def write_multirate_c(
    split: Tasks,
    folder: str | os.PathLike[str],
    *,
    real: str = "double",
    force: bool = False,
    name: str | None = None,
) -> list[Path]:
    """Write both tasks and the exchange between them as C; see `MultiRate.write_c`."""
    c = backend("c")
    options = PrintOptions(real)
    # Before the folder is looked at: a wrong type is the caller's slip.
    c.check_options(options)
    prefix = c.prefix(name, split.robot.name)
    # Facts of the templates: one substitution, which fails on an unknown name.
    facts: dict[str, object] = {"prefix": prefix, "guard": f"TAUFORM_{prefix}", "real": real, "version": __version__}
    facts |= {**_arguments(split, real), **_given(split, prefix, real)}
    # The same text as of any other program, with its self-test; what is special stands in files of its own.
    files = c.files(Request(tuple(with_setups(split.programs)), prefix, options))

    def fill(place: Path) -> list[str]:
        write_texts(place, files)
        for template, file in TEMPLATES.items():
            text = resources.files(__package__).joinpath("templates", template).read_text(encoding="utf-8")
            filled = Template(text).substitute(facts)
            write_text(place / file.format(prefix=prefix), filled, GenerationError)
        # What `make` leaves in the folder is ours too, and may be replaced.
        return [*c.build_products(prefix), "demo"]

    return write_folder(folder, fill, force)


def _arguments(split: Tasks, real: str) -> dict[str, object]:
    """Lists of arguments as the templates need them: what each task reads of a motion, and what it exchanges."""
    n = split.robot.n_joints
    # The background may not need accelerations, which then nobody has to pass.
    below, above = _read(split.background), _read(split.synchronous)
    # In the order in which the background returns them.
    results = ("M", "stored", *["beside"] * split.has_beside)

    def declared(names: tuple[str, ...]) -> str:
        return ", ".join(f"const {real} {name}[{n}]" for name in names)

    def slots(owner: str, *names: str) -> str:
        return ", ".join(f"{owner}{name}" for name in names)

    # every name of the demonstration is a local array, whether or not a task reads it
    temperature = f", {real} temperature[N]" if split.robot.needs_temperature else ""
    return {
        "n": n,
        "nn": n * n,
        "state": declared(below),
        "state_names": ", ".join(below),
        "motion": declared(above),
        "names": ", ".join(above),
        "beside": f"\n    {real} beside[{n}];" if split.has_beside else "",
        "slot_k": slots("m->slot[k].", *results),
        "own": slots("own->", *results),
        "own_rest": slots("own->", *results[1:]),
        "newest": slots("m->slot[m->synchronous].", *results),
        "local": ", ".join(results),
        "local_beside": ", beside[N]" if split.has_beside else "",
        "motion_temperature": temperature,
        "local_temperature": ", temperature[N]" if temperature else "",
        "pass_temperature": ", temperature" if temperature else "",
        "warm": f"\n        temperature[i] = ({real})(30.0 + 10.0 * sin(0.05 * t + i));" if temperature else "",
    }


def _given(split: Tasks, prefix: str, real: str) -> dict[str, object]:
    """What the templates need where parameters come at run time: blocks that are made of them, one for each program."""
    ports, parts = split.setup_ports, (split.background, split.coefficients, split.velocity)
    # The templates name these places always; with baked parameters they are empty.
    if not ports:
        empty = ("blocks", "given", "given_names", "setups", "set_prototype", "set_function", "given_values", "include")
        return dict.fromkeys((*empty, *(f"{program.name}_block" for program in parts), "demo_block"), "")
    # The block of parameters is the last input of each program.
    sizes = {program.name: program.inputs[-1].size for program in parts}
    declared = ", ".join(f"const {prefix}_{port} *{port}" for port in ports)
    names = ", ".join(ports)
    setups = "".join(f"    {prefix}_{part}_setup({names}, m->{part}_block);\n" for part in sizes)
    head = f"void {prefix}_multirate_set({prefix}_multirate *m, {declared})"
    values = "".join(
        f"static const {prefix}_{port} {port} = {{{', '.join(f'({real}){x!r}' for x in numbers.tolist())}}};\n"
        for port, numbers in zip(ports, split.given, strict=True)
    )
    return {
        "blocks": "".join(f"\n    {real} {part}_block[{size}];" for part, size in sizes.items()),
        "given": f"{declared}, ",
        "given_names": f"{', '.join(f'&{port}' for port in ports)}, ",
        "setups": f"    {prefix}_multirate_set(m, {names});\n",
        "set_prototype": f"/* Background task, before it renews: other parameters from now on. */\n{head};\n\n",
        "set_function": f"{head}\n{{\n{setups}}}\n\n",
        "given_values": values,
        **{f"{part}_block": f"m->{part}_block, " for part in sizes},
        "demo_block": "tasks.background_block, ",
        "include": f'\n#include "{prefix}.h"\n',
    }


def _read(program: Program) -> tuple[str, ...]:
    """What a task reads of a motion, in the order of its inputs."""
    return tuple(port.name for port in program.inputs if port.name in VECTORS)
