"""The body at the tool, from a recording with it and a fit without it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tauform.arrays import AnyArray, Array, read_only
from tauform.description.inertia import LINK_PARAMETERS, Inertia, parameter_transform
from tauform.description.robot import Robot
from tauform.errors import IdentificationError
from tauform.identification.fit import Fit
from tauform.identification.recording.recording import Recording
from tauform.identification.recording.rest import resting, sampled, stilled
from tauform.identification.recording.segments import uniform_segments
from tauform.identification.regression.evidence import gather
from tauform.identification.regression.rows import RowSource
from tauform.identification.regression.terms import Column
from tauform.identification.signals.differentiate import Smoother
from tauform.identification.signals.filters import choose_filters
from tauform.identification.verdict.carried import MAX_SETTLED_SHARE_OF_DEVIATION, MOST_PASSES
from tauform.identification.verdict.plausibility import check_recordings
from tauform.identification.verdict.validate import inflation_of, inflation_of_filters, residuals_of
from tauform.rigidbody.regressor import regressor

# Moments about the tool are taken to be of this size [m, relative to the mass found] where the motion is silent.
TYPICAL_RADIUS = 0.1
N_INERTIAL = len(LINK_PARAMETERS)
# A mass that deviates by more of itself is not known from the motion.
MAX_DEVIATION_OF_KNOWN_MASS = 0.25


@dataclass(frozen=True, eq=False, repr=False)
class PayloadEstimate:
    """Inertia that is carried, in the tool frame.

    Attributes:
        inertia: mass, first moments and inertia tensor about the tool's origin.
        covariance: (10, 10) in the order m, mx, my, mz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz: of the recording's noise, of the
            values of the fit without the load, and of what the motion leaves open.
        gain: what share of the torque's change it explains.
    """

    inertia: Inertia
    covariance: Array
    gain: float

    @property
    def deviations(self) -> Array:
        """(10,) standard deviations, in the order of the covariance."""
        return np.sqrt(np.diag(self.covariance))

    @property
    def mass(self) -> float:
        """[kg]."""
        return self.inertia.mass

    @property
    def com(self) -> Array:
        """(3,) in the tool frame [m]."""
        return self.inertia.com

    def __repr__(self) -> str:
        place = ", ".join(f"{x:.4g}" for x in self.com)
        return (
            f"PayloadEstimate({self.mass:.4g} +- {self.deviations[0]:.2g} kg at ({place}) m, explains {self.gain:.1%} "
            "of the torque's change)"
        )

    def __str__(self) -> str:
        if self.deviations[0] <= MAX_DEVIATION_OF_KNOWN_MASS * self.mass:
            return repr(self)
        # A wrist alone feels m c, and weight only through joints before it.
        own = zip(self.inertia.parameters[1:4], self.deviations[1:4], strict=True)
        moments = ", ".join(f"{x:.3g} +- {deviation:.1g}" for x, deviation in own)
        return (
            f"{self!r}\nThe motion hardly tells the mass: first moments are ({moments}) kg m; let joints move whose "
            "torque feels the weight itself"
        )


def identify_payload(fit: Fit, loaded: Recording, frame: str | None = None) -> PayloadEstimate:
    """Identify the body at the tool (or another frame) from a recording with it.

    Joints may rest throughout, those before the wrist for one: the torque that holds them then tells the body up to
    their friction, which may have any value between plus and minus Fc.

    Args:
        fit: of the robot without it.
        loaded: recording with it.
        frame: where it sits; the tool by default.

    Raises:
        RecordingError: the recording is not of this robot.
        IdentificationError: no load shows, or no joint moves.
    """
    check_recordings(fit.robot, [loaded], may_rest=True)
    rests = resting(fit.robot, sampled(loaded.q))
    segments = tuple(stilled(segment, rests) for segment in uniform_segments(loaded).segments)
    holding = _holding_columns(rests)
    # A loaded arm moves more slowly: filters of the empty one would not suit it.
    filters = None if fit.filters is None else choose_filters(segments)

    def estimated(carrier: Robot) -> PayloadEstimate:
        design = fit.design.carried_by(carrier) if fit.design.is_loaded else fit.design
        with_load = design.with_terms([*fit.design.terms, *load_columns(fit.design.robot, frame), *holding])
        return _estimate(fit, RowSource(with_load, segments, filters, Smoother()), rests)

    found = estimated(fit.carrier)
    # Friction by load grows with what the joints carry, and that is the body too: both are found in turn.
    for _ in range(MOST_PASSES if fit.design.is_loaded else 0):
        before, found = found, estimated(fit.carrier.with_payload(found.inertia, frame))
        change = np.abs(found.inertia.parameters - before.inertia.parameters)
        if (change <= MAX_SETTLED_SHARE_OF_DEVIATION * found.deviations).all():
            break
    return found


def _holding_columns(rests: AnyArray) -> list[Column]:
    """A constant torque for each joint at rest: its friction there."""
    return [
        Column(f"holding_{j + 1}", lambda q, qd, qdd, j=j: np.eye(q.shape[1])[j] + 0.0 * q, is_sharp=False)  # type: ignore[misc]
        for j in np.flatnonzero(rests)
    ]


def _estimate(fit: Fit, source: RowSource, rests: AnyArray) -> PayloadEstimate:
    """The body whose ten columns stand behind those of the fit, and before those of friction at rest."""
    rows, rate = source.kept(), source.segments[0].rate
    evidence = gather(rows, source)
    friction = _friction_at_rest(fit, rests)
    # Rows at rest scatter by their friction too, which changes whenever the joint gives way a little.
    p, weights = len(fit.values), 1.0 / np.sqrt(fit.sigma**2 + friction**2)
    stack = evidence.stacked(weights)
    # What the fit explains is taken off first; the rest is the body's.
    # A: columns of the fit, L: of the body and of friction at rest, all weighted by 1 / sigma of the joints.
    A, L, left = stack[:, :p], stack[:, p:-1], stack[:, -1] - stack[:, :p] @ fit.values
    prior = _compact_body(L, left, friction[rests])
    # Ridge towards a compact body: ten parameters, of which slow motion shows four.
    spread = np.linalg.inv(L.T @ L + prior)
    values = spread @ (L.T @ left)
    everything = np.concatenate([fit.values, values])
    inflation = inflation_of(residuals_of(everything, rows, rate), inflation_of_filters(source.filters, rate))
    noise = np.sqrt(evidence.residual_squares(everything).sum(axis=0) / max(1, evidence.n_rows) * inflation)
    # Rows that scatter, values of the fit that are off by what its covariance says, and what only the prior tells.
    scatter = evidence.stacked(weights**2 * noise)[:, p:-1]
    # Sandwich: (L^T L + prior)^-1 (what scatters) (L^T L + prior)^-1.
    covariance = spread @ (scatter.T @ scatter + L.T @ A @ fit.covariance @ A.T @ L + prior) @ spread
    after = left - L @ values
    gain = float(1 - (after @ after) / (left @ left))
    return PayloadEstimate(Inertia(values[:N_INERTIAL]), read_only(covariance[:N_INERTIAL, :N_INERTIAL]), gain)


def _friction_at_rest(fit: Fit, rests: AnyArray) -> Array:
    """(n,) largest friction of the joints at rest, at least as large as the noise of their torque; 0 of the others."""
    coulomb = {joint.name: abs(joint.coulomb or 0.0) for joint in fit.carrier.joints}
    sizes = np.array([coulomb[name] for name in fit.robot.joint_names])
    return np.where(rests, np.maximum(sizes, fit.sigma), 0.0)


def _compact_body(L: Array, left: Array, friction: Array) -> Array:
    """Inverse covariance (10 + resting joints) that keeps what the motion leaves open near a compact body.

    Args:
        friction: of each joint at rest.
    """
    holding = np.diag(1.0 / friction)
    # Mass and first moments alone: gravity shows them even in slow motion. Where joints rest, the
    # others are fast, and torques of inertias would pass for a mass.
    n = N_INERTIAL if len(friction) else 4
    few = np.concatenate([L[:, :n], L[:, N_INERTIAL:]], axis=1)
    few = np.concatenate([few, np.concatenate([np.zeros((len(holding), n)), holding], axis=1)])
    mass = float(np.linalg.lstsq(few, np.append(left, 0.0 * friction), rcond=None)[0][0])
    if mass <= 0:
        raise IdentificationError(
            "no load shows: the torques are those of the empty robot; check which recording is which"
        )
    # Mass and first moments are left free; inertias have the size of a body of 0.1 m about the tool.
    deviation = mass * np.array([1e3, *[1e3 * TYPICAL_RADIUS] * 3, *[TYPICAL_RADIUS**2] * 6])
    return np.diag(np.append(deviation, friction) ** -2)


def load_regressor(robot: Robot, frame: str | None = None) -> Callable[[Array, Array, Array], Array]:
    """Function of states: (N, n, 10) torques of each parameter of a body at the tool."""
    place = robot.tool if frame is None else robot.frame(frame)
    if place.link < 0:
        raise IdentificationError(f"frame {place.name!r} sits on the base and carries nothing that moves")
    # A body has no friction: its columns are those of links alone.
    links = robot.without_drives()
    own, link_from_frame = links.layout.link(place.link), parameter_transform(place.link_from_frame)
    # Parameters of the body move to the link's frame by a constant matrix: its columns are their combinations.
    return lambda q, qd, qdd: regressor(links, q, qd, qdd)[..., own] @ link_from_frame


def load_columns(robot: Robot, frame: str | None = None) -> list[Column]:
    """The ten columns of `load_regressor`, evaluated together: they are asked for one after the other."""
    evaluate = load_regressor(robot, frame)
    # The states are held with their torques, so that no later array can take their place in memory and pass for them.
    last: list[tuple[tuple[Array, Array, Array], Array]] = []

    def torques(*states: Array) -> Array:
        if not last or any(x is not y for x, y in zip(states, last[0][0], strict=True)):
            last[:] = [(states, evaluate(*states))]  # type: ignore[list-item]
        return last[0][1]

    return [
        Column(f"load_{name}", lambda q, qd, qdd, k=k: torques(q, qd, qdd)[..., k], is_sharp=False)  # type: ignore[misc]
        for k, name in enumerate(LINK_PARAMETERS)
    ]
