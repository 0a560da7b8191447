"""Gravity's direction from all rows: refined where a hypothesis says that it is not the described one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from tauform.arrays import Array
from tauform.closedform.threads import on_one_thread
from tauform.description.robot import Robot
from tauform.errors import TauformError
from tauform.identification.diagnosis.direction import (
    NORMAL_95,
    Direction,
    across,
    links_of,
    settled_direction,
    turning_columns,
)
from tauform.identification.diagnosis.samples import sampled
from tauform.identification.regression.colour import coloured
from tauform.identification.regression.design import Design
from tauform.identification.regression.estimate import least_squares
from tauform.identification.regression.evidence import gather
from tauform.identification.regression.rows import RowSource
from tauform.identification.regression.terms import Column
from tauform.identification.selection.chosen import chosen_regression
from tauform.identification.signals.filters import correlation_of_filters

# States on which a direction settles.
N_STATES = 800


@on_one_thread
def measured_direction(
    start: Array, robot: Robot, plain: Callable[[Robot], Design], source: RowSource, auto: tuple[bool, bool]
) -> Direction:
    """The direction of gravity that explains the torques best, with the covariance that any value of a fit has.

    Args:
        start: a direction near it [m/s^2].
        plain: columns of a robot, without terms that are chosen.
        auto: whether friction and couplings are chosen on held-out blocks, anew under that direction.
    """
    near = Direction(np.asarray(robot.gravity), start)
    try:
        found = settled_direction(near, plain, robot, sampled(source, N_STATES))
        turned = robot.with_gravity(found.gravity)
        # What a fault made seem a spring is none under the right gravity.
        regression, _, _ = chosen_regression(replace(source, design=plain(turned)), *auto, True, lambda words: None)
        values = least_squares(regression.evidence).values
        found = _with_covariance(found, regression.design, regression.stretches, values)
    except TauformError:  # the motion leaves it open
        return near
    # Without the described masses the motion may tell less than it does with them.
    return found if NORMAL_95 * found.deviation < found.angle else near


def _with_covariance(found: Direction, design: Design, source: RowSource, values: Array) -> Direction:
    links = links_of(design, values)
    turns = [Column(f"turn {k + 1}", partial(_turning, links, found.gravity, k), is_sharp=False) for k in range(2)]
    own = replace(source, design=design.with_terms([*design.terms, *turns]))
    rows = own.kept()
    evidence = gather(rows, own)
    estimate = least_squares(evidence)
    of_filters = correlation_of_filters(source.filters, source.segments[0].rate)
    covariance = estimate.covariance(coloured(evidence, estimate, rows, of_filters))[-2:, -2:]
    # The frame across the direction turns with it, by less than its own deviation.
    moved = found.turned(estimate.values[-2:])
    frame = across(moved.gravity) @ across(found.gravity).T
    return replace(moved, covariance=frame @ covariance @ frame.T)


def _turning(links: Robot, gravity: Array, k: int, q: Array, qd: Array, qdd: Array) -> Array:
    return turning_columns(links, gravity, q)[..., k]
