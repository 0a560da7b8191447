"""Targets that call fixed functions of the robot: which they need, and the plain C behind them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tauform.codegen.backends.backend import Request, with_names
from tauform.codegen.backends.registry import backend
from tauform.codegen.program.embed import whole
from tauform.codegen.program.program import Program
from tauform.errors import GenerationError
from tauform.escaping.c import identifier


def needed(programs: Sequence[Program], wanted: Mapping[str, tuple[str, ...]], title: str) -> dict[str, Program]:
    """The programs that an interface calls, by name.

    Args:
        wanted: the inputs that the interface passes to each function.
        title: the target, for people.

    Raises:
        GenerationError: one is missing, takes an input that the interface does not have, or belongs to another robot.
    """
    found = {program.name: whole(program) for program in programs if program.name in wanted}
    for name, inputs in wanted.items():
        if name not in found:
            raise GenerationError(
                f"{title}: its interface calls {', '.join(wanted)}, but {name} is not among the functions; "
                "generate it too"
            )
        others = [port.name for port in found[name].inputs if port.name not in inputs]
        if others:
            raise GenerationError(
                f"{title}: {name} takes {others[0]}, which the interface cannot pass; generate it of a robot whose "
                f"{name} is a function of {', '.join(inputs)} alone (robot.with_drives)"
            )
    # All are joint vectors: other sizes are other robots.
    sizes = {port.size for program in found.values() for port in program.inputs}
    if len(sizes) > 1:
        raise GenerationError(f"{title}: the functions belong to robots of {', '.join(map(str, sorted(sizes)))} joints")
    return found


def plain_c(request: Request, inner: str) -> dict[str, str]:
    """Header, source and self-test in C of all programs, under another prefix, setups built into their functions."""
    # An interface has no place for what a setup prepares.
    setups = {program.setup.name for program in request.programs if program.setup is not None}
    programs = tuple(with_names(whole(p), identifier) for p in request.programs if p.name not in setups)
    files = backend("c").files(replace(request, programs=programs, prefix=inner))
    # Build files of C are left out: the target brings its own.
    return {name: text for name, text in files.items() if name.endswith((".c", ".h"))}
