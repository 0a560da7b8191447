"""Validation by simulation: the fitted model moves, and its positions are compared with the recorded ones.

Closed loop, the model is driven by the controller that drove the robot, along the recorded reference. Open loop, it is
driven by the recorded torques; errors then grow as those of a double integrator do, so each stretch starts anew.
Joints that rest throughout the recording are held: brakes and friction at rest carry what no model tells.
[Izaguirre1992, section 7.2]
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from tauform.arrays import AnyArray, Array
from tauform.errors import IdentificationError
from tauform.identification.fitted.model import FittedModel
from tauform.identification.motion.bounds import one_per_joint
from tauform.identification.recording.recording import Recording
from tauform.identification.recording.rest import resting, sampled
from tauform.identification.recording.segments import Segment, resampled, uniform_segments
from tauform.identification.signals.differentiate import Smoother
from tauform.identification.signals.filters import choose_filters
from tauform.identification.verdict.plausibility import check_recordings
from tauform.wording import argument

# A sharp sign of friction would make a simulation chatter at rest; it is smoothed over this part of each joint's
# largest speed.
SMOOTHED_SPEED_SHARE = 2e-3
# Longest step of a simulation [s].
MAX_STEP = 2e-3
# Seconds after which an open loop starts anew.
USUAL_HORIZON = 0.5
# Change of a velocity, relative to the speed that friction is smoothed over, that slopes are taken from.
VELOCITY_CHANGE_SHARE = 1e-2
# Change of an acceleration [rad/s^2 or m/s^2] that the mass matrix is taken from.
ACCELERATION_CHANGE = 1e-2


@dataclass(frozen=True, eq=False)
class Resimulation:
    """Positions of the model beside those of the robot.

    Attributes:
        t: (N,) time [s].
        q: (N, n) positions of the model [rad or m].
        measured: (N, n) recorded positions, smoothed.
        starts: (K,) times at which the model was put where the robot was.
        horizon: seconds from one start to the next.
        held: (n,) joints that rest throughout the recording, and in the simulation too.
    """

    t: Array
    q: Array
    measured: Array
    starts: Array
    horizon: float
    held: AnyArray

    @property
    def rms(self) -> Array:
        """(n,) RMS difference of the positions [rad or m]."""
        return np.sqrt(((self.q - self.measured) ** 2).mean(axis=0))

    @property
    def largest(self) -> Array:
        """(n,) largest difference [rad or m]."""
        return np.abs(self.q - self.measured).max(axis=0)

    @property
    def relative(self) -> Array:
        """(n,) largest difference over the joint's travel, as Izaguirre1992 states it; 0 of joints that are held."""
        return np.where(self.held, 0.0, self.largest / np.maximum(np.ptp(self.measured, axis=0), 1e-300))


def validate_by_simulation(
    fit: FittedModel,
    recording: Recording,
    *,
    stiffness: ArrayLike | None = None,
    damping: ArrayLike | None = None,
    feedforward: bool = False,
    horizon: float | None = None,
) -> Resimulation:
    """Simulate the fitted model along a recording and compare positions.

    Args:
        recording: of the robot, with the commanded positions (reference) for a closed loop.
        stiffness: (n,) or one gain of the controller tau = stiffness (reference - q) + damping (its rate - qd); None
            drives the model by the recorded torques instead.
        damping: (n,) the same, for velocities.
        feedforward: the controller also commands the fit's own torque along the reference.
        horizon: seconds after which the model is put back where the robot was; by default 0.5 s open loop, and never
            closed loop.

    Raises:
        RecordingError: the recording is not of this robot.
        IdentificationError: a closed loop without reference, one gain without the other or not one per joint, a horizon
            that is no time, friction that depends on a temperature which was not recorded, or a model that runs away.
    """
    check_recordings(fit.robot, [recording], may_rest=True)
    if (stiffness is None) != (damping is None):
        raise IdentificationError("validate_by_simulation: give both stiffness and damping, or neither")
    if stiffness is not None and recording.reference is None:
        raise IdentificationError(
            f"{recording.name}: a closed loop follows the commanded positions (Recording.reference); record them, or "
            "leave the gains out for an open loop"
        )
    if fit.design.is_thermal and recording.temperature is None:
        raise IdentificationError(
            f"{recording.name}: friction of the fit depends on temperature (Recording.temperature)", remedy="record it"
        )
    if horizon is not None and not 0 < horizon < np.inf:
        raise IdentificationError(f"horizon: expected a positive time [s], got {horizon!r}")
    gains = None
    if stiffness is not None and damping is not None:
        n = fit.robot.n_joints
        gains = one_per_joint(stiffness, n, "stiffness"), one_per_joint(damping, n, "damping")
    held = resting(fit.robot, sampled(recording.q))
    parts = [
        _simulated(fit, _Motion.of(fit, segment, gains is not None, feedforward), gains, horizon, held)
        for segment in uniform_segments(recording).segments
    ]
    t, q, measured, starts = (np.concatenate(column) for column in zip(*parts, strict=True))
    # One start: the horizon is the whole recording.
    apart = horizon or (USUAL_HORIZON if gains is None else float(t[-1] - t[0]))
    return Resimulation(t, q, measured, starts, apart, held)


