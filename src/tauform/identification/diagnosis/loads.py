"""Loads that a robot carries in some of its recordings alone, or in those that judge the fit.

With the columns A of a fit and those of a body at the last link, L: tau = A x + L y in these recordings.
"""

from __future__ import annotations

import numpy as np

from tauform.arrays import Array
from tauform.closedform.threads import on_one_thread
from tauform.description.robot import Robot
from tauform.identification.diagnosis.regression import NormalProducts
from tauform.identification.diagnosis.samples import Samples, sampled
from tauform.identification.diagnosis.suspicion import SPOILS, Suspicion
from tauform.identification.diagnosis.trial import Trial
from tauform.identification.regression.design import Design
from tauform.identification.regression.rows import RowSource
from tauform.rigidbody.regressor import regressor

# States that decide: small faults hide in few.
N_STATES = 800
# A load is named where it takes away this share of the squares at least: its ten columns explain something by chance.
MIN_SHARE_OF_LOAD = 0.3
# Share of the squared error of a validation recording that a load may leave, where noise does not leave more.
MAX_SHARE_LEFT = 0.05
# A load's mass is known where it is so many times its spread.
MIN_SPREADS_OF_MASS = 3.0


@on_one_thread
def find_other_loads(robot: Robot, design: Design, source: RowSource) -> list[Suspicion]:
    """Suspicions of a load that the robot carries in some of its recordings alone."""
    several = sorted({segment.recording for segment in source.segments})
    if len(several) < 2 or robot.closure is not None or design.is_thermal or design.is_loaded:
        return []
    s = sampled(source, N_STATES)
    A, L = design.columns(s.q, s.qd, s.qdd), _load(robot, s)
    plain = NormalProducts.of(A, s.tau, s.folds)
    loaded = ((plain.beside(A, L * (s.recording == k)[:, None, None], s.tau, s.folds), k) for k in several)
    trials = [(Trial.of(products, L.shape[-1], plain.held_out), k) for products, k in loaded]
    trial, k = max(trials, key=lambda each: each[0].gain)
    if trial.explained < MIN_SHARE_OF_LOAD:
        return []
    more, which = float(trial.values[0]), f"recording {k + 1}"
    if more < 0 and len(several) == 2:  # less in one is more in the other
        more, which = -more, f"recording {several[several.index(k) - 1] + 1}"
    about = f" of about {more:.2g} kg" if more > MIN_SPREADS_OF_MASS * float(trial.spreads[0]) else ""
    what = f"{which} carries a load{about} that the others do not: {trial.figure(robot.joint_names)}"
    remedy = "identify recordings with and without the load apart, or describe the load"
    return [Suspicion(what, remedy, SPOILS, is_cause=False)]


@on_one_thread
def find_load_of(robot: Robot, design: Design, values: Array, source: RowSource, expected: float) -> list[Suspicion]:
    """Suspicions of a load in validation recordings, which the fit has not seen.

    Args:
        values: of the fit, which are taken as they are.
        expected: share of the squared error that stays where the load is all that differs.
    """
    if robot.closure is not None or design.is_thermal or design.is_loaded:
        return []
    s = sampled(source, N_STATES)
    left = s.tau - design.columns(s.q, s.qd, s.qdd) @ values
    products = NormalProducts.of(_load(robot, s), left, s.folds)
    share = float(np.exp(np.log(np.maximum(products.held_out, 1e-300)).mean()))
    # A load explains something of any other arm: it has to explain all that is new.
    if share > max(MAX_SHARE_LEFT, expected) or share > 1 - MIN_SHARE_OF_LOAD:
        return []
    masses = products.left_out[:, 0]
    mass, spread = float(products.values[0]), float(np.sqrt((len(masses) - 1) * masses.var()))
    if abs(mass) < MIN_SPREADS_OF_MASS * spread:
        return []
    carries = f"carries a load of about {abs(mass):.2g} kg" if mass > 0 else f"lacks about {abs(mass):.2g} kg"
    what = (
        f"in the validation recordings the last link {carries} beside what it has in the fitted ones: that explains "
        f"{100 * (1 - share):.0f} % of the squared error there"
    )
    return [Suspicion(what, "validate with the load of the fitted recordings, or fit both", SPOILS, is_cause=False)]


def _load(robot: Robot, s: Samples) -> Array:
    """(N, n, 10) of a body at the last link."""
    return regressor(robot, s.q, s.qd, s.qdd)[:, :, robot.layout.link(robot.n_bodies - 1)]
