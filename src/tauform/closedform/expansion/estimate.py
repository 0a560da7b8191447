"""Size of a closed form, before it is derived: the sweep over the first joints shows how fast it grows."""

from __future__ import annotations

from dataclasses import dataclass

from tauform.closedform.expansion.sweep import sweep
from tauform.closedform.expansion.terms import Coefficients, terms_of
from tauform.description.robot import Robot
from tauform.errors import ModelError
from tauform.wording import call

# Joints that are swept for the estimate: a tenth of a second at most, whatever the geometry.
N_PROBED = 6
# Chains of this length fit, whatever their geometry.
ALWAYS_FITS = N_PROBED + 1
# Keys of the sweep count monomials in 64 bits.
MOST_JOINTS = 20
# Peak memory of a derivation, measured on usual and generic arms of 6 to 8 joints.
BYTES_PER_TERM = 1100
MEMORY_LIMIT = 4e9


@dataclass(frozen=True)
class Size:
    """Estimated terms of a model, and peak memory of its derivation."""

    n_terms: float
    n_bytes: float

    def __str__(self) -> str:
        return f"about {self.n_terms:.1g} terms, {self.n_bytes / 1e9:.2g} GB"


def estimate_size(robot: Robot) -> Size:
    """Terms and memory that deriving a chain will take, from its first joints and the growth they show.

    Later joints are taken to multiply the terms as the last one probed does: a figure good to a factor of two, meant
    to tell seconds from hours.
    """
    probed = min(robot.n_bodies, N_PROBED)
    known = _terms_of_first(robot, probed)
    # Each further joint multiplies the terms by about the same factor.
    growth = known / max(_terms_of_first(robot, probed - 1), 1) if probed > 1 else 1.0
    n_terms = known * growth ** (robot.n_bodies - probed)
    return Size(n_terms=n_terms, n_bytes=BYTES_PER_TERM * n_terms)


def _terms_of_first(robot: Robot, n: int) -> int:
    part = Robot(robot.name, robot.joints[:n], robot.links[:n], robot.gravity)
    coefficients = Coefficients.gathered(part, sweep(part, {}))
    return terms_of(coefficients, part, range(part.layout.n), {}).n_terms


def refuse_if_too_large(robot: Robot, memory_limit: float) -> None:
    """Raise ModelError for too many joints or an estimate above the limit; the message names the alternative."""
    if robot.n_bodies <= ALWAYS_FITS:
        return
    recursive = call("generate", "robot, 'inverse_dynamics'")
    if robot.n_bodies > MOST_JOINTS:
        raise ModelError(
            f"derive: {robot.name} has {robot.n_bodies} joints, closed forms have {MOST_JOINTS} at most",
            argument="robot",
            value=robot,
            remedy=f"call {recursive}, a recursive program",
        )
    size = estimate_size(robot)
    if size.n_bytes > memory_limit:
        raise ModelError(
            f"derive: the closed form of {robot.name} would take {size} (limit {memory_limit / 1e9:g} GB)",
            argument="memory_limit",
            value=memory_limit,
            remedy=f"for so long a chain call {recursive}, a recursive program, or raise memory_limit",
        )
