"""Torques and positions that are out of step: found, reported, put right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from tauform.arrays import Array
from tauform.errors import IdentificationError
from tauform.identification.diagnosis.suspicion import SPOILS, Suspicion
from tauform.identification.recording.segments import shifted
from tauform.identification.regression.evidence import Evidence, gather
from tauform.identification.regression.rows import RowSource
from tauform.identification.regression.terms import Column
from tauform.identification.selection.held_out import MIN_WORTHWHILE_SHARE, HeldOut
from tauform.wording import argument

# Held-out loss, per joint, that a delay must explain to be mentioned, and to be refused.
MIN_GAIN_TO_MENTION, MIN_GAIN_TO_REFUSE = 0.05, 0.35
MAX_STEPS = 6
# Delays shorter than this many samples are the sampling's own.
FEWEST_SAMPLES_LATE = 1.5
# Share of joints, and of blocks, that a delay must help: all torques come by one clock.
MIN_SHARE_BETTER = 0.6
# Deflections [rad or m] at which contacts begin to slide: those of gears are between them.
CONTACT_WIDTHS = (1e-4, 5e-4, 2.5e-3, 1.25e-2)


def check_delay(evidence: Evidence, columns: Sequence[int], source: RowSource) -> tuple[list[Suspicion], list[str]]:
    """Suspicions of a delay, and findings; the last column of the evidence is minus the torque's time derivative.

    A delay is named only if torques that are shifted by it are explained better on held-out blocks, at most joints and
    in most blocks, and better than by friction that builds up over positions: that lags behind the motion too.

    tau(t + d) = tau + d tau' = A x, so that tau = A x - d tau'.

    Args:
        columns: of the evidence that explain the torque.
        source: rows of these columns, to follow a long delay with.

    Raises:
        IdentificationError: most of the residuals come from a delay.
    """
    # tau(t - d) = tau - d tau': minus the derivative is a column whose value is the delay.
    gain, delay = _gain_and_delay(evidence, columns)
    rate = source.segments[0].rate
    if gain < MIN_GAIN_TO_MENTION or abs(delay) * rate < FEWEST_SAMPLES_LATE:
        return [], []
    delay, before, after = _followed(source, delay)
    if after.loss > before.loss - MIN_GAIN_TO_MENTION or not after.is_better_throughout(before):
        return [], []
    findings: list[str] = []
    # Torques that run ahead are no friction.
    contacts = _with_contacts(source) if delay > 0 else None
    if contacts is not None:
        built, first = _beside(contacts, rate)
        if built.loss < after.loss - MIN_GAIN_TO_MENTION:
            findings = [
                f"friction builds up over positions after reversals: it would leave {built.percent} % unexplained on "
                f"held-out blocks instead of {before.percent} %"
            ]
            if first is None:
                return [], findings
            # Named beside the other law; only what explains most by itself is refused.
            (delay, before, after), gain = first, 0.0
        elif built.loss < after.loss + MIN_GAIN_TO_MENTION:
            return [], [_undecided(delay, after, built)]
    return [_late(delay, before, after, gain)], findings


def _undecided(delay: float, after: Left, built: Left) -> str:
    """Two causes that stand close: neither is advised blindly."""
    return (
        f"friction that builds up over positions, or torques that lag behind positions by about {1e3 * delay:.2g} ms: "
        f"{built.percent} and {after.percent} % are left on held-out blocks; record slow reversals to tell them apart"
    )


def _late(delay: float, before: Left, after: Left, gain: float) -> Suspicion:
    """A delay that is named.

    Raises:
        IdentificationError: it explains most of what is left.
    """
    order = "lag behind" if delay > 0 else "run ahead of"
    sentence = f"torques {order} positions by about {1e3 * abs(delay):.2g} ms"
    if gain > MIN_GAIN_TO_REFUSE:
        raise IdentificationError(
            f"{sentence}, which explains most of what is left unexplained",
            argument="delay",
            remedy="record both with one clock, or shift the torques with " + argument("delay", float(f"{delay:.3g}")),
        )
    figures = f"shifted, they leave {after.percent} % unexplained on held-out blocks instead of {before.percent} %"
    remedy = f"{argument('delay', float(f'{delay:.2g}'))} shifts them; identify again"
    return Suspicion(f"{sentence}: {figures}", remedy, SPOILS, is_cause=False)


@dataclass(frozen=True, eq=False)
class Left:
    """What some columns leave on held-out blocks.

    Attributes:
        squares: (folds, n) of each joint, relative to those of its torque.
        total: relative error of all joints together, as the verdict quotes it.
    """

    squares: Array
    total: float

    @classmethod
    def of(cls, evidence: Evidence, columns: Sequence[int]) -> Left:
        """By values that other blocks ask for."""
        held_out = HeldOut(evidence)
        held_out.settle_weights(columns)
        squares, whole = held_out.squares(columns), np.maximum(evidence.torque_squares, 1e-300)
        return cls(squares / whole, float(np.sqrt(squares.sum() / whole.sum())))

    @property
    def percent(self) -> str:
        """The total in words."""
        return f"{100 * self.total:.3g}"

    @property
    def loss(self) -> float:
        """Mean over the joints of the logarithm of their held-out squares, relative to their torque's."""
        return float(np.log(self.squares.sum(axis=0) + MIN_WORTHWHILE_SHARE).mean())

    def is_better_throughout(self, other: Left) -> bool:
        """Whether most joints and most blocks gain."""
        joints = self.squares.sum(axis=0) < other.squares.sum(axis=0)
        blocks = np.log((self.squares + MIN_WORTHWHILE_SHARE) / (other.squares + MIN_WORTHWHILE_SHARE)).sum(axis=1) < 0
        return bool(joints.mean() >= MIN_SHARE_BETTER and blocks.mean() >= MIN_SHARE_BETTER)


