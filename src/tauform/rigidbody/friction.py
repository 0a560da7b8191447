"""Friction: the torque of all drive terms but rotors."""

from __future__ import annotations

from numpy.typing import ArrayLike

from tauform.arrays import AnyArray, Array
from tauform.description.drives.groups import JointState
from tauform.description.robot import GeneralClosure, Robot
from tauform.errors import DescriptionError
from tauform.rigidbody.drives import friction_torque, temperatures
from tauform.rigidbody.inverse_dynamics import newton_euler
from tauform.rigidbody.load import carried_torque, has_load
from tauform.rigidbody.sweeps.evaluation import evaluate


def friction(
    robot: Robot,
    qd: ArrayLike,
    q: ArrayLike | None = None,
    qdd: ArrayLike | None = None,
    temperature: ArrayLike | None = None,
) -> Array:
    """Torque of all drive terms that are not inertial: friction, offsets, springs, shared shafts, (..., n).

    For plain friction it is Fv qd + Fc sign(qd) + Fo, with sign(0) = 0. Rotors and coupled rotors are part of the mass
    matrix instead.

    Args:
        qd: (..., n) joint velocities.
        q: (..., n) joint positions [rad or m]; needed where a spring or friction that depends on load takes part.
        qdd: (..., n) joint accelerations; needed where friction depends on load.
        temperature: (..., n) of the joints [degrees Celsius]; needed where friction depends on it.

    Raises:
        ShapeError: a last dimension differs from robot.n_joints, or a value is not finite.
        DescriptionError: a drive term needs a quantity that is not given.
    """
    tree, loaded = robot.tree, has_load(robot.tree)
    given = {"qd": qd, **_needed(robot, "q", q), **_needed(robot, "qdd", qdd), **temperatures(robot, temperature)}

    def core(*vectors: AnyArray) -> AnyArray:
        known = dict(zip(given, vectors, strict=True))
        motion = JointState(known.get("q"), known["qd"], known.get("qdd"), known.get("temperature"))
        # Load friction is a share of what links, rotors and gravity ask of the joint: that is computed first.
        if loaded:
            rigid = newton_euler(tree, known["q"], known["qd"], known["qdd"])
            motion = motion._replace(carried=carried_torque(robot, rigid))
        return friction_torque(tree, motion)

    return evaluate(robot, core, project=1, **given)


def friction_under(
    robot: Robot, q: ArrayLike, qd: ArrayLike, carried: ArrayLike, temperature: ArrayLike | None = None
) -> Array:
    """What `friction` returns, where joints carry a given torque, (..., n).

    Args:
        q: (..., n) joint positions [rad or m].
        qd: (..., n) joint velocities.
        carried: (..., n) torque of links, rotors and gravity, which load friction depends on.
        temperature: (..., n) of the joints [degrees Celsius]; needed where friction depends on it.

    Raises:
        ShapeError: a last dimension differs from robot.n_joints, or a value is not finite.
        DescriptionError: friction depends on temperature, and none is given.
    """

    def core(q: AnyArray, qd: AnyArray, carried: AnyArray, temperature: AnyArray | None = None) -> AnyArray:
        return friction_torque(robot.tree, JointState(q, qd, None, temperature, carried))

    return evaluate(robot, core, project=1, q=q, qd=qd, carried=carried, **temperatures(robot, temperature))


def _needed(robot: Robot, name: str, value: ArrayLike | None) -> dict[str, ArrayLike]:
    """The argument, where a drive term needs it."""
    # What a joint carries follows from the whole motion, so load terms need every quantity.
    reading = [term for term in robot.further_drives if not term.is_inertial and {name, "carried"} & term.reads]
    if name == "q" and isinstance(robot.closure, GeneralClosure):
        if value is None:
            raise DescriptionError(f"friction: loops of {robot.name} bend with its posture; give q=")
        return {name: value}
    if not reading:
        return {}
    if value is None:
        raise DescriptionError(
            f"friction: {reading[0].meaning} ({reading[0].shape}) of {robot.name} depends on {name}; give {name}="
        )
    return {name: value}