@dataclass(frozen=True, eq=False)
class _Motion:
    """A segment in steps of a simulation: states at their ends, and what drives the model in their midst.

    Attributes:
        step: length of a step [s].
        t: (N,) time.
        q, qd: (N, n) smoothed states.
        tau: (N - 1, n) mean of the recorded torque over each step, or what is commanded beside the controller.
        reference, rate: (N - 1, n) commanded motion in the midst of each step; zero where none was recorded.
        temperature: (N - 1, n) recorded temperature there; None where none was recorded.
    """

    step: float
    t: Array
    q: Array
    qd: Array
    tau: Array
    reference: Array
    rate: Array
    temperature: Array | None

    @classmethod
    def of(cls, fit: FittedModel, segment: Segment, controlled: bool, feedforward: bool) -> _Motion:
        filters = None if fit.filters is None else choose_filters([segment])
        everything = slice(0, segment.n_samples)
        q, qd, _ = Smoother().states(segment, everything, filters)
        settle = 0.0 if filters is None else filters.settle
        # Whole steps per sample, none longer than the longest allowed.
        step = 1.0 / segment.rate / np.ceil(1.0 / segment.rate / MAX_STEP)
        t = np.arange(segment.t[0] + settle, max(segment.t[-1] - settle, segment.t[0] + settle + 2 * step), step)
        middle = (t[1:] + t[:-1]) / 2
        commanded = replace(segment, q=segment.q if segment.reference is None else segment.reference, qd=None, qdd=None)
        wanted = [resampled(middle, segment.t, x) for x in Smoother().states(commanded, everything, None)]
        # Resampling the integral keeps every impulse, which resampling the torque itself would not.
        impulse = np.cumsum(np.asarray(segment.tau, dtype=np.float64), axis=0) / segment.rate
        tau = np.diff(resampled(t, segment.t + 0.5 / segment.rate, impulse), axis=0) / step
        recorded = segment.temperatures(everything)
        warm = None if recorded is None else resampled(middle, segment.t, recorded)
        if controlled:
            tau = fit.predict(wanted[0], wanted[1], wanted[2], warm, tier=1) if feedforward else np.zeros_like(tau)
        q, qd = resampled(t, segment.t, q), resampled(t, segment.t, qd)
        return cls(float(step), t, q, qd, tau, wanted[0], wanted[1], warm)


def _simulated(
    fit: FittedModel, motion: _Motion, gains: tuple[Array, Array] | None, horizon: float | None, held: AnyArray
) -> tuple[Array, Array, Array, Array]:
    """Time, positions of the model, recorded positions, and starts; all stretches move at once."""
    count = len(motion.t) - 1
    length = count if horizon is None and gains else max(1, round((horizon or USUAL_HORIZON) / motion.step))
    # Whole stretches only; a recording shorter than one is a stretch itself.
    starts = np.arange(0, count - count % length or 1, length)
    model = _without_jumps(fit, motion.qd)
    q, qd = motion.q[starts], np.where(held, 0.0, motion.qd[starts])
    shown = [q]
    for k in range(min(length, count)):
        now = starts + k
        tau = motion.tau[now]
        stiffness, damping = gains if gains is not None else (np.zeros(q.shape[1]), np.zeros(q.shape[1]))
        if gains is not None:
            # The controller sees the middle of the step, as the trapezoidal rule evaluates it.
            middle = q + motion.step / 2 * qd
            tau = tau + stiffness * (motion.reference[now] - middle) + damping * (motion.rate[now] - qd)
        warm = None if motion.temperature is None else motion.temperature[now]
        system = _System(model, motion.step, stiffness, damping, held)
        q, qd = system.stepped(q, qd, tau, warm)
        # NaN fails the comparison too.
        if not np.abs(q).max() < 1e3:
            raise IdentificationError(_runaway(fit, gains is not None))
        shown.append(q)
    place = (starts[:, None] + np.arange(len(shown))).ravel()
    return motion.t[place], np.stack(shown, axis=1).reshape(-1, q.shape[1]), motion.q[place], motion.t[starts]


