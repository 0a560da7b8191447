"""Torques and positions that are out of step: found, reported, put right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tauform.errors import IdentificationError
from tauform.identification.diagnosis.suspicion import SPOILS, Suspicion
from tauform.identification.recording.segments import shifted
from tauform.identification.regression.evidence import Evidence, gather
from tauform.identification.regression.rows import RowSource
from tauform.identification.selection.held_out import HeldOut
from tauform.wording import argument

# Held-out loss, per joint, that a delay must explain to be mentioned, and to be refused.
MIN_GAIN_TO_MENTION, MIN_GAIN_TO_REFUSE = 0.05, 0.35
MAX_STEPS = 6
# Delays shorter than this many samples are the sampling's own.
FEWEST_SAMPLES_LATE = 1.5


def check_delay(evidence: Evidence, columns: Sequence[int], source: RowSource) -> list[Suspicion]:
    """Suspicions of a delay; the last column of the evidence is minus the torque's time derivative.

    A delay is named only if torques that are shifted by it are explained better on held-out blocks.

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
        return []
    delay, before, after = _followed(source, delay)
    if after > before - MIN_GAIN_TO_MENTION:
        return []
    order = "lag behind" if delay > 0 else "run ahead of"
    sentence = f"torques {order} positions by about {1e3 * abs(delay):.2g} ms"
    if gain > MIN_GAIN_TO_REFUSE:
        raise IdentificationError(
            f"{sentence}, which explains most of what is left unexplained",
            argument="delay",
            remedy="record both with one clock, or shift the torques with " + argument("delay", float(f"{delay:.3g}")),
        )
    shares = [100 * float(np.exp(loss / 2)) for loss in (after, before)]
    figures = f"shifted, they leave {shares[0]:.2g} % unexplained on held-out blocks instead of {shares[1]:.2g} %"
    remedy = f"{argument('delay', float(f'{delay:.2g}'))} shifts them; identify again"
    return [Suspicion(f"{sentence}: {figures}", remedy, SPOILS, is_cause=False)]


def _gain_and_delay(evidence: Evidence, columns: Sequence[int]) -> tuple[float, float]:
    """Held-out loss per joint that a delay saves, and the delay [s]."""
    held_out = HeldOut(evidence)
    last = evidence.n_columns - 1
    held_out.settle_weights(columns)
    gain = (held_out.loss(columns) - held_out.loss([*columns, last])) / evidence.n_joints
    return gain, float(held_out.values([*columns, last])[last])


def _followed(source: RowSource, delay: float) -> tuple[float, float, float]:
    """The delay after shifting by it and looking again, and the held-out loss per joint without and with it.

    One derivative reaches only so far, and loses the highest frequencies: losses compare torques that are shifted.
    """
    columns = range(source.design.n_columns)
    before = _loss(gather(source, source), columns)
    # A first-order column tells small delays; larger ones are followed in steps.
    for _ in range(MAX_STEPS):
        moved = replace(source, segments=tuple(shifted(segment, delay) for segment in source.segments))
        evidence = gather(moved, moved, delay_column=True)
        more = _gain_and_delay(evidence, columns)[1]
        if abs(more) * source.segments[0].rate < 0.5:
            break
        delay += more
    return delay + more, before, _loss(evidence, columns)


def _loss(evidence: Evidence, columns: Sequence[int]) -> float:
    """Mean over the joints of the logarithm of their held-out squares, relative to their torque's."""
    held_out = HeldOut(evidence)
    held_out.settle_weights(columns)
    return float((held_out.loss(columns) - np.log(evidence.torque_squares).sum()) / evidence.n_joints)
