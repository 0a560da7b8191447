"""Gains of drives, from motor currents with and without a load whose mass is known.

Currents alone give every value up to a scale: twice the gains, twice the masses. A known body at the tool fixes it.
The rows are  current_j = (Y_j theta + load_j) / gain_j  with noise on the left only, which a linear least squares in
theta and the gains would have on both sides; so a few Gauss-Newton steps follow it. (Gautier's joint identification of
drive gains and dynamic parameters, by weighted least squares in place of total least squares.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import scipy.linalg

from tauform.arrays import Array, read_only
from tauform.closedform.threads import on_one_thread
from tauform.description.inertia import Inertia
from tauform.description.parameter_groups import Include
from tauform.description.robot import Robot
from tauform.errors import IdentificationError
from tauform.identification.payload import load_regressor
from tauform.identification.recording.recording import Recording
from tauform.identification.recording.segments import uniform_segments
from tauform.identification.regression.design import DEFAULT_INCLUDE, Design
from tauform.identification.regression.estimate import MIN_EXCITED_SINGULAR_VALUE
from tauform.identification.regression.evidence import Evidence, gather
from tauform.identification.regression.rows import RowSource
from tauform.identification.regression.terms import Column
from tauform.identification.signals.differentiate import Smoother
from tauform.identification.signals.filters import Filters, choose_filters
from tauform.identification.verdict.plausibility import check_recordings
from tauform.identification.verdict.validate import inflation_of_filters

# Gauss-Newton from the linear start needs a few steps; more means that the load hardly shows.
MAX_STEPS = 20
MAX_SETTLED_CHANGE = 1e-12


@dataclass(frozen=True, eq=False)
class DriveGains:
    """Torque per unit of current at each joint, and the values found with it.

    Attributes:
        gains: (n,) [N m/A, or per the unit of the currents]; tau = gains * current.
        deviations: (n,) their standard deviations.
        names, values: of the base parameters, then of the robot's further drive terms.
    """

    gains: Array
    deviations: Array
    names: tuple[str, ...]
    values: Array

    def torques(self, recording: Recording) -> Recording:
        """The recording with torques in place of its currents, ready for `tauform.identify`."""
        return replace(recording, tau=np.asarray(recording.tau) * self.gains)


def identify_gains(
    robot: Robot,
    empty: Recording | Sequence[Recording],
    loaded: Recording | Sequence[Recording],
    payload: Inertia,
    *,
    frame: str | None = None,
    include: Include = DEFAULT_INCLUDE,
    filters: Filters | Literal["auto"] | None = "auto",
) -> DriveGains:
    """Identify drive gains together with base parameters and friction.

    Args:
        empty: recordings of the robot without the load; `tau` holds motor currents.
        loaded: the same with the load.
        payload: the load in the tool frame, its mass and centre well known.
        frame: another frame than the tool that carries it.
        include, filters: as in `tauform.identify`.

    Raises:
        RecordingError: a recording is not of this robot.
        IdentificationError: the load shows at too few joints to tell gains from masses.
    """
    groups = [[x] if isinstance(x, Recording) else list(x) for x in (empty, loaded)]
    check_recordings(robot, [*groups[0], *groups[1]])
    everything = [*groups[0], *groups[1]]
    segments = [s for k, recording in enumerate(everything) for s in uniform_segments(recording, k).segments]
    design = Design.of(robot, include, [_load(robot, payload, frame)])
    if design.is_loaded:
        raise IdentificationError(
            f"identify_gains: friction of {robot.name} depends on the torque that its joints carry, which a gain "
            "scales too",
            argument="robot",
            remedy="leave the term out with robot.with_drives([d for d in robot.drives if d.shape != 'load'])",
        )
    chosen = choose_filters(segments) if filters == "auto" else filters
    source = RowSource(design, tuple(segments), chosen, Smoother())
    evidence = gather(source, source)
    # Blocks know their recording: the load's column counts in those with the load only.
    without_load = [k for k, recording in enumerate(evidence.recordings) if recording < len(groups[0])]
    return _solved(design, evidence, without_load, inflation_of_filters(chosen, segments[0].rate))


def _load(robot: Robot, payload: Inertia, frame: str | None) -> Column:
    evaluate = load_regressor(robot, frame)
    return Column("load", lambda q, qd, qdd: evaluate(q, qd, qdd) @ payload.parameters, is_sharp=False)


@on_one_thread
def _solved(design: Design, evidence: Evidence, without_load: Sequence[int], inflation: float) -> DriveGains:
    n, p = evidence.n_joints, evidence.n_columns - 1
    # Triangles of [Y, load, current] a joint; without the load its column is zero.
    triangles = np.array(evidence.triangles)
    # Triangles are linear in their columns: a column that takes no part is zero in them too.
    triangles[list(without_load), :, :, p] = 0.0
    tables = np.swapaxes(triangles, 0, 1).reshape(n, -1, p + 2)
    R = np.array([scipy.linalg.qr(table, mode="r")[0][: p + 2] for table in tables])
    # Linear, but with noise on both sides: a start, which the steps below improve.
    theta, inverse = _started(R)
    for _ in range(MAX_STEPS):
        left, J = _linearized(R, theta, inverse)
        sigma = np.sqrt((left**2).sum(axis=1) / max(1, evidence.n_rows - p // n))
        # Exact currents, as simulations have, leave no residual to weigh by.
        sigma = np.maximum(sigma, 1e-12 * np.sqrt((R[:, :, -1] ** 2).sum(axis=1) / evidence.n_rows))
        A = (J / sigma[:, None, None]).reshape(-1, p + n)
        # Unit columns: masses and gains differ by orders of magnitude.
        size = _sizes(A)
        step = np.linalg.lstsq(A / size, (left / sigma[:, None]).ravel(), rcond=None)[0] / size
        theta, inverse = theta + step[:p], inverse + step[p:]
        if (np.abs(step) <= MAX_SETTLED_CHANGE * np.abs(np.concatenate([theta, inverse])).max()).all():
            break
    else:
        raise IdentificationError(
            f"identify_gains: the gains did not settle in {MAX_STEPS} steps; record a heavier load, with motion of "
            "every joint"
        )
    unit = scipy.linalg.inv((A / size).T @ (A / size)) / np.outer(size, size)
    gains = 1.0 / inverse
    # d(1/x) = -dx / x^2: the steps are in 1 / gain.
    deviations = np.sqrt(inflation * np.diag(unit)[p:]) * gains**2
    return DriveGains(read_only(gains), read_only(np.abs(deviations)), design.names[:p], read_only(theta))


def _started(R: Array) -> tuple[Array, Array]:
    """theta and 1 / gains from Y theta - current gain = -load, linear in both."""
    n, p = len(R), R.shape[2] - 2
    A = np.zeros((n, R.shape[1], p + n))
    # Block by joint: each gain meets the currents of its own joint alone.
    A[:, :, :p] = R[:, :, :p]
    for j in range(n):
        A[j, :, p + j] = -R[j, :, -1]
    A, b = A.reshape(-1, p + n), -R[:, :, p].ravel()
    size = _sizes(A)
    strengths = np.linalg.svd(A / size, compute_uv=False)
    # Without this, twice the gains and twice the masses explain the currents as well.
    if strengths[-1] <= MIN_EXCITED_SINGULAR_VALUE * strengths[0] or not b.any():
        raise IdentificationError(
            "identify_gains: the load does not tell gains from masses; record a heavier one, with motion of every joint"
        )
    found = np.linalg.lstsq(A / size, b, rcond=None)[0] / size
    return found[:p], 1.0 / found[p:]


def _linearized(R: Array, theta: Array, inverse: Array) -> tuple[Array, Array]:
    """Residuals (n, rows) of the currents, and their slopes (n, rows, p + n) with the sign of a step to take."""
    n, p = len(R), len(theta)
    torque = R[:, :, :p] @ theta + R[:, :, p]
    J = np.zeros((n, R.shape[1], p + n))
    # d(current) / d theta = Y / gain; d(current) / d(1 / gain) = Y theta + load.
    J[:, :, :p] = inverse[:, None, None] * R[:, :, :p]
    J[np.arange(n), :, p + np.arange(n)] = torque
    return R[:, :, -1] - inverse[:, None] * torque, J


def _sizes(A: Array) -> Array:
    size = np.linalg.norm(A, axis=0)
    return np.where(size > 0, size, 1.0)
