"""Inverse dynamics by the recursive Newton-Euler algorithm (Luh, Walker, Paul 1980)."""

from __future__ import annotations

from numpy.typing import ArrayLike

from tauform.arrays import AnyArray, Array
from tauform.description.drives.groups import JointState
from tauform.description.robot import Robot
from tauform.description.tree import Tree
from tauform.rigidbody.drives import coupled_torque, friction_torque, has_coupled_inertia, temperatures
from tauform.rigidbody.load import carried_torque, has_load
from tauform.rigidbody.sweeps.evaluation import evaluate
from tauform.rigidbody.sweeps.motion import body_motion, velocity_wrenches
from tauform.rigidbody.sweeps.spatial import Transform, inertia_times, wrench_to_parent
from tauform.rigidbody.sweeps.wrenches import BodyWrenches, Wrenches, less_wrenches


def inverse_dynamics(
    robot: Robot,
    q: ArrayLike,
    qd: ArrayLike,
    qdd: ArrayLike,
    temperature: ArrayLike | None = None,
    drives: bool = True,
    wrenches: Wrenches | None = None,
) -> Array:
    """Joint torques tau = M qdd + C qd + g + friction - J^T w, all drive terms included.

    Args:
        q: (..., n) joint positions [rad or m].
        qd: (..., n) joint velocities.
        qdd: (..., n) joint accelerations.
        temperature: (..., n) of the joints [degrees Celsius]; needed where friction depends on it.
        drives: False leaves out what `friction` returns; rotors stay.
        wrenches: (..., 6) by frame: force then moment that the surroundings exert on the robot, in the axes and about
            the origin of a frame or link of that name.

    Returns:
        (..., n) torques or forces [N m or N].

    Raises:
        ShapeError: a last dimension differs from robot.n_joints (6 of wrenches), or a value is not finite.
        UnknownNameError: no such frame.
        DescriptionError: friction depends on temperature, and none is given.
    """
    robot = robot if drives else robot.rigid
    tree, loaded = robot.tree, has_load(robot.tree)

    def core(
        q: AnyArray,
        qd: AnyArray,
        qdd: AnyArray,
        temperature: AnyArray | None = None,
        wrenches: BodyWrenches | None = None,
    ) -> AnyArray:
        rigid = newton_euler(tree, q, qd, qdd, wrenches)
        carried = carried_torque(robot, rigid) if loaded else None
        return rigid + friction_torque(tree, JointState(q, qd, qdd, temperature, carried))

    given = temperatures(robot, temperature)
    return evaluate(robot, core, project=1, wrenches=wrenches, several_coordinates=True, q=q, qd=qd, qdd=qdd, **given)


def newton_euler(
    tree: Tree, q: AnyArray, qd: AnyArray, qdd: AnyArray, wrenches: BodyWrenches | None = None
) -> AnyArray:
    """Torques of the rigid bodies and rotors under external wrenches, no friction; (n, N) arrays of any scalar."""
    transforms, twists, accelerations = body_motion(tree, q, qd, qdd)
    # f = I a + v x* I v - w
    biases = less_wrenches(velocity_wrenches(tree, twists), wrenches)
    passed = joint_wrenches(tree, transforms, body_wrenches(tree, accelerations, biases))
    return joint_torques(tree, passed, qdd)


def body_wrenches(tree: Tree, accelerations: list[AnyArray], biases: list[AnyArray]) -> list[AnyArray]:
    """Wrench on each body: I a + bias."""
    return [inertia_times(ten, a) + b for ten, a, b in zip(tree.inertias, accelerations, biases, strict=True)]


def joint_wrenches(tree: Tree, transforms: list[Transform], wrenches: list[AnyArray]) -> list[AnyArray]:
    """Wrench through each joint: that of its own body and of all it carries, in the body's frame."""
    sums = list(wrenches)
    for i in reversed(range(tree.n)):  # tip to base: a parent's wrench needs its children's
        if tree.parents[i] >= 0:
            sums[tree.parents[i]] = sums[tree.parents[i]] + wrench_to_parent(transforms[i], sums[i])
    return sums


def joint_torques(tree: Tree, wrenches: list[AnyArray], qdd: AnyArray) -> AnyArray:
    """tau = S . f + Ia qdd, and what shared shafts add."""
    bodies = zip(tree.types, wrenches, tree.rotors, tree.v_rows, strict=True)
    tau = tree.by_joint([own.felt(f) + rotor * qdd[rows] for own, f, rotor, rows in bodies])
    return tau + coupled_torque(tree, qdd) if has_coupled_inertia(tree) else tau
