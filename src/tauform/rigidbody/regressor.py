"""The dynamics as a linear function of all parameters: tau = Y @ robot.parameters.  [Gautier1991, Eq. 5]"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from tauform.arrays import AnyArray, Array
from tauform.description.drives.groups import JointState
from tauform.description.parameter_groups import Include
from tauform.description.robot import Robot
from tauform.description.tree import Tree
from tauform.rigidbody.drives import coupled_torque, drive_columns, temperatures
from tauform.rigidbody.inverse_dynamics import newton_euler
from tauform.rigidbody.load import carried_torque, has_load
from tauform.rigidbody.sweeps.evaluation import evaluate
from tauform.rigidbody.sweeps.motion import body_accelerations, body_motion, body_twists, transforms_of
from tauform.rigidbody.sweeps.spatial import ANGULAR, LINEAR, Transform, cross, stacked, twist_to_child


def regressor(
    robot: Robot,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    include: Include | None = None,
    temperature: ArrayLike | None = None,
) -> Array:
    """Regressor Y with tau = Y @ robot.parameters, all drive terms included.  [Gautier1991, Eq. 5]

    The column of friction that depends on load is the magnitude of the torque that this robot's joint carries: with
    other links it is another column.

    Args:
        q: (..., n) joint positions [rad or m].
        qd: (..., n) joint velocities.
        qdd: (..., n) joint accelerations.
        include: groups of columns to keep ("link", "rotor", "viscous", ...); None keeps all.
        temperature: (..., n) of the joints [degrees Celsius]; needed where friction depends on it.

    Returns:
        (..., n, n_parameters), columns in the order of robot.parameter_names; with `include`, only the columns
        robot.columns(include).

    Raises:
        ShapeError: a last dimension differs from robot.n_joints, or a value is not finite.
        UnknownNameError: `include` names a group that does not exist.
    """
    columns = chosen_columns(robot, include)
    tree, loaded = robot.tree, has_load(robot.tree)

    def core(q: AnyArray, qd: AnyArray, qdd: AnyArray, temperature: AnyArray | None = None) -> AnyArray:
        # Of this robot's own links: the one column that is not free of the parameters it multiplies.
        carried = carried_torque(robot, newton_euler(tree, q, qd, qdd)) if loaded else None
        return inverse_regressor(tree, q, qd, qdd, temperature, carried)[:, columns]

    return evaluate(robot, core, project=1, q=q, qd=qd, qdd=qdd, **temperatures(robot, temperature))


def slotine_li_regressor(
    robot: Robot,
    q: ArrayLike,
    qd: ArrayLike,
    qd_r: ArrayLike,
    qdd_r: ArrayLike,
    include: Include | None = None,
    temperature: ArrayLike | None = None,
) -> Array:
    """Regressor with reference velocities: Y_r @ parameters = M qdd_r + C(q, qd) qd_r + g + friction.

    C is the matrix of Christoffel symbols (`coriolis_matrix`), so Mdot - 2C is skew, as the stability proof of
    Slotine and Li's adaptive control needs. Friction is that of the motion that takes place, at q and qd, under the
    load M qdd_r + C qd_r + g; for Fv qd_r (which leaves the joint's own damping in the loop) take the viscous columns
    of `regressor` at qd_r.

    Args:
        q: (..., n) joint positions [rad or m].
        qd: (..., n) joint velocities.
        qd_r: (..., n) reference velocities.
        qdd_r: (..., n) reference accelerations.
        include: groups of columns to keep; None keeps all.
        temperature: (..., n) of the joints [degrees Celsius]; needed where friction depends on it.

    Returns:
        (..., n, n_parameters), columns in the order of robot.parameter_names.

    Raises:
        ShapeError: a last dimension differs from robot.n_joints, or a value is not finite.
        UnknownNameError: `include` names a group that does not exist.
    """
    columns = chosen_columns(robot, include)
    tree, loaded = robot.tree, has_load(robot.tree)

    def core(
        q: AnyArray, qd: AnyArray, qd_r: AnyArray, qdd_r: AnyArray, temperature: AnyArray | None = None
    ) -> AnyArray:
        carried = carried_torque(robot, reference_torque(tree, q, qd, qd_r, qdd_r)) if loaded else None
        return reference_regressor(tree, q, qd, qd_r, qdd_r, temperature, carried)[:, columns]

    vectors = {"q": q, "qd": qd, "qd_r": qd_r, "qdd_r": qdd_r, **temperatures(robot, temperature)}
    return evaluate(robot, core, project=1, **vectors)


def chosen_columns(robot: Robot, include: Include | None) -> list[int] | slice:
    """The columns of these groups; None means all."""
    return slice(None) if include is None else list(robot.columns(include))


def inverse_regressor(
    tree: Tree,
    q: AnyArray,
    qd: AnyArray,
    qdd: AnyArray,
    temperature: AnyArray | None = None,
    carried: AnyArray | None = None,
) -> AnyArray:
    """(n, n_parameters, N) regressor of the tree; arrays of any scalar."""
    motion = body_motion(tree, q, qd, qdd)
    # Accelerations hold -g, so that gravity needs no columns of its own.
    wrenches = [wrench_regressor(a, v) for a, v in zip(motion.accelerations, motion.twists, strict=True)]
    drives = drive_columns(tree, JointState(q, qd, qdd, temperature, carried))
    return np.concatenate([_link_columns(tree, motion.transforms, wrenches), drives], axis=1)


def weighted_regressor(
    tree: Tree, q: AnyArray, qd: AnyArray, qdd: AnyArray, weights: AnyArray, temperature: AnyArray | None = None
) -> AnyArray:
    """(n_parameters, N) weights^T Y without Y: of links O(n), by the twists of joint speeds `weights`; any scalar."""
    motion = body_motion(tree, q, qd, qdd)
    # weights^T J^T A = (J weights)^T A: one more sweep in place of all columns.
    speeds = body_twists(tree, motion.transforms, weights)
    links = [
        (wrench_regressor(a, v) * y[:, None]).sum(axis=0)
        for a, v, y in zip(motion.accelerations, motion.twists, speeds, strict=True)
    ]
    drives = drive_columns(tree, JointState(q, qd, qdd, temperature))
    return np.concatenate([*links, (weights[:, None] * drives).sum(axis=0)])


def reference_regressor(
    tree: Tree,
    q: AnyArray,
    qd: AnyArray,
    qd_r: AnyArray,
    qdd_r: AnyArray,
    temperature: AnyArray | None = None,
    carried: AnyArray | None = None,
) -> AnyArray:
    """(n, n_parameters, N) regressor of M qdd_r + C(q, qd) qd_r + g + friction; arrays of any scalar."""
    drives = drive_columns(tree, JointState(q, qd, qdd_r, temperature, carried))
    return np.concatenate([_reference_columns(tree, q, qd, qd_r, qdd_r), drives], axis=1)


def reference_torque(tree: Tree, q: AnyArray, qd: AnyArray, qd_r: AnyArray, qdd_r: AnyArray) -> AnyArray:
    """(n, N) torque of links and rotors, M qdd_r + C(q, qd) qd_r + g; arrays of any scalar."""
    links = (_reference_columns(tree, q, qd, qd_r, qdd_r) * tree.inertias.reshape(-1, 1)).sum(axis=1)
    return links + tree.rotors * qdd_r + coupled_torque(tree, qdd_r)


def _reference_columns(tree: Tree, q: AnyArray, qd: AnyArray, qd_r: AnyArray, qdd_r: AnyArray) -> AnyArray:
    # Shared by three sweeps of different velocities.
    transforms = transforms_of(tree, q)
    twists = body_twists(tree, transforms, qd)
    references = body_twists(tree, transforms, qd_r)
    # a_r = J qdd_r + Jdot(qd) qd_r
    accelerations = body_accelerations(tree, transforms, twists, qd_r, qdd_r)
    wrenches = [wrench_regressor_between(a, v, r) for a, v, r in zip(accelerations, twists, references, strict=True)]
    return _link_columns(tree, transforms, wrenches)


def _link_columns(tree: Tree, transforms: list[Transform], wrenches: list[AnyArray]) -> AnyArray:
    """Torques J_i^T A_i of each body's wrench columns, (n, 10 n, N)."""
    layout = tree.layout
    Y = np.zeros((tree.n, layout.links.stop, *wrenches[0].shape[2:]), dtype=wrenches[0].dtype)
    for i, axes in enumerate(body_jacobians(tree, transforms, wrenches[0])):
        # Columns are zero for joints that do not move the body, so only the path to the base is filled.
        Y[tree.ancestors(i)[::-1], layout.link(i)] = _torques(axes, wrenches[i])
    return Y


def _torques(axes: AnyArray, wrench: AnyArray) -> AnyArray:
    """(k, 10, N) inner products of k axes with ten wrenches; the mass has no moment, the tensor no force."""
    x, y, z, u, v, w = axes[:, :, None]
    # Products with columns that are zero for every body are left out: a third of all.
    moment = x * wrench[0, 1:] + y * wrench[1, 1:] + z * wrench[2, 1:]
    force = u * wrench[3, :4] + v * wrench[4, :4] + w * wrench[5, :4]
    return np.concatenate([force[:, :1], force[:, 1:] + moment[:, :3], moment[:, 3:]], axis=1)


def body_jacobians(tree: Tree, transforms: list[Transform], like: AnyArray) -> list[AnyArray]:
    """Twists of the joints that move each body, (6, depth, N), base first, in the body's frame.

    Moving one axis down a joint costs one transform of a vector; moving ten wrenches up would cost ten.
    """
    jacobians: list[AnyArray] = []
    for i, parent in enumerate(tree.parents):
        own = np.zeros((6, 1, *like.shape[-1:]), dtype=like.dtype)
        # S of the joint: the twist of a unit speed.
        own = tree.types[i].moved(own, 1)
        if parent >= 0:
            X = Transform(transforms[i].R[:, :, None], transforms[i].p[:, None])
            own = np.concatenate([twist_to_child(X, jacobians[parent]), own], axis=1)
        jacobians.append(own)
    return jacobians


# The wrench of one body as a linear function of its ten parameters.


def wrench_regressor(acceleration: AnyArray, twist: AnyArray) -> AnyArray:
    """(6, 10, N) matrix A with A @ parameters = I a + v x* I v, all in the body's frame."""
    w, v = twist[ANGULAR], twist[LINEAR]
    return _assembled(acceleration[LINEAR] + cross(w, v), acceleration[ANGULAR], w[:, None] * w)


def wrench_regressor_between(acceleration: AnyArray, twist: AnyArray, reference: AnyArray) -> AnyArray:
    """(6, 10, N) regressor of I (a - v x r / 2) + (v x* I r + r x* I v) / 2, for two twists v and r.

    This is the bilinear form whose torques are C(q, qd) qd_r with C from Christoffel symbols: it is symmetric in
    the two velocities, and for r = v it is `wrench_regressor`.
    """
    w, v = twist[ANGULAR], twist[LINEAR]
    wr = reference[ANGULAR]
    # Symmetric in both twists, so that C is that of the Christoffel symbols and Mdot - 2C is skew.
    half_ww = 0.5 * (w[:, None] * wr)
    angular = acceleration[ANGULAR] - 0.5 * cross(w, wr)
    # a_linear - (w x vr + v x wr) / 2 + (w x vr + wr x v) / 2
    linear = acceleration[LINEAR] + cross(wr, v)
    return _assembled(linear, angular, half_ww + np.swapaxes(half_ww, 0, 1))


def _assembled(d: AnyArray, e: AnyArray, W: AnyArray) -> AnyArray:
    """Assemble from the acceleration d of the origin, the angular acceleration e, and W = w w^T.

    force = m d + ([e]x + W - tr(W) 1) h;  moment = h x d + I e + w x I w.
    """
    xx, yy, zz, xy, xz, yz = W[0, 0], W[1, 1], W[2, 2], W[0, 1], W[0, 2], W[1, 2]
    zero = 0 * xx
    # w x I w, with products of velocities gathered in W, so that each is computed once for all columns.
    moment = [
        [zero, zero, d[2], -d[1], e[0], e[1] - xz, -yz, e[2] + xy, yy - zz, yz],
        [zero, -d[2], zero, d[0], xz, e[0] + yz, e[1], zz - xx, e[2] - xy, -xz],
        [zero, d[1], -d[0], zero, -xy, xx - yy, xy, e[0] - yz, e[1] + xz, e[2]],
    ]
    # Columns m, mx, my, mz; a tensor needs no force.
    force = [
        [d[0], -yy - zz, xy - e[2], xz + e[1], *[zero] * 6],
        [d[1], xy + e[2], -xx - zz, yz - e[0], *[zero] * 6],
        [d[2], xz - e[1], yz + e[0], -xx - yy, *[zero] * 6],
    ]
    return np.array([stacked(row) for row in moment + force])
