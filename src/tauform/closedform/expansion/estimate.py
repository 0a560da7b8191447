"""Size of a closed form, before it is derived: the sweep over the first joints shows how fast it grows."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from tauform.closedform.expansion.sweep import sweep
from tauform.closedform.expansion.terms import Coefficients, terms_of
from tauform.description.robot import Robot
from tauform.errors import ModelError
from tauform.wording import call

# Joints that are swept for the estimate: a tenth of a second at most, whatever the geometry.
N_PROBED = 6
# Terms from which on the growth of a chain shows: a few tenths of a second.
PROBED_TERMS = 5000
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
    """Terms and memory that deriving a robot will take, from its first joints and the growth they show.

    Joints are swept until their terms are many. Later ones are taken to multiply these as the last one of their type
    did: a figure good to a factor of two, meant to tell seconds from hours.
    """
    probed = max(1, min(robot.n_bodies, N_PROBED) - 1)
    known, growth = terms_of_first(robot, probed), dict[str, float]()
    # Slides that come first make few terms, and say nothing of the joints that turn behind them.
    while probed < robot.n_bodies and (probed < N_PROBED or known < PROBED_TERMS):
        before, known, probed = known, terms_of_first(robot, probed + 1), probed + 1
        growth[robot.joints[probed - 1].type.name] = known / max(before, 1)
    n_terms = float(known)
    for joint in robot.joints[probed:]:
        n_terms *= growth.get(joint.type.name, max(growth.values(), default=1.0))
    return Size(n_terms=n_terms, n_bytes=BYTES_PER_TERM * n_terms)


def terms_of_first(robot: Robot, n: int, fixed: Mapping[int, float] = MappingProxyType({})) -> int:
    """Terms of the first n joints, some of them held at positions."""
    part = Robot(robot.name, robot.joints[:n], robot.links[:n], robot.gravity)
    held = {i: position for i, position in fixed.items() if i < n}
    coefficients = Coefficients.gathered(part, sweep(part, held), held)
    return terms_of(coefficients, part, range(part.layout.n), held).n_terms


def refuse_if_too_large(robot: Robot, memory_limit: float) -> None:
    """Raise ModelError for too many joints or an estimate above the limit; the message names the alternative."""
    # Nothing is above NaN: it would lift the limit.
    if math.isnan(memory_limit):
        raise ModelError("derive: memory_limit must be a number of bytes, not nan", argument="memory_limit")
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
