"""The files of an output folder: header, source, self-test, README, and what the usual build systems read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from textwrap import wrap
from typing import Any

from tauform.codegen.backends.backend import Request, avoiding, release, with_names
from tauform.codegen.backends.c.batch import batch_prototype, batch_text, block_definition
from tauform.codegen.backends.c.config import RealType, real_type
from tauform.codegen.backends.c.dispatch import dispatch_definitions
from tauform.codegen.backends.c.loops import looped_text
from tauform.codegen.backends.c.printer import member_names
from tauform.codegen.backends.c.recording import readme_text, recording_files
from tauform.codegen.backends.c.selftest import batch_functions, test_text
from tauform.codegen.backends.c.single_header import implementation
from tauform.codegen.backends.c.single_header import single_header as single_header_text
from tauform.codegen.backends.c.source import (
    exponential_text,
    function_name,
    function_text,
    prototype,
    sign_text,
    sincos_text,
    struct_name,
    vector_definitions,
    vector_form,
)
from tauform.codegen.backends.c.templates import template
from tauform.codegen.backends.reference import Reference
from tauform.codegen.backends.templating import CMakeProject
from tauform.codegen.looped.program import AnyProgram, LoopedProgram
from tauform.codegen.program.program import Op
from tauform.codegen.rounding.bound import RoundingBound
from tauform.errors import GenerationError
from tauform.escaping.c import comment, identifier
from tauform.escaping.markup import markdown
from tauform.version import __version__

# Files of build systems by their places in the folder, and the template of each.
BUILD_FILES = {
    "Makefile": "Makefile",
    "library.json": "library.json",
    "zephyr/module.yml": "zephyr_module.yml",
    "zephyr/CMakeLists.txt": "zephyr_CMakeLists.txt",
}


def project_files(request: Request) -> dict[str, str]:
    """Contents of each file by its name."""
    name, real, replay, remarks = request.prefix, real_type(request.options.real), request.replay, request.remarks
    batch, single_header = request.options.batch, request.options.single_header
    # Ports carry names of the field, such as those of frames; C wants identifiers.
    lines = [with_names(program, avoiding(prefix=name)) for program in request.programs]
    # Loops have ports of joints alone, whose names are those of their rows.
    programs: list[AnyProgram] = [*lines, *request.loops]
    title = f"{', '.join(dict.fromkeys(p.robot or name for p in programs))}: {', '.join(p.name for p in programs)}"
    # Robots are named by users: their names pass through `comment`, which cannot end the C comment early.
    about = {"name": name, "title": comment(title), "version": __version__, "real": real.name}
    # In the precision that is written: a float's results are judged by what float can do.
    references = [Reference(program, real) for program in programs]
    recorded = {} if replay is None else recording_files(replay, programs, name, real)
    # The recording's test is a file of its own; build files list its source.
    about["sources"] = "".join(f" {file}" for file in recorded if file.endswith(".c"))
    # a test that reads a file runs where the file is
    about["directory"] = " WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR}" if recorded else ""
    if replay is not None:
        remarks = f"{readme_text(replay, programs, name, real)}{remarks}"
    about["library"] = "" if single_header else f" {name}.c"
    about["switch"] = implementation(name)
    about["checked"] = f"{name}.h" if single_header else f"{name}.c"
    header = template("header.h").substitute(
        about,
        guard=f"TAUFORM_{name}_H",
        includes="\n#include <stddef.h>\n" if batch else "",
        conventions=_conventions(programs),
        declarations=_declarations(programs, real, name, batch),
    )
    source = _source(programs, real, name, batch, about)
    if single_header:
        # One header needs no library target, so the other build systems get no file.
        sources = {f"{name}.h": single_header_text(header, source, name)}
        builds = {"Makefile": template("Makefile").substitute(about)}
    else:
        sources = {f"{name}.h": header, f"{name}.c": source}
        builds = _build_files(programs, name, about)
    usage = template("README_single_header.md" if single_header else "README_files.md")
    return {
        **recorded,
        **sources,
        f"test_{name}.c": template("test.c").substitute(
            about,
            # One header: the test is the file that asks for the definitions.
            asked=f"#define {about['switch']}\n" if single_header else "",
            recording="" if replay is None else f"int {name}_test_recording(void);\n",
            batch_functions=batch_functions(real) if batch and any(map(has_batch, programs)) else "",
            tests="\n".join(
                test_text(reference, real, name, batch and has_batch(reference.program)) for reference in references
            ),
            calls="\n".join(
                [
                    *(f"    failed |= test_{identifier(r.program.name)}();" for r in references),
                    *([] if replay is None else [f"    failed |= {name}_test_recording();"]),
                ]
            ),
        ),
        **builds,
        "README.md": template("README.md").substitute(
            about,
            usage=usage.substitute({**about, "title": markdown(title)}),
            table=_table(programs, name),
            details="\n".join(_details(reference, name, request.options.bounds) for reference in references),
            remarks=f"\n{remarks}" if remarks else "",
        ),
    }


def _build_files(programs: Sequence[AnyProgram], name: str, about: dict[str, str]) -> dict[str, str]:
    """Build files by their places in the folder."""
    files = {file: template(text).substitute(about, **_package(programs)) for file, text in BUILD_FILES.items()}
    files["CMakeLists.txt"] = CMakeProject(
        name,
        release(),
        "C",
        template("library.cmake").substitute(about),
        header=f"{name}.h",
        test_sources=f"test_{name}.c{about['sources']}",
        package_folder="CMAKE_INSTALL_LIBDIR",
        archive=" ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}",
        directory=about["directory"],
    ).text
    return files


def _package(programs: Sequence[AnyProgram]) -> dict[str, str]:
    """Facts for build systems; no name of a robot, which they would take for more than a name."""
    # Of us alone: a robot's name in a build file could be read as a command of it.
    functions = ", ".join(identifier(program.name) for program in programs)
    # json.dumps quotes it: library.json takes the text as it is.
    return {"release": release(), "description": json.dumps(f"Robot dynamics in C99: {functions}")}


def has_batch(program: AnyProgram) -> bool:
    """Whether the program depends on a state at all, not on parameters alone; loops take one state."""
    return not isinstance(program, LoopedProgram) and not all(port.shared for port in program.inputs)


def _source(programs: Sequence[AnyProgram], real: RealType, name: str, batch: bool, about: dict[str, str]) -> str:
    functions = []
    # Only what some program calls: an unused static function is a warning.
    if any(p.count(Op.SIN, Op.COS) for p in programs):
        functions.append(sincos_text(real))
    if any(p.count(Op.SIGN) for p in programs):
        functions.append(sign_text(real))
    exponentials = {op for op in (Op.EXP, Op.TANH) if any(p.count(op) for p in programs)}
    if exponentials:
        functions.append(exponential_text(real, exponentials))
    # Defined once for all programs; each function asks for them by VECTORS.
    if any(vector_form(p) for p in programs):
        functions.append(vector_definitions(real))
    for program in programs:
        if isinstance(program, LoopedProgram):
            functions.append(looped_text(program, real, name))
            continue
        functions.append(function_text(program, real, name))
        if batch and has_batch(program):
            functions.append(batch_text(program, real, name))
    text = "\n".join(functions)
    # Before all functions: each asks whether the compiler can make it twice.
    definitions = "\n" + dispatch_definitions(real) + ("\n" + block_definition(real) if batch else "")
    return template("source.c").substitute(about, definitions=definitions, functions=text).rstrip("\n") + "\n"


def _declarations(programs: Sequence[AnyProgram], real: RealType, name: str, batch: bool) -> str:
    texts = [*_structs(programs, real, name)]
    for program in programs:
        summary = program.about.summary
        about = wrap(f"{program.name}: {summary}", width=110) if summary else []
        lines = ["/*", *(f" * {line}" for line in about), *([" *"] if about else []), f" * {_cost(program)}", " *"]
        for kind, ports in (("in", program.inputs), ("out", program.outputs)):
            for port in ports:
                shape = " x ".join(map(str, port.shape)) or "1"
                lines.append(f" * {kind:3} {port.name}: {shape}")
        texts.append("\n".join([*lines, " */", f"{prototype(program, real, name)};", ""]))
        if batch and has_batch(program):
            note = f"The same for count states: entry k of state i stands at [k*count + i]{_shared_note(program)}."
            # Stated, since callers of batches save memory by it and C does not promise it.
            alias = "An output may be the same array as an input."
            texts.append(f"/* {note}\n * {alias} */\n{batch_prototype(program, real, name)};\n")
    return "\n".join(texts)


def _shared_note(program: AnyProgram) -> str:
    names = [port.name for port in program.inputs if port.shared]
    return f"; {', '.join(names)} as above" if names else ""


def _conventions(programs: Sequence[AnyProgram]) -> str:
    """Lines of the header's first comment: joints, gravity, friction; of each robot where there are several."""
    # Programs of one robot share their conventions: each text stands once.
    known = dict.fromkeys((p.robot, p.about.conventions) for p in programs if p.about.conventions)
    lines: list[str] = []
    for robot, about in known:
        lines += ["", *([f"{robot}:"] if len(known) > 1 else []), *about]
    return "".join(f" * {comment(line)}".rstrip() + "\n" for line in lines)


