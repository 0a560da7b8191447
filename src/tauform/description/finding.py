"""Finding: one thing that is doubtful about a robot or about how its file was read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tauform.escaping.shown import visible

Severity = Literal["unphysical", "doubtful", "note"]
# Names that a finding lists before it counts the rest.
MOST_NAMES = 8


@dataclass(frozen=True)
class Finding:
    """One thing that `check` found.

    Attributes:
        severity: "unphysical" (no rigid body has these numbers), "doubtful", or "note".
        place: the link or joint.
        what: what is wrong there.
        remedy: what to do about it.
    """

    severity: Severity
    place: str
    what: str
    remedy: str

    def __str__(self) -> str:
        return visible(f"{self.place}: {self.what} ({self.severity}); {self.remedy}")


def place_of(noun: str, names: Sequence[str]) -> str:
    """`joint 'a'`, `joints 'a', 'b' and 12 more`: the place of a finding that several share."""
    quoted = [repr(name) for name in names]
    if len(quoted) == 1:
        return f"{noun} {quoted[0]}"
    more = f" and {len(quoted) - MOST_NAMES} more" if len(quoted) > MOST_NAMES + 1 else ""
    return f"{noun}s {', '.join(quoted[:MOST_NAMES] if more else quoted)}{more}"
