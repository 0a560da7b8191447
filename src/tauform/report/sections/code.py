"""The report's section on programs: certificates, operation counts, and the candidates that lost."""

from __future__ import annotations

from tauform.codegen.program.program import Op, Program
from tauform.identification.export.proof import Proof
from tauform.pipeline.robot_model import RobotModel
from tauform.report.html.document import Section
from tauform.report.html.elements import Marked, folded, paragraph, preformatted, table


def code_section(model: RobotModel, proof: Proof | None = None) -> Section:
    """Every program with its certificate, and its error on recorded motion."""
    programs = model.delivered
    columns = ("function", "algorithm", "checked against", "mult", "add", "sin/cos", "states", "error", "allowed")
    body = paragraph(
        "Before a program is handed over it is compared with the textbook algorithm on random states; the error is "
        "relative to the largest magnitude of each output. It fails if the error is above what is allowed."
    )
    body += table(columns, [_row(program) for program in programs], text_columns=3, caption="Certificates")
    if proof is not None:
        body += _proof(proof)
    # Losers are listed too: a reader may ask why an algorithm was not taken.
    rows = [
        (program.name, Marked(c.algorithm, "good") if c.chosen else c.algorithm, c.remark, *_counts(c))
        for program in model.programs
        for c in program.candidates
    ]
    listing = table(("function", "algorithm", "remark", "mult", "add", "operations"), rows, text_columns=3)
    body += folded(f"{len(rows)} candidates; the chosen ones are green", listing)
    if programs:
        body += paragraph("c/README.md lists the functions. To compile them and run their self-test:")
        body += preformatted("cd c && make check")
    return Section("code", "Code", body)


def _proof(proof: Proof) -> str:
    """Torque errors of the written functions; the same numbers as in the folder's README and `make check`."""
    # Sentences of the proof begin small, as they also stand inside longer ones.
    said = [f"{sentence[0].upper()}{sentence[1:]}." for sentence in (proof.verdict, proof.remark) if sentence]
    body = ""
    if proof.figures:
        rows = [(f.function, f"{100 * f.error:.4f} %", f"{100 * f.allowed:.4f} %") for f in proof.figures]
        caption = f"Torque error of the C on recorded motion: {proof.motion}"
        body = table(("function", "RMS error / RMS torque", "make check allows it to differ by"), rows, caption=caption)
    return body + paragraph(" ".join(said), "quiet")


def _row(program: Program) -> tuple[object, ...]:
    certificate = program.certificate
    # Sine and cosine of one angle share their cost, so an angle counts once.
    angles = {i.args[0] for i in program.instructions if i.op in (Op.SIN, Op.COS)}
    # A program without certificate leaves its cells empty, rather than a zero that reads as exact.
    checked = (
        ("", "", "", "")
        if certificate is None
        else (
            certificate.reference,
            certificate.states,
            f"{certificate.error:.1e}",
            f"{certificate.tolerance:.0e}",
        )
    )
    counts = (program.n_multiplications, program.n_additions, len(angles))
    return (program.name, program.algorithm, checked[0], *counts, *checked[1:])


def _counts(candidate: object) -> tuple[int, int, int]:
    mult, add = (getattr(candidate, name) for name in ("n_multiplications", "n_additions"))
    return mult, add, mult + add
