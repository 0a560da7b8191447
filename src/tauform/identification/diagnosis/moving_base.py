"""A base that moves: a lift, a cart or a locked joint below the arm, of which the log has no column.

What carries the arm accelerates by an unknown a(t) along a direction e; every joint feels it as gravity that changes,

    tau - A x = b(q) a(t),   b(q): torque of the identified links under gravity along e.

a(t) is found for each joint from what all the *others* leave shortly before and after: torque sensors share no noise,
and an encoder's, which reaches several joints, is forgotten by then. What is left is a motion that they have in common.
"""

from __future__ import annotations

import numpy as np

from tauform.arrays import Array
from tauform.closedform.threads import on_one_thread
from tauform.identification.diagnosis.direction import links_of
from tauform.identification.diagnosis.samples import sampled
from tauform.identification.diagnosis.suspicion import SPOILS, Suspicion
from tauform.identification.regression.design import Design
from tauform.identification.regression.rows import RowSource
from tauform.rigidbody.gravity import gravity_torque
from tauform.wording import argument

# States that decide; on either side of one, those that share its acceleration, but for the nearest, which share noise.
N_STATES, N_NEIGHBOURS, N_NEAREST = 3000, 8, 2
# Sizes of accelerations that are expected [m/s^2]: the likelier small, the less noise is taken for one.
EXPECTED = (0.3, 0.1, 0.03, 0.01)
# Fall of the sum of the logarithms of squares; on simulated robots that stand it came to 0.02 at most.
MIN_LOG_GAIN = 0.08
# Fewest joints that can tell of one another.
FEWEST_JOINTS = 3
AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


@on_one_thread
def find_moving_base(design: Design, values: Array, source: RowSource) -> list[Suspicion]:
    """A suspicion that names the direction in which the base accelerates."""
    robot = design.robot
    if robot.closure is not None or design.is_thermal or design.is_loaded or robot.n_joints < FEWEST_JOINTS:
        return []
    s = sampled(source, N_STATES)
    left = s.tau - design.columns(s.q, s.qd, s.qdd) @ values
    size = np.sqrt((left**2).mean(axis=0))
    links = links_of(design, values)
    tried = {axis: _common(gravity_torque(links.with_gravity(e), s.q) / size, left / size) for axis, e in AXES.items()}
    axis = max(tried, key=lambda name: tried[name][0])
    gain, acceleration, explained = tried[axis]
    if gain < MIN_LOG_GAIN:
        return []
    j = int(np.argmax(explained))
    # A joint further out leaves what all that follow it have in common, too: every locked one may be the cause.
    held = f": {', '.join(own.name for own in robot.held)}" if robot.held else ""
    what = (
        f"something moves that the description holds still (a lift or cart below, or a locked joint{held}): "
        f"torques are as if the base accelerated along {axis} by about {acceleration:.2g} m/s^2; found at the other "
        f"joints, that explains {100 * explained[j]:.0f} % of the squared error of {robot.joint_names[j]}"
    )
    remedy = f"record while it stands, or describe what moves it as a joint (see {argument('lock')})"
    return [Suspicion(what, remedy, SPOILS, is_cause=False)]


def _common(felt: Array, left: Array) -> tuple[float, float, Array]:
    """Gain of an acceleration that all joints feel, its RMS, and the share of squares that it explains at each joint.

    Args:
        felt, left: (N, n) torque for an acceleration of one, and what is to be explained, in sizes of its noise.
    """
    squares, products = (_over_neighbours(x) for x in (felt**2, felt * left))
    best = -np.inf, 0.0, np.zeros(left.shape[1])
    for expected in EXPECTED:
        # of all joints but each
        others = (products.sum(axis=1, keepdims=True) - products) / (
            squares.sum(axis=1, keepdims=True) - squares + expected**-2
        )
        ratio = ((left - felt * others) ** 2).sum(axis=0) / np.maximum((left**2).sum(axis=0), 1e-300)
        gain = -float(np.log(np.maximum(ratio, 1e-300)).sum())
        if gain > best[0]:
            together = products.sum(axis=1) / (squares.sum(axis=1) + expected**-2)
            best = gain, float(np.sqrt((together**2).mean())), 1 - ratio
    return best


def _over_neighbours(x: Array) -> Array:
    """Sums over the states shortly before and after each."""
    sums = np.concatenate([np.zeros((1, x.shape[1])), np.cumsum(x, axis=0)])
    here = np.arange(len(x))

    def within(reach: int) -> Array:
        return np.asarray(sums[np.minimum(here + reach + 1, len(x))] - sums[np.maximum(here - reach, 0)])

    return within(N_NEIGHBOURS) - within(N_NEAREST)
