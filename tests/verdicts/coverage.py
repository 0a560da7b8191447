"""How often the truth lies within the 95 % intervals of a fit, for torque noise of several colours."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

import tauform as tf
from tauform.arrays import Array
from verdicts.stands import Stand, slowly_changing, stand

# Half width of a 95 % interval, in standard deviations.
NORMAL_95 = 1.96
# Correlation times of the torque noise [s]: white, that of a current loop, and what slips and temperatures do.
COLOURS = (0.0, 0.05, 0.2, 0.5, 1.0)


@dataclass(frozen=True, eq=False)
class Coverage:
    """What became of the values of one stand.

    Attributes:
        correlation: time of the noise [s].
        z: (p,) errors over deviations.
        groups: (p,) of the parameters.
    """

    correlation: float
    kind: str
    z: Array
    groups: tuple[str, ...]

    @property
    def inside(self) -> Array:
        """(p,) whether the truth lies within the interval."""
        return np.asarray(np.abs(self.z) < NORMAL_95)


def coverage(seed: int, correlation: float) -> Coverage:
    """A stand with sharp Coulomb friction, so that the true values are those of the fitted columns."""
    own = stand(seed)
    true = replace(own.true, joints=tuple(replace(joint, coulomb_width=0.0) for joint in own.true.joints))
    fit = tf.identify(own.described, _recording(own, true, correlation), friction="plain", couplings=None)
    z = (fit.values - fit.design.values_of(true)) / fit.deviations
    return Coverage(correlation, own.kind, z, tuple(str(own.group) for own in fit.base.parameters))


def _recording(own: Stand, true: tf.Robot, correlation: float) -> tf.Recording:
    states = own.states(0)
    tau = tf.inverse_dynamics(true, states["q"], states["qd"], states["qdd"])
    rng = np.random.default_rng([own.seed, 9])
    q = states["q"] + own.position_noise * rng.normal(size=tau.shape)
    noise = rng.normal(size=tau.shape)
    if correlation:
        noise = slowly_changing(noise, correlation * own.rate)
    return tf.Recording(states["t"], q, tau + np.sqrt(2) * own.torque_noise * noise)


def coverage_table(found: Iterable[Coverage]) -> list[str]:
    """Lines: per colour how many of 100 true values lie within their intervals, of all and by motion and group."""
    by_colour: dict[float, list[Coverage]] = {}
    for one in found:
        by_colour.setdefault(one.correlation, []).append(one)
    columns = ("fourier", "trapezoid", "link", "rotor", "viscous", "coulomb", "offset")
    lines = ["{:>16} {:>7} {:>6}".format("correlation time", "values", "all") + "".join(f"{x:>11}" for x in columns)]
    for colour, those in by_colour.items():
        inside = np.concatenate([one.inside for one in those])
        labels = np.concatenate([[(one.kind, group) for group in one.groups] for one in those])
        shares = [inside[(labels == column).any(axis=1)] for column in columns]
        shown = "".join(f"{100 * x.mean():11.1f}" if len(x) else f"{'-':>11}" for x in shares)
        lines.append(f"{colour:14.2f} s {len(inside):7} {100 * inside.mean():6.1f}{shown}")
    return lines
