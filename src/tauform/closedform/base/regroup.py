"""Regrouping: which columns of a coefficient matrix are independent, and how the others fold into them.

Gautier1991: W x has l independent columns; walking through the columns in an order of preference, a column is kept
when the kept ones do not span it, and is regrouped onto them when they do, W2 = W1 beta. Then theta = x1 + beta x2.

The decision is free of units: columns and rows are scaled to their own size first, and the threshold lies in the
gap between the residuals that are rounding and those that are not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from tauform.arrays import AnyArray, Array
from tauform.closedform.base.baseset import BaseParameters
from tauform.closedform.base.elimination import RankMethod, Split, eliminate
from tauform.closedform.base.preference import order_of_preference
from tauform.closedform.base.scaling import scale
from tauform.description.robot import Robot
from tauform.errors import ShapeError
from tauform.wording import argument

# A gap narrower than this factor is worth a warning.
SAFE_GAP = 1e3
# An independent column that keeps less of itself than this is independent in theory only.
MIN_INDEPENDENT_SHARE = 1e-7
# A first moment that shows this little of its weight [rad] belongs to an axis meant to be vertical.
MAX_TILT_OF_VERTICAL = 1e-4


def regroup(
    W: Any,
    robot: Robot,
    columns: Sequence[int],
    order: Iterable[str] | None = None,
    *,
    method: RankMethod = "qr",
    source: str = "matrix",
) -> BaseParameters:
    """Base parameters from a noise-free matrix W whose columns belong to robot.parameters[columns].

    Args:
        W: (rows, len(columns)) dense or scipy.sparse; torques or their coefficients for each unit parameter.
        robot: names the parameters.
        columns: index into robot.parameters of each column of W.
        order: names (`Izz_2`, or a kind such as `Ia` for all joints) to keep first; the rest follow in the
            default order of Gautier1991: links ascending, XX XY XZ YY YZ ZZ MX MY MZ M Ia, then friction.
        method: "qr", "qr_pivoted" (chooses the best conditioned columns, whatever the order) or "svd".
        source: what W was made from, for the summary.

    Raises:
        ShapeError: W does not have one column per parameter, or holds values that are not finite.
        UnknownNameError: a name in `order` is not a parameter of the robot.
        ModelError: the method is unknown.
    """
    columns = tuple(int(c) for c in columns)
    if np.ndim(W) != 2 or W.shape[1] != len(columns):
        raise ShapeError(f"W: expected (rows, {len(columns)}), one column per parameter, got {np.shape(W)}")
    # Preferences are about parameters; elimination walks through columns of W.
    position = {c: k for k, c in enumerate(columns)}
    preferred = [position[c] for c in order_of_preference(robot, columns, order)]
    scaled = scale(W, robot, columns)
    split = eliminate(scaled.matrix, preferred, method)
    # In scaled columns W2 D2^-1 = W1 D1^-1 beta, so beta in the parameters' own units is D1^-1 beta D2.
    own_units = split.beta * scaled.columns[split.folded] / scaled.columns[split.kept][:, None]
    at = np.array(columns, dtype=int)
    grouping = np.zeros((len(split.kept), len(robot.parameters)))
    grouping[np.arange(len(split.kept)), at[split.kept]] = 1.0
    grouping[:, at[split.folded]] = own_units
    return BaseParameters.of(
        robot,
        columns=columns,
        pivots=at[split.kept],
        no_effect=at[split.without_effect],
        grouping=grouping,
        gap=split.gap,
        condition=split.condition,
        findings=(*_findings(split), *_faint_moments(robot, at[split.kept], scaled.strength[split.kept])),
        source=source,
    )


def _findings(split: Split) -> tuple[str, ...]:
    findings = []
    advice = f"check for nearly aligned axes ({argument('snap')})."
    if split.gap < SAFE_GAP:
        # The rank is a decision: where it was close, the user must hear of it.
        findings.append(
            f"The rank was decided by a narrow gap: the weakest independent column keeps {split.weakest_kept:.1e} of "
            f"itself, the strongest dependent one {split.strongest_folded:.1e}; {advice}"
        )
    if split.weakest_kept < MIN_INDEPENDENT_SHARE:
        findings.append(
            f"One base parameter differs from the others by {split.weakest_kept:.1e} of its column only: no "
            f"measurement will show it; {advice}"
        )
    return tuple(findings)


def _faint_moments(robot: Robot, kept: AnyArray, strength: Array) -> tuple[str, ...]:
    faint = strength < MAX_TILT_OF_VERTICAL
    if not faint.any():
        return ()
    names = ", ".join(robot.parameter_names[k] for k in kept[faint])
    return (
        f"Only {strength[faint].max():.1e} of the weight shows of {names}: an axis is almost, not exactly, vertical; "
        f"no measurement will show them, and {argument('snap')} leaves them out (see check()).",
    )
