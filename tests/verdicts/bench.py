"""What verdicts say of seeded faults: a case is identified by one default call, as a user does."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, replace

import tauform as tf
from tauform.errors import TauformError
from tauform.identification.recording.segments import uniform_segments
from tauform.identification.verdict.validate import errors_of
from verdicts.seeded import Case

# A quoted error is wrong where the error on unseen motion is more than so many times as large.
WRONG = 2.0


@dataclass(frozen=True)
class Outcome:
    """What became of a case.

    Attributes:
        grade: of the verdict, or "refused".
        is_named: whether a sentence names the seeded fault, and none something that it is not.
        quoted, unseen: relative errors that the verdict rests on, and on motion that nobody has seen.
        said: all sentences.
        seconds: of processor time.
    """

    fault: str
    seed: int
    grade: str
    is_named: bool
    quoted: float
    unseen: float
    said: tuple[str, ...]
    seconds: float

    @property
    def is_optimistic(self) -> bool:
        """Whether the quoted figure is less than half of the error on unseen motion."""
        return self.unseen > WRONG * self.quoted

    @property
    def is_missed(self) -> bool:
        """Called good with a fault that no sentence names, or with an error on unseen motion beyond what is quoted."""
        return self.fault != "none" and self.grade == "good" and (not self.is_named or self.is_optimistic)


def outcome(case: Case) -> Outcome:
    """Identify a case and compare what is said with what is true."""
    start = time.process_time()
    try:
        fit = tf.identify(case.described, case.fitted, validate=case.validation)
    except TauformError as error:
        grade, said, quoted, unseen = "refused", (str(error),), 0.0, 0.0
    else:
        verdict = fit.verdict
        grade, said, quoted = verdict.grade, (*verdict.reasons, *fit.findings, *verdict.next), fit.unseen.expected
        assert fit.source is not None
        segments = uniform_segments(case.unseen).segments
        if fit.source.segments[0].qd is None:  # measured velocities that lag were left out
            segments = tuple(replace(segment, qd=None) for segment in segments)
        unseen = errors_of(fit, replace(fit.source, design=fit.own_design, segments=segments), "unseen").total
    seconds = time.process_time() - start
    named = case.fault != "none" and (case.named is None or any(map(case.named.search, said)))
    # What a fault is not counts as much as what it is.
    named = named and not (case.denied is not None and any(map(case.denied.search, said)))
    return Outcome(case.fault, case.seed, grade, named, quoted, unseen, said, seconds)


def table(outcomes: Iterable[Outcome]) -> list[str]:
    """Lines: per fault how many were detected and named, detected, missed; of clean cases how many are good."""
    by_fault: dict[str, list[Outcome]] = {}
    for own in outcomes:
        by_fault.setdefault(own.fault, []).append(own)
    heading = (
        "fault",
        "cases",
        "named",
        "missed",
        "good",
        "usable",
        "not trust.",
        "refused",
        "error > 2 x quoted",
        "s",
    )
    lines = ["{:14} {:>6} {:>6} {:>6} {:>6} {:>7} {:>10} {:>8} {:>19} {:>6}".format(*heading)]
    for fault, own in (*by_fault.items(), ("all faulty", [x for k, v in by_fault.items() if k != "none" for x in v])):
        grades = [sum(x.grade == grade for x in own) for grade in ("good", "usable", "not trustworthy", "refused")]
        named, wrong = sum(x.is_named for x in own), sum(x.is_optimistic for x in own)
        mean = sum(x.seconds for x in own) / max(1, len(own))
        shown = ("{:>6} {:>7} {:>10} {:>8}").format(*grades)
        missed = sum(x.is_missed for x in own)
        lines.append(f"{fault:14} {len(own):6} {named:6} {missed:6} {shown} {wrong:19} {mean:6.2f}")
    return lines