def _structs(programs: Sequence[AnyProgram], real: RealType, name: str) -> list[str]:
    """Types of the shared ports, in the order of the program's entries, with the values that describe the robot."""
    known: dict[str, list[str]] = {}
    values: dict[str, Any] = {}
    for program in programs:
        for port in program.inputs:
            members = member_names(program, port)
            # One struct serves all functions: members that differ would make one of them read wrong parameters.
            if members and known.setdefault(port.name, members) != members:
                raise GenerationError(
                    f"{port.name}: two programs name its entries differently; write them to different folders"
                )
        # Of one robot: programs that share a port give it the same values.
        values |= program.about.defaults
    texts = []
    for port_name, members in known.items():
        port = next(p for program in programs for p in program.inputs if p.name == port_name)
        given = [f" /* {value:.6g} */" for value in values[port_name]] if port_name in values else [""] * port.size
        body = "".join(f"    {real.name} {m};{comment}\n" for m, comment in zip(members, given, strict=True))
        about = "/* Run-time parameters; in comments the values of the robot that this was made for. */\n"
        texts.append(f"{about if port_name in values else ''}typedef struct {{\n{body}}} {struct_name(name, port)};\n")
    return texts


def _cost(program: AnyProgram) -> str:
    pairs = program.n_angles
    text = f"{program.n_multiplications} multiplications, {program.n_additions} additions, "
    text += "1 sine-cosine pair" if pairs == 1 else f"{pairs} sine-cosine pairs"
    # Each costs as much as dozens of products: hidden among them it would mislead.
    for op, words in ((Op.SQRT, "square roots"), (Op.EXP, "exponentials"), (Op.TANH, "hyperbolic tangents")):
        if program.count(op):
            text += f", {program.count(op)} {words}"
    return text


