"""A suspicion: what is wrong with a log or a description, by a hypothesis that explains the torques better."""

from __future__ import annotations

from dataclasses import dataclass

# How far a suspicion spoils a fit: it is usable at best, or not to be trusted.
SPOILS, FORBIDS = 1, 2
# The size of torques, and that of gravity among them.
GAIN, GRAVITY = "gain", "gravity"


@dataclass(frozen=True)
class Suspicion:
    """A sentence that names a fault with its figures, and what mends it.

    Attributes:
        what: the fault.
        remedy: what to change or to record.
        level: SPOILS or FORBIDS.
        is_cause: whether it makes errors and values wrong in general, so that nothing else is worth saying of them.
        about: GAIN or GRAVITY where another rule judges the same from the values of the fit; one of both is said.
    """

    what: str
    remedy: str
    level: int = FORBIDS
    is_cause: bool = True
    about: str = ""