# Friction that builds up over positions: elastic contacts that slide one after another (Prandtl, Iwan).
#
#     z(t + dt) = clip(z(t) + dq, -w, w)   at a joint, tau = c z / w


def _with_contacts(source: RowSource) -> RowSource | None:
    """The source with contacts of several widths at each joint; None for loops."""
    design = source.design
    if design.robot.closure is not None:
        return None
    terms = [
        Column(f"z_{j}_{width:g}", partial(_contact, joint=j, width=width))
        for j in range(design.robot.n_joints)
        for width in CONTACT_WIDTHS
    ]
    # Beside the plain columns, whose sharp step is the contact without any width.
    return replace(source, design=design.with_terms([*design.terms, *terms]))


def _beside(contacts: RowSource, rate: float) -> tuple[Left, tuple[float, Left, Left] | None]:
    """What contacts leave; and a delay beside them with what is left without and with it, where there is one."""
    columns = range(contacts.design.n_columns)
    evidence = gather(contacts, contacts, delay_column=True)
    built = Left.of(evidence, columns)
    gain, delay = _gain_and_delay(evidence, columns)
    if gain < MIN_GAIN_TO_MENTION or abs(delay) * rate < FEWEST_SAMPLES_LATE:
        return built, None
    delay, before, after = _followed(contacts, delay)
    late = after.loss < before.loss - MIN_GAIN_TO_MENTION and after.is_better_throughout(before)
    return built, (delay, before, after) if late else None


def _contact(q: Array, qd: Array, qdd: Array, joint: int, width: float) -> Array:
    """(N, n) torque of an elastic contact that slides from a deflection on; states follow each other in time."""
    deflection, z = np.zeros(len(q)), 0.0
    for k, step in enumerate(np.diff(q[:, joint]).tolist(), 1):
        z = min(max(z + step, -width), width)
        deflection[k] = z
    torque = np.zeros_like(q)
    torque[:, joint] = deflection / width
    return torque


def _gain_and_delay(evidence: Evidence, columns: Sequence[int]) -> tuple[float, float]:
    """Held-out loss per joint that a delay saves, and the delay [s]."""
    held_out = HeldOut(evidence)
    last = evidence.n_columns - 1
    held_out.settle_weights(columns)
    gain = (held_out.loss(columns) - held_out.loss([*columns, last])) / evidence.n_joints
    return gain, float(held_out.values([*columns, last])[last])


def _followed(source: RowSource, delay: float) -> tuple[float, Left, Left]:
    """The delay after shifting by it and looking again, and what is left without and with it.

    One derivative reaches only so far, and loses the highest frequencies: losses compare torques that are shifted.
    """
    columns = range(source.design.n_columns)
    before = Left.of(gather(source, source), columns)
    # A first-order column tells small delays; larger ones are followed in steps.
    for _ in range(MAX_STEPS):
        moved = replace(source, segments=tuple(shifted(segment, delay) for segment in source.segments))
        evidence = gather(moved, moved, delay_column=True)
        more = _gain_and_delay(evidence, columns)[1]
        if abs(more) * source.segments[0].rate < 0.5:
            break
        delay += more
    return delay + more, before, Left.of(evidence, columns)
