"""Drive terms that stand beside a closed form: known numbers, no part of E or theta.

Shared rotors are products of generators, and plain friction has its columns; every other drive term is evaluated by its
shape, as the textbook functions do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from tauform.arrays import AnyArray, Array
from tauform.description.drives import Coulomb
from tauform.description.drives.drive import Drive
from tauform.description.drives.friction import plain_functions
from tauform.description.drives.groups import JointState
from tauform.description.robot import Robot
from tauform.description.tree import Tree
from tauform.portable.products import product
from tauform.rigidbody.drives import friction_torque, temperatures
from tauform.rigidbody.load import carried_under, has_load, leading_joints
from tauform.rigidbody.sweeps.evaluation import TreeMotion, tree_motion

if TYPE_CHECKING:
    from tauform.closedform.model.bound import BoundModel


def stands_beside(term: Drive) -> bool:
    """Whether a term is neither a product of generators nor plain friction."""
    if isinstance(term, Coulomb):
        # A sharp step is plain friction, with a column beside E; a smooth one has none.
        return term.width > 0
    return term.shape not in ("rotor", "viscous", "offset") and not term.is_inertial


def columns_beside(robot: Robot) -> list[int]:
    """Columns of the robot's parameters that theta never holds."""
    drives = zip(range(robot.layout.n)[robot.layout.drives], robot.drives, strict=True)
    return [column for column, term in drives if stands_beside(term)]


def terms_beside(robot: Robot) -> tuple[Drive, ...]:
    """The robot's terms that act beside theta."""
    # Terms without a coefficient would be carried for nothing.
    return tuple(term for term in robot.drives if stands_beside(term) and term.coefficient)


@dataclass(frozen=True, eq=False)
class Beside:
    """Drive terms with numbers, beside the torque of a closed form; arrays (n, N) of any scalar.

    Attributes:
        robot: has the geometry and these drive terms alone.
        fixed: positions of joints that do not move.
    """

    robot: Robot
    fixed: Mapping[int, float]

    @classmethod
    def of(cls, geometry: Robot, terms: Sequence[Drive], fixed: Mapping[int, float]) -> Beside:
        """Terms on the joints of a chain."""
        return cls(geometry.with_drives(terms), fixed)

    def __bool__(self) -> bool:
        # Terms without a coefficient need not be evaluated at every state.
        return bool(self.tree.drives) and bool(np.any(self.tree.coefficients))

    @cached_property
    def tree(self) -> Tree:
        """Geometry and coefficients."""
        return self.robot.tree

    @property
    def is_loaded(self) -> bool:
        """Whether friction depends on the torque that joints carry."""
        return has_load(self.tree)

    @property
    def needs_temperature(self) -> bool:
        """Whether friction depends on temperature."""
        return self.robot.needs_temperature

    def temperatures(self, temperature: ArrayLike | None) -> dict[str, ArrayLike]:
        """Temperatures as an argument of `batched`, where a term needs them."""
        return temperatures(self.robot, temperature)

    def torque(self, q: AnyArray, qd: AnyArray, temperature: AnyArray | None, rigid: AnyArray | None) -> AnyArray:
        """Torque of the terms, where links and rotors take the torque `rigid`, which load friction depends on."""
        # |tau| of load friction is that of links and rotors, before friction itself.
        loops = self._motion(q, qd, temperature, rigid)
        return loops.projected(friction_torque(self.tree, JointState(**loops.vectors)), 1)

    def driving(self, q: AnyArray, qd: AnyArray, temperature: AnyArray | None, tau: AnyArray) -> AnyArray:
        """Torque that is left for links and rotors."""
        loops = self._motion(q, qd, temperature, None)
        driving = tau - loops.projected(friction_torque(self.tree, JointState(**loops.vectors)), 1)
        if not self.is_loaded:
            return driving
        # Load terms act on joints that q holds.
        at_leading = self._motion(q, qd, temperature, driving).vectors
        leading = leading_joints(self.robot)
        return carried_under(self.tree, at_leading["qd"], at_leading["carried"])[leading]

    def _motion(self, q: AnyArray, qd: AnyArray, temperature: AnyArray | None, carried: AnyArray | None) -> TreeMotion:
        """The motion of all joints of the tree, with fixed joints where they are held."""
        # Copies: the caller's arrays also go to the terms of E, which do not read fixed joints.
        q, qd = np.array(q), np.array(qd)
        for joint, position in self.fixed.items():
            q[joint], qd[joint] = position, 0.0
        given = {"q": q, "qd": qd, "temperature": temperature, "carried": carried}
        return tree_motion(self.robot, {name: x for name, x in given.items() if x is not None})


def joint_torque(bound: BoundModel, coefficients: Array, qd: AnyArray) -> AnyArray:
    """(n, N) viscous, Coulomb and offset torque, from (n_bodies, 3) coefficients."""
    rates = bound.geometry.tree_velocities(qd, bound.moving)
    # (n_bodies, 1) each, to broadcast over N states.
    parts = zip(coefficients.T[..., None], plain_functions(rates), strict=True)
    return bound.geometry.felt(np.asarray(sum(own * function for own, function in parts)))


def virtual_robot(bound: BoundModel) -> Robot:
    """A robot of these dynamics; each base parameter becomes the value of the parameter it grew from."""
    base, model = bound.base, bound.model
    parameters = np.zeros(base.layout.n)
    # All other parameters zero: each pivot has theta as its only base parameter.
    parameters[list(base.pivots)] = bound.theta
    # tie @ parameters = 0, with one parameter that takes no part and follows from the others
    for tie in model.ties:
        tied = np.setdiff1d(np.flatnonzero(tie), base.columns)
        parameters[tied] = -product(tie, parameters)
    # Friction that theta does not hold acts on the joints as before; a view, so parameters change.
    if bound.carried.any():
        base.layout.by_joint(parameters)[:, 1:] += bound.carried
    # A model from a file knows its geometry only.
    robot = base.robot or model.geometry.robot(bound.name, bound.joint_names)
    robot = replace(robot, further_drives=model.further_drives).with_parameters(parameters)
    # Smooth Coulomb friction takes the place of the sharp one of its joint; both would act twice.
    beside = {(term.shape, term.joints) for term in bound.drives}
    own = [term for term in robot.drives if not stands_beside(term) and (term.shape, term.joints) not in beside]
    return robot.with_drives([*own, *bound.drives])
