"""Digits that the terms of joints which follow others keep.

cos(k q) is a polynomial of degree k in cos q whose coefficients grow as 2^k and cancel: a closed form of many turns
would be exact on paper and wrong in doubles.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse

from tauform.closedform.coordinates import Coordinates
from tauform.closedform.expansion.followers import Followed
from tauform.closedform.generators import Generators
from tauform.description.drives.friction import REFERENCE_TEMPERATURE
from tauform.description.robot import Robot
from tauform.errors import ModelError
from tauform.portable.elementwise import sin_cos
from tauform.portable.products import product
from tauform.portable.sampling import uniform
from tauform.rigidbody.regressor import regressor
from tauform.wording import call

# Of the largest torque that a parameter makes.
MAX_LOST = 1e-10
N_STATES = 40


def refuse_lost_digits(
    robot: Robot, found: Followed, free: Sequence[int], assumed: scipy.sparse.csr_array, fixed: dict[int, float]
) -> None:
    """Raise ModelError where the columns of expanded terms are not those of the textbook's regressor.

    Args:
        free: indices of the free parameters; friction is no part of the terms.
        assumed: (n_parameters, n_free) parameters = assumed @ free ones.
        fixed: positions of joints of q that do not move.
    """
    n, p = robot.n_joints, found.exponents.shape[1]
    q, qd, qdd = uniform(np.random.default_rng(0), -np.pi, np.pi, (3, N_STATES, n))
    for i, position in fixed.items():
        q[:, i], qd[:, i], qdd[:, i] = position, 0.0, 0.0
    x = Coordinates(np.zeros(n), found.scale).all_of(q.T)
    generators = np.concatenate([x, *sin_cos(x), qd.T, qdd.T])
    terms = np.prod(generators[:, None] ** found.exponents[:, :, None].astype(int), axis=0)
    columns = found.matrix.tocoo()
    ours = np.zeros((n, columns.shape[1], N_STATES))
    joint, term = np.divmod(columns.row, max(p, 1))
    np.add.at(ours, (joint, columns.col), columns.data[:, None] * terms[term])
    warm = np.full(n, REFERENCE_TEMPERATURE) if robot.needs_temperature else None
    theirs = product(regressor(robot, q, qd, qdd, temperature=warm), assumed.toarray()).transpose(1, 2, 0)
    rigid = [k for k, column in enumerate(free) if column not in set(robot.layout.friction)]
    lost, sizes = (np.abs(x[:, rigid]).max(axis=(0, 2)) for x in (ours - theirs, theirs))
    # Beside the largest column of its units: one that cancels altogether has no size of its own.
    kinds = [robot.layout.parameters[free[k]].dimension for k in rigid]
    largest = {kind: max(size for own, size in zip(kinds, sizes, strict=True) if own == kind) for kind in set(kinds)}
    share = max((float(x / largest[kind]) for x, kind in zip(lost, kinds, strict=True) if largest[kind]), default=0.0)
    if share > MAX_LOST:
        degree = int(found.exponents[Generators(n).functions].sum(axis=0).max(initial=0))
        raise ModelError(
            f"derive: joints of {robot.name} follow by so many turns that products of {degree} functions lose "
            f"{share:.0e} of a column",
            argument="robot",
            value=robot,
            remedy=f"lock some of them, or call {call('generate', 'robot, ...')}, a recursive program",
        )
