"""Backend: what a target language must offer. A new one is a folder beside this file and a line in `registry.py`."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from tauform.codegen.backends.replay import Replay
from tauform.codegen.looped.program import LoopedProgram
from tauform.codegen.names import c_prefix
from tauform.codegen.program.port import Port
from tauform.codegen.program.program import Program
from tauform.codegen.rounding.bound import RoundingBound
from tauform.errors import GenerationError
from tauform.escaping.c import identifier
from tauform.version import __version__
from tauform.wording import argument


@dataclass(frozen=True)
class PrintOptions:
    """Form of the printed code, as users choose it.

    Attributes:
        real: floating-point type, one of the backend's `reals`.
        batch: also a function for many states, where the backend `has_batch`.
        single_header: declarations and definitions in one header, where the backend `has_single_header`.
        bounds: guaranteed rounding errors that C's README states.
        knots: also functions over so many knots of a motion, where the backend `has_knots`; 0 for none.
    """

    real: str = "double"
    batch: bool = False
    single_header: bool = False
    bounds: tuple[RoundingBound, ...] = ()
    knots: int = 0


@dataclass(frozen=True)
class Request:
    """Request to print programs.

    Attributes:
        programs: of one robot; each becomes a function.
        prefix: of all names, as `Backend.prefix` gives it.
        options: form of the code.
        replay: recorded motion that the self-test of C runs functions on.
        remarks: last paragraphs of C's README.
        loops: programs of many bodies, where the backend `has_loops`.
    """

    programs: tuple[Program, ...]
    prefix: str
    options: PrintOptions = PrintOptions()
    replay: Replay | None = None
    remarks: str = ""
    loops: tuple[LoopedProgram, ...] = ()


class Backend(ABC):
    """A language that programs are printed in; what most languages share is the usual value here.

    Attributes:
        title: the language, for people.
        reals: floating-point types, the usual one first.
        has_batch: whether it prints functions for many states.
        has_single_header: whether it prints declarations and definitions in one header, where asked to.
        has_knots: whether it prints functions over the knots of a motion.
        has_loops: whether it prints programs that are loops over bodies.
        functions: those that its interface calls, which must be among the programs (friction where the robot has
            some); empty for a language that takes any.
    """

    title: str
    reals: tuple[str, ...] = ("double",)
    has_batch: bool = False
    has_single_header: bool = False
    has_knots: bool = False
    has_loops: bool = False
    functions: tuple[str, ...] = ()

    def prefix(self, name: str | None, robot: str) -> str:
        """The prefix of all names: the user's own, or one made of the robot's name; here an identifier, as in C.

        Raises:
            GenerationError: the user's own cannot be one.
        """
        return c_prefix(name, robot)

    @abstractmethod
    def files(self, request: Request) -> dict[str, str]:
        """Contents of each file by its name; the same text every time."""

    def build_products(self, prefix: str) -> tuple[str, ...]:
        """Files that the folder's own build makes, so that they count as ours when it is written again; here none."""
        return ()

    @abstractmethod
    def check_commands(self, prefix: str) -> tuple[Sequence[str], ...]:
        """Commands that, run in the folder, build what was printed and compare it with the results stored in it.

        What they print names every function that was compared.
        """

    def check_options(self, options: PrintOptions) -> None:
        """Refuse what cannot be printed, before anything is computed or written.

        Raises:
            GenerationError: no such floating-point type, no functions for many states or knots, no form as one header.
        """
        if options.real not in self.reals:
            known = ", ".join(self.reals)
            raise GenerationError(f"real: expected one of {known} in {self.title}, got {options.real!r}")
        if options.batch and not self.has_batch:
            raise GenerationError(f"batch: {self.title} functions take one state; write them without batch")
        if options.single_header and not self.has_single_header:
            raise GenerationError(f"single_header: {self.title} has no such form; that is one of C")
        if options.knots < 0:
            raise GenerationError(f"knots: expected their number, or 0 for functions of one state, got {options.knots}")
        if options.knots and not self.has_knots:
            remedy = argument("target", "casadi")
            raise GenerationError(f"knots: {self.title} has no such functions; those of CasADi have ({remedy})")
        other = [bound.program for bound in options.bounds if bound.real != options.real]
        if other:
            wanted = argument("real", options.real)
            raise GenerationError(
                f"bounds: that of {other[0]} is for another type than {options.real}; make it with {wanted}"
            )

    def check_loops(self, loops: Sequence[LoopedProgram], options: PrintOptions) -> None:
        """Refuse loops over bodies where the language or the form has none.

        Raises:
            GenerationError: what to write instead.
        """
        if not loops:
            return
        what = f"{loops[0].name} of {loops[0].robot} is a loop over {loops[0].n} bodies"
        if not self.has_loops:
            remedy = argument("target", "c")
            raise GenerationError(f"{what}, which {self.title} does not have; write it in C ({remedy})")
        if options.batch:
            raise GenerationError(f"batch: {what} and takes one state; write it without batch")


def with_names(program: Program, usable: Callable[[str], str]) -> Program:
    """The program with port names that are different names of a language; an output named like an input becomes new_...

    Args:
        usable: makes a name of the language from that of a port.
    """
    inputs, taken = _different(program.inputs, [usable(port.name) for port in program.inputs], set())
    names = [usable(port.name) for port in program.outputs]
    # Such as the residual of momentum_observer, which goes in and comes out under one name.
    outputs, _ = _different(program.outputs, [f"new_{name}" if name in taken else name for name in names], taken)
    return replace(program, inputs=inputs, outputs=outputs)


def _different(ports: Sequence[Port], names: Sequence[str], taken: set[str]) -> tuple[tuple[Port, ...], set[str]]:
    """The ports under these names, and all names then taken; frames tool-0 and tool_0 are two."""
    renamed: tuple[Port, ...] = ()
    for port, name in zip(ports, names, strict=True):
        # Names that a language cannot tell apart get underscores, in the order of the ports.
        while name in taken:
            name += "_"
        taken = {*taken, name}
        renamed = (*renamed, replace(port, name=name))
    return renamed, taken


def avoiding(reserved: Collection[str] = (), prefix: str | None = None) -> Callable[[str], str]:
    """Maker of identifiers, as in C, for `with_names`: no words of a language, no functions of a prefix."""

    def usable(name: str) -> str:
        word = identifier(name)
        is_function = prefix is not None and word.startswith(f"{prefix}_")
        return f"{word}_" if word in reserved or is_function else word

    return usable


def free_prefix(found: str, name: str | None, taken: Collection[str], what: str) -> str:
    """A prefix that a language can use: a robot's own name is changed quietly, a name that the user chose never.

    Args:
        name: the user's choice.
        taken: words that cannot be one.
        what: what is said of such a word.

    Raises:
        GenerationError: the user chose such a word.
    """
    if found not in taken:
        return found
    if name is None:
        return f"{found}_robot"
    raise GenerationError(f"name: {found!r} {what}; take another, such as '{found}_arm'")


def release() -> str:
    """Our version as build systems take it: numbers only, without what marks one before its release."""
    # "0.1.0rc1" counts as 0.1.0: CMake and Cargo take numbers alone.
    numbers = re.match(r"\d+(\.\d+)*", __version__)
    return numbers[0] if numbers else "0"