def _table(programs: Sequence[AnyProgram], name: str) -> str:
    lines = ["| function | algorithm | multiplications | additions |", "|---|---|---|---|"]
    for p in programs:
        row = (f"`{function_name(p, name)}`", p.algorithm or "-", str(p.n_multiplications), str(p.n_additions))
        lines.append(f"| {' | '.join(row)} |")
    return "\n".join(lines)


def _details(reference: Reference, name: str, bounds: Sequence[RoundingBound]) -> str:
    program, certificate = reference.program, reference.program.certificate
    lines = [f"### `{function_name(program, name)}`", "", f"{_cost(program)}."]
    wide = vector_form(program)
    if wide is not None:
        lines.append(
            "With gcc or clang for a processor that has registers of four numbers (`-march=native`, `-mavx2 -mfma`): "
            f"{wide.n_operations} operations on numbers and vectors in place of {program.n_operations} on numbers."
        )
    if certificate is not None:
        lines.append(
            f"Checked on {certificate.states} random states against {certificate.reference}: largest relative error "
            f"{certificate.error:.1e}, allowed {certificate.tolerance:.0e}."
        )
    # Said beside the certificate, which is of the program in double precision.
    if reference.real.name == "float":
        lines.append(f"In single precision the results deviate by up to {reference.rounding:.1e} of their scale.")
    lines += [bound.sentence for bound in bounds if bound.program == program.name]
    lines.append(f"The self-test allows {reference.tolerance:.1e}.")
    return "\n".join([*lines, ""])
