"""C of a fit: programs of the robot that it identified, with the motion that it was judged on as their self-test."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tauform.codegen.backends.backend import PrintOptions, Request
from tauform.codegen.backends.registry import backend
from tauform.codegen.generate import generate
from tauform.codegen.names import c_prefix
from tauform.codegen.program.program import Program
from tauform.codegen.write import write_request
from tauform.errors import IdentificationError
from tauform.files.checks import check_folder
from tauform.identification.export.judged import check_excerpt
from tauform.identification.export.proof import Proof, proof_of
from tauform.identification.fitted.model import FittedModel
from tauform.wording import argument


@dataclass(frozen=True)
class CodeOptions:
    """Plan of the C of a fit; made before long work, it refuses what could not be written.

    Attributes:
        real: floating-point type.
        recording: store the motion that the fit was judged on, so that `make check` repeats the torque error.
        excerpt: seconds of it that are stored; None stores all.
        functions: that are written.

    Raises:
        GenerationError: no such floating-point type.
        IdentificationError: an excerpt of no length, or of a recording that is not stored.
    """

    real: str = "double"
    recording: bool = True
    excerpt: float | None = None
    functions: tuple[str, ...] = ("inverse_dynamics",)

    # At construction: plans are made before a long identification, and fail before it.
    def __post_init__(self) -> None:
        backend("c").check_options(PrintOptions(self.real))
        check_excerpt(self.excerpt)
        if self.excerpt is not None and not self.recording:
            part, nothing = argument("excerpt"), argument("recording", False)
            raise IdentificationError(
                f"{part} stores a part of the recording, {nothing} none of it", remedy="leave one of them out"
            )


@dataclass(frozen=True, eq=False)
class WrittenCode:
    """A folder of C.

    Attributes:
        files: paths.
        proof: torque error of the functions on the motion that the fit was judged on; None where there is none.
    """

    files: list[Path]
    proof: Proof | None


def write_code(
    fit: FittedModel,
    folder: str | os.PathLike[str],
    name: str | None = None,
    options: CodeOptions = CodeOptions(),
    force: bool = False,
) -> WrittenCode:
    """Write functions of the identified robot as C99, with the motion that the fit was judged on.

    Args:
        name: prefix of all names, an identifier of C; the robot's name if not given.
        force: also write into a folder that holds other files.

    Raises:
        GenerationError: there is no C of such a fit, or the folder is not ours.
        IdentificationError: the excerpt is too short.
    """
    # A folder of others' files is refused before the equations are derived.
    check_folder(folder, force)
    prefix = c_prefix(name, fit.robot.name)
    programs = [generate(fit.identified_robot, function) for function in options.functions]
    return write_proven(fit, programs, folder, prefix, options, force)


def write_proven(
    fit: FittedModel,
    programs: Sequence[Program],
    folder: str | os.PathLike[str],
    prefix: str,
    options: CodeOptions = CodeOptions(),
    force: bool = False,
) -> WrittenCode:
    """Write programs of a fit's robot with the proof of their torque error.

    Raises:
        VerificationError: the exact program's error is not the fit's.
    """
    # The figures are computed before anything is written: a failed proof leaves no folder.
    proof = proof_of(fit, programs, options.real, recording=options.recording, excerpt=options.excerpt)
    request = Request(tuple(programs), prefix, PrintOptions(options.real), replay=proof.replay, remarks=proof.readme)
    return WrittenCode(write_request(request, folder, force=force), proof)
