"""Write programs in a target language into a folder: all files or none."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tauform.codegen.backends.backend import Backend, PrintOptions, Request
from tauform.codegen.backends.registry import Target, backend
from tauform.codegen.looped.program import AnyProgram, LoopedProgram
from tauform.codegen.program.program import Program
from tauform.codegen.rounding.bound import RoundingBound
from tauform.errors import GenerationError
from tauform.files.folder import write_folder, write_texts


def write(
    programs: AnyProgram | Sequence[AnyProgram],
    folder: str | os.PathLike[str],
    *,
    target: Target = "c",
    real: str = "double",
    batch: bool = False,
    force: bool = False,
    name: str | None = None,
    single_header: bool = False,
    bounds: Sequence[RoundingBound] = (),
    knots: int = 0,
) -> list[Path]:
    """Write programs in a target language, with a self-test of what was written.

    The folder is put together elsewhere and then renamed, so it is never half-written.

    Args:
        programs: of one robot; each becomes a function. Loops over bodies (`tauform.generate_loops`) in C alone.
        folder: made if it does not exist; one that we wrote before is replaced.
        target: "c" is C99 with a Makefile and a CMake package; "cpp" a C++17 header of templates; "javascript" an ES
            module for browsers and node; "matlab" function files for MATLAB and Octave; "rust" a no_std
            crate; "casadi" C for casadi.external; "ros2" a package with plugins for inverse_dynamics_solver and
            ros2_control; "fmu" a model of FMI 3.0; "opencl" and "cuda" kernels over many states; "wasm"
            WebAssembly through C; "simulink" S-functions with a script for their blocks.
        real: "double" or, in C, C++, Rust, OpenCL, CUDA and WebAssembly, "float".
        batch: in C, also write a function for many states in structure-of-arrays form, which compilers vectorise.
        force: write into a folder that holds other files too (they are kept unless they have our files' names).
        name: prefix of all names, an identifier; made of the robot's name if not given.
        single_header: in C, declarations and definitions in one file: define <NAME>_IMPLEMENTATION where one file of
            yours includes it.
        bounds: of `tauform.rounding_bound`, which the README of C states.
        knots: for CasADi, also write functions <name>_<program.name>_knots of the states at so many knots of a motion,
            side by side, whose Jacobians are sparse; 0 writes none.

    Returns:
        Paths of the files.

    Raises:
        UnknownNameError: no such target.
        GenerationError: nothing to write, an option that the target lacks, a name that it does not allow, names that
            clash, or a folder that is not ours or not writable.
    """
    options = PrintOptions(real, batch, single_header, tuple(bounds), knots)
    return write_programs(programs, folder, target, name, options, force)


def write_programs(
    programs: AnyProgram | Sequence[AnyProgram],
    folder: str | os.PathLike[str],
    target: str,
    name: str | None,
    options: PrintOptions,
    force: bool = False,
) -> list[Path]:
    """Write programs in the form that the options say; see `write`."""
    chosen = backend(target)
    # Before programs are looked at: an option that the language lacks is the same for all of them.
    chosen.check_options(options)
    given = [programs] if isinstance(programs, AnyProgram) else list(programs)
    lines = tuple(program for program in given if isinstance(program, Program))
    loops = tuple(program for program in given if isinstance(program, LoopedProgram))
    chosen.check_loops(loops, options)
    prefix = chosen.prefix(name, given[0].robot if given else "")
    request = Request(lines, prefix, options, loops=loops)
    return write_request(request, folder, chosen, force)


def write_request(
    request: Request, folder: str | os.PathLike[str], chosen: Backend | None = None, force: bool = False
) -> list[Path]:
    """Write what was asked for, by default as C; see `write`."""
    chosen = chosen or backend("c")
    given: list[AnyProgram] = [*request.programs, *request.loops]
    names = [program.name for program in given]
    if not names:
        raise GenerationError("write: no programs were given; make some with tauform.generate")
    # Their C functions would have one name, which the linker alone would notice.
    if len(set(names)) < len(names):
        raise GenerationError(f"write: two programs have the same name ({', '.join(names)}); write them apart")
    # All texts before the first file: what fails to print leaves the folder as it was.
    files = chosen.files(replace(request, programs=tuple(with_setups(request.programs))))

    def fill(fresh: Path) -> list[str]:
        write_texts(fresh, files)
        # Ours too: a folder that was built is replaced, not refused as another's.
        return list(chosen.build_products(request.prefix))

    return write_folder(folder, fill, force)


def write_c(
    programs: AnyProgram | Sequence[AnyProgram],
    folder: str | os.PathLike[str],
    *,
    real: str = "double",
    batch: bool = False,
    force: bool = False,
    name: str | None = None,
    single_header: bool = False,
    bounds: Sequence[RoundingBound] = (),
) -> list[Path]:
    """Write programs as C99 with a self-test, a Makefile, a CMakeLists.txt and a README; see `tauform.write`.

    Args:
        programs: of one robot; each becomes the function <name>_<program.name>.
        folder: made if it does not exist; one that we wrote before is replaced.
        real: "double" or "float".
        batch: also write a function for many states in structure-of-arrays form, which compilers vectorise.
        force: write into a folder that holds other files too (they are kept unless they have our files' names).
        name: prefix of all names, an identifier of C; made of the robot's name if not given.
        single_header: declarations and definitions in one file: define <NAME>_IMPLEMENTATION where one file of yours
            includes it.
        bounds: of `tauform.rounding_bound`, which the README states.

    Returns:
        Paths of the files.

    Raises:
        GenerationError: nothing to write, a name that C does not allow, names that clash, or a folder that is not ours
            or not writable.
    """
    options = PrintOptions(real, batch, single_header, tuple(bounds))
    return write_programs(programs, folder, "c", name, options, force)


def with_setups(programs: Sequence[Program]) -> list[Program]:
    """The programs, each after the one that prepares its parameters."""
    result = []
    for program in programs:
        if program.setup is not None:
            # Set-ups have no summary of their own: they are parts of a program.
            summary = f"what {program.name} needs of the parameters; call it once, and again when they change"
            result.append(replace(program.setup, robot=program.robot, about=replace(program.about, summary=summary)))
        result.append(program)
    return result
