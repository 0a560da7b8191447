"""What a fit leaves at its joints: noise of the sensors, or a law that the model lacks."""

from __future__ import annotations

import numpy as np

from tauform.arrays import AnyArray, Array
from tauform.identification.fitted.model import FittedModel
from tauform.identification.verdict.validate import autocorrelation

# Share of the torque that a joint must carry before its own relative error counts.
MIN_TORQUE_SHARE_OF_JOINT = 0.02
# Correlation of residuals from which on they are no noise, and when that is asked: after this share of the motion's
# shortest period, and not before so many rows.
MAX_SLOW_CORRELATION, SLOW_PERIOD_SHARE, FEWEST_ROWS_OF_SLOW = 0.2, 0.15, 5


def white_share(fit: FittedModel, n_lags: int = 20) -> Array:
    """(n,) share of the residuals' correlations over n_lags that lie within two standard errors of zero."""
    error = fit.residuals.error - fit.residuals.error.mean(axis=0)
    n_lags = min(n_lags, max(1, len(error) // 4))
    # Lag zero is one by definition.
    rho = autocorrelation(error, n_lags)[1:]
    return (np.abs(rho) <= 2 / np.sqrt(len(error))).mean(axis=0)


def slow_correlation(fit: FittedModel) -> tuple[Array, float]:
    """(n,) correlation of each joint's residuals after a fraction of the motion's period, and that time [s]."""
    residuals = fit.residuals
    bandwidth = None if fit.filters is None else fit.filters.bandwidth
    lag = FEWEST_ROWS_OF_SLOW if bandwidth is None else round(SLOW_PERIOD_SHARE / bandwidth * residuals.rate)
    lag = min(max(lag, FEWEST_ROWS_OF_SLOW), max(1, len(residuals.error) // 4))
    return autocorrelation(residuals.error - residuals.error.mean(axis=0), lag)[-1], lag / residuals.rate


def carries_torque(fit: FittedModel) -> AnyArray:
    """(n,) whether a joint's torque is large enough for its relative error to count."""
    # Shares of squares: the square of the share of torque.
    squares = (fit.residuals.measured**2).sum(axis=0)
    return np.asarray(squares / max(float(squares.sum()), 1e-300) > MIN_TORQUE_SHARE_OF_JOINT**2)
