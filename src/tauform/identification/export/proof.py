"""Proof: what the torque error of shipped programs is on the motion that their fit was judged on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tauform.arrays import AnyArray
from tauform.codegen.backends.replay import LEAST_ALLOWED, Figure, Replay
from tauform.codegen.certificate import within
from tauform.codegen.program.program import Program
from tauform.identification.export.judged import JudgedMotion, judged_motion
from tauform.identification.fitted.model import FittedModel
from tauform.identification.regression.residuals import HELD_OUT

# Programs that compute a torque which can be measured.
EXACT, REDUCED = "inverse_dynamics", "inverse_dynamics_reduced"
# Difference between the exact program's error and the fit's own figure, as a share of the torque: two orders of the
# same filters.
MAX_FIGURE_DIFFERENCE = 1e-4
# Rounding of compiled code may differ from the interpreter's by this factor.
ROUNDING_MARGIN = 10.0
NO_RECORDING = "no recording is stored here, as was asked for"
LOADED = "no recording is stored here: the fit was loaded from a file, which holds none"
NO_TORQUE = "no recording is stored here: no inverse dynamics was written that it could be run on"


@dataclass(frozen=True, eq=False)
class Proof:
    """Figures of the programs in the verdict's norm, and the recording that repeats them.

    Attributes:
        figures: one per program that computes a torque.
        motion: what the figures are of, in words.
        verdict: the verdict's figure, in words.
        replay: what is stored for the self-test; None where nothing is.
        remark: why nothing is stored.
    """

    figures: tuple[Figure, ...]
    motion: str
    verdict: str
    replay: Replay | None = field(default=None, repr=False)
    remark: str = ""

    @property
    def torque_error(self) -> str:
        """The figures in words; empty where there are none."""
        found = ", ".join(f"{100 * figure.error:.4f} % ({figure.function})" for figure in self.figures)
        return f"torque error of the C: {found}, on {self.motion}" if found else ""

    @property
    def sentences(self) -> tuple[str, ...]:
        """Sentence for terminals and pages."""
        return tuple(sentence for sentence in (self.torque_error, self.verdict, self.remark) if sentence)

    @property
    def readme(self) -> str:
        """Last paragraph of a README where nothing is stored that would repeat the figures."""
        if not self.remark:
            return ""
        told = "\n".join(f"- {sentence[0].upper()}{sentence[1:]}." for sentence in self.sentences)
        return f"## Torque error on recorded motion\n\n{told}\n"

    def described(self) -> dict[str, Any]:
        """Plain values, for files and `--json`."""
        return {
            "functions": {figure.function: figure.error for figure in self.figures},
            "motion": self.motion,
            "verdict": self.verdict,
            "stored": self.replay is not None,
            "remark": self.remark,
        }


def proof_of(
    fit: FittedModel,
    programs: Sequence[Program],
    real: str = "double",
    *,
    recording: bool = True,
    excerpt: float | None = None,
) -> Proof:
    """Run programs of the fit's robot on the motion that the fit was judged on.

    Args:
        real: floating-point type that they are written in.
        recording: store the motion for the self-test; logs may be confidential.
        excerpt: seconds of it that are stored; all by default.

    Raises:
        VerificationError: the exact program's error is not the fit's.
        IdentificationError: the excerpt is too short.
    """
    verdict = _verdict(fit)
    whole = judged_motion(fit)
    torques = [program for program in programs if program.name in (EXACT, REDUCED)]
    if whole is None or not torques:
        return Proof((), "", verdict, remark=LOADED if whole is None else NO_TORQUE)
    # A reduced program is allowed to differ; its figure is stated, not checked against the fit.
    for program in torques:
        if program.name == EXACT:
            _check(fit, program, whole)
    # Checked on the whole motion, stored as an excerpt: the check does not depend on what is shipped.
    motion = whole if excerpt is None else judged_motion(fit, excerpt) or whole
    figures = tuple(_figure(program, motion, real) for program in torques)
    proof = Proof(figures, _motion(motion), verdict)
    if not recording:
        return Proof(figures, proof.motion, verdict, remark=NO_RECORDING)
    # All torque programs of one robot take the same inputs.
    ports = tuple(port.name for port in torques[0].inputs)
    replay = Replay(ports, *motion.tracks(), figures, proof.motion, verdict)
    return Proof(figures, proof.motion, verdict, replay)


def _check(fit: FittedModel, program: Program, motion: JudgedMotion) -> None:
    """Proof that what was judged is what is shipped."""
    difference = abs(motion.error_of(program) - motion.judged)
    what = f"{program.name} of {fit.robot.name}, compared with the fit on {motion.source},"
    within(difference, MAX_FIGURE_DIFFERENCE, what, "please report the recording's filters")


def _figure(program: Program, motion: JudgedMotion, real: str) -> Figure:
    def computed(*states: AnyArray) -> AnyArray:
        # Evaluated in single precision as the C does it, so that the figure is the written code's.
        found: AnyArray = program(*(x.astype(np.float32) for x in states))
        return found

    if real == "double":
        return Figure(program.name, motion.error_of(program), LEAST_ALLOWED)
    # Distance of single from double precision, with a margin for another order of operations.
    allowed = ROUNDING_MARGIN * motion.distance(computed, program)
    return Figure(program.name, motion.error_of(computed), max(LEAST_ALLOWED, float(f"{allowed:.1e}")))


def _motion(motion: JudgedMotion) -> str:
    told = f"{motion.seconds:.1f} s of {motion.source}"
    if not motion.is_excerpt:
        return told
    return f"an excerpt of {motion.seconds:.1f} s from {motion.whole:.1f} s of {motion.source}"


def _verdict(fit: FittedModel) -> str:
    errors = fit.unseen
    told = f"the verdict is on {errors.source}: {100 * errors.total:.4f} %"
    if errors.source != HELD_OUT:
        return told
    return f"{told}, each block predicted by a model that was fitted to the others"