def _runaway(fit: FittedModel, controlled: bool) -> str:
    remedies = ["check the controller's gains" if controlled else "give a shorter horizon"]
    if fit.physical is None:  # a mass matrix that is not positive definite pushes the wrong way
        remedies.insert(0, f"take a physically consistent fit, {argument('physical', True)}")
    return f"the model runs away; {', or '.join(remedies)}"


@dataclass(frozen=True, eq=False)
class _System:
    """The fitted model under a controller, and how it moves on by one step.

    Attributes:
        model: whose friction has no jumps.
        step: [s].
        stiffness, damping: (n,) of the controller.
        held: (n,) joints that do not move.
    """

    model: FittedModel
    step: float
    stiffness: Array
    damping: Array
    held: AnyArray

    def stepped(self, q: Array, qd: Array, tau: Array, temperature: Array | None) -> tuple[Array, Array]:
        """Positions and velocities (K, n) one step later, by the linearly implicit trapezoidal rule.

        (M + h/2 (D + damping) + h^2/4 stiffness) dv = h (tau - b): stable however steep friction is at rest.
        """
        qdd: Array = np.zeros_like(q)
        # Friction by load bends where what a joint carries changes its sign: once more, about the acceleration found.
        for _ in range(2 if self.model.design.is_loaded else 1):
            # Implicit in velocities: stiff gains and friction of small widths would need tiny explicit steps.
            M, D, rest = self._linearized(q + self.step / 2 * qd, qd, qdd, temperature)
            A = M + self.step / 2 * (D + np.diag(self.damping)) + self.step**2 / 4 * np.diag(self.stiffness)
            # Rows and columns of held joints are those of the identity: whatever holds them is not asked for.
            A = np.where(self.held[:, None] | self.held, np.eye(q.shape[1]), A)
            push = np.where(self.held, 0.0, self.step * (tau - rest))
            change = np.linalg.solve(A, push[..., None])[..., 0]
            qdd = np.asarray(change / self.step)
        return q + self.step * (qd + change / 2), qd + change

    def _linearized(self, q: Array, qd: Array, qdd: Array, temperature: Array | None) -> tuple[Array, Array, Array]:
        """Slopes M by accelerations and D by velocities, (K, n, n), and the torque (K, n) at no acceleration."""
        n = q.shape[1]
        design = self.model.design
        small = VELOCITY_CHANGE_SHARE * np.maximum(np.array(design.widths), 1e-9) @ np.abs(design.robot.tree_rates)
        # n + 1 of these states give the mass matrix, n more the slopes D.
        many, rates, accelerations = (np.repeat(x[:, None], 2 * n + 1, axis=1) for x in (q, qd, qdd))
        rates[:, n + 1 :] += np.diag(small)
        accelerations[:, 1 : n + 1] += ACCELERATION_CHANGE * np.eye(n)
        warm = None if temperature is None else np.repeat(temperature, 2 * n + 1, axis=0)
        flat_q, flat_qd, flat_qdd = (x.reshape(-1, n) for x in (many, rates, accelerations))
        # By a kernel, once the work done pays for one.
        torques = self.model.predict(flat_q, flat_qd, flat_qdd, warm).reshape(many.shape)
        M = np.swapaxes(torques[:, 1 : n + 1] - torques[:, :1], 1, 2) / ACCELERATION_CHANGE
        D = np.swapaxes(torques[:, n + 1 :] - torques[:, :1], 1, 2) / small
        # At no acceleration: tau = M qdd + rest.
        return M, D, torques[:, 0] - (M @ qdd[..., None])[..., 0]


def _without_jumps(fit: FittedModel, qd: Array) -> FittedModel:
    """The same model with every sharp sign smoothed over a small speed."""
    design = fit.own_design
    smallest = SMOOTHED_SPEED_SHARE * np.abs(qd @ design.robot.tree_rates.T).max(axis=0)
    widths = [max(width, least) for width, least in zip(design.widths, smallest, strict=True)]
    return replace(fit, design=design.with_widths(widths))
