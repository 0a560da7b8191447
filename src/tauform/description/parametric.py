"""Robots of any size: planar chains, and seeded random trees of physical bodies."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tauform.arguments import Natural
from tauform.arrays import Array, fixed_array, read_only
from tauform.description.inertia import Inertia
from tauform.description.joint import Frame, Joint, Limits, Link
from tauform.description.joint_types import BY_LETTER, PRISMATIC, REVOLUTE
from tauform.description.robot import EARTH_GRAVITY, Robot
from tauform.description.transform import rotation_rpy, rotation_x, translation
from tauform.errors import DescriptionError
from tauform.portable.products import chain, product
from tauform.portable.sampling import uniform

# Random chains of these twists look like industrial arms: their geometry simplifies as real geometry does.
INDUSTRIAL_TWISTS = (-np.pi / 2, 0.0, np.pi / 2)


def planar_chain(n: int, length: float = 1.0, mass: float = 1.0, gravity: ArrayLike = (0.0, -9.81, 0.0)) -> Robot:
    """n uniform thin rods in the x-y plane, turning about parallel z axes.

    Args:
        n: how many rods.
        length: of each rod [m].
        mass: of each rod [kg].
        gravity: in the base frame; along -y, in the plane, if not given.

    Raises:
        DescriptionError: no rod at all.
        ShapeError: gravity is no vector.
    """
    _check_size(n)
    # A thin rod has no inertia about its own length.
    about_com = np.diag([0.0, 1.0, 1.0]) * mass * (length * length) / 12
    rod = Inertia.of(mass, [length / 2, 0, 0], about_com, inertia_about="com")
    joints = tuple(
        # The first rod hangs at the base itself.
        Joint(f"joint{i + 1}", REVOLUTE.name, i - 1, translation([length * (i > 0), 0, 0]))
        for i in range(n)
    )
    links = tuple(Link(f"link{i + 1}", rod) for i in range(n))
    tool = Frame("tool", n - 1, read_only(translation([length, 0, 0])))
    return Robot(f"planar{n}", joints, links, fixed_array(gravity, (3,), "gravity"), (tool,), tip="tool")


def random_robot(
    kinds: int | str,
    seed: Natural,
    *,
    branching: float = 0.0,
    industrial: bool = False,
    drives: bool = True,
) -> Robot:
    """A reproducible random robot with physical inertias.

    Args:
        kinds: joint kinds in order, such as "RRPR", or how many joints (a fifth of them prismatic).
        seed: the same seed gives the same robot.
        branching: chance that a joint is mounted on an earlier link than the one before it; 0 gives a chain.
        industrial: twists of a quarter turn and offsets along x or z only, as most arms have, in place of
            arbitrary placements.
        drives: give the joints rotors, friction and limits.

    Raises:
        DescriptionError: a kind of joint that does not exist, or a chance that is none.
    """
    if not 0 <= branching <= 1:
        raise DescriptionError(f"random_robot: branching must be a chance from 0 to 1, not {branching:g}")
    rng = np.random.default_rng(seed)
    letters = _letters(kinds, rng)
    joints: list[Joint] = []
    for i, own in enumerate(BY_LETTER[letter] for letter in letters):
        # Any link on the path to the last one keeps the order depth first.
        parent = i - 1
        while parent >= 0 and rng.random() < branching:
            parent = joints[parent].parent
        placement = _industrial_placement(rng) if industrial else _any_placement(rng)
        drive = _drive(rng) if drives else {}
        joints.append(Joint(f"joint{i + 1}", own.name, parent, placement, constants=own.constants, **drive))
    links = tuple(Link(f"link{i + 1}", random_inertia(rng)) for i in range(len(joints)))
    tool = Frame("tool", len(joints) - 1, read_only(_any_placement(rng)))
    return Robot(f"random{len(joints)}_{seed}", tuple(joints), links, read_only(EARTH_GRAVITY), (tool,), tip="tool")


def random_inertia(rng: np.random.Generator) -> Inertia:
    """A physical body: a few point masses within 0.2 m of a centre that lies up to 0.2 m away."""
    points = uniform(rng, -0.2, 0.2, (3,)) + uniform(rng, -0.2, 0.2, (8, 3))
    masses = uniform(rng, 0.05, 0.5, (8,))
    # Point masses make a physical body whatever the numbers are.
    # Sigma = sum m r r^T, from which I = tr(Sigma) 1 - Sigma.
    second = product(points.T * masses, points)
    return Inertia.from_tensor(masses.sum(), product(masses, points), np.trace(second) * np.eye(3) - second)


def _letters(kinds: int | str, rng: np.random.Generator) -> str:
    if isinstance(kinds, str):
        unknown = [letter for letter in kinds if letter not in BY_LETTER]
        if unknown:
            raise DescriptionError(f"kinds: expected the letters {' and '.join(BY_LETTER)}, got {unknown[0]!r}")
        _check_size(len(kinds))
        return kinds
    _check_size(kinds)
    return "".join((PRISMATIC if rng.random() < 0.2 else REVOLUTE).letter for _ in range(kinds))


def _check_size(n: int) -> None:
    if n < 1:
        raise DescriptionError(f"a robot needs at least one joint, got {n}")


def _any_placement(rng: np.random.Generator) -> Array:
    return product(translation(uniform(rng, -0.4, 0.4, (3,))), rotation_rpy(uniform(rng, -np.pi, np.pi, (3,))))


def _industrial_placement(rng: np.random.Generator) -> Array:
    # Half of the offsets are zero, as in real DH tables.
    a, d = uniform(rng, 0.1, 0.4, (2,)) * rng.integers(0, 2, 2)
    twist = rotation_x(float(rng.choice(INDUSTRIAL_TWISTS)))
    return chain(translation([a, 0, 0]), twist, translation([0, 0, d]))


def _drive(rng: np.random.Generator) -> dict[str, Any]:
    friction = uniform(rng, 0.0, 1.0, (3,))
    return {
        "rotor_inertia": float(uniform(rng, 0.01, 0.2, ())),
        "viscous": float(friction[0]),
        "coulomb": float(friction[1]),
        # Offsets of either sign.
        "offset": float(friction[2] - 0.5),
        "limits": Limits(-2.8, 2.8, 3.0, 100.0),
    }
