"""The ten inertial parameters of a rigid body, and how they move between frames.

The order, defined here once, is Pinocchio's: m, mx, my, mz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz. First moments are
mass times centre of mass; the inertia tensor is about the origin of the frame, not about the centre of mass.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from tauform.arguments import checked_methods
from tauform.arrays import LARGEST, AnyArray, Array, fixed_array, read_only
from tauform.description.values import Value, listed
from tauform.errors import DescriptionError
from tauform.portable.products import chain, product

LINK_PARAMETERS = ("m", "mx", "my", "mz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")
FIRST_MOMENTS, MOMENTS_OF_INERTIA = LINK_PARAMETERS[1:4], LINK_PARAMETERS[4:]
# TENSOR_INDEX[i][j] is the place of I_ij among the ten.
TENSOR_INDEX = np.array([[4, 5, 7], [5, 6, 8], [7, 8, 9]])

SMALLEST_MASS = 1 / LARGEST
InertiaAbout = Literal["com", "origin"]


@checked_methods
@dataclass(frozen=True, eq=False, repr=False)
class Inertia(Value):
    """Inertial parameters of one body in one frame.

    Attributes:
        parameters: (10,) m, mx, my, mz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz.
    """

    parameters: Array

    def __post_init__(self) -> None:
        object.__setattr__(self, "parameters", fixed_array(self.parameters, (10,), "inertial parameters"))

    @classmethod
    def zero(cls) -> Inertia:
        """A massless body."""
        return cls(np.zeros(10))

    @classmethod
    def of(
        cls,
        mass: float,
        com: ArrayLike = (0.0, 0.0, 0.0),
        inertia: ArrayLike | None = None,
        *,
        inertia_about: InertiaAbout | None = None,
    ) -> Inertia:
        """Inertia from mass, centre of mass and inertia tensor.

        Args:
            mass: mass [kg].
            com: (3,) centre of mass in the frame [m].
            inertia: (3, 3) tensor, or (6,) its entries Ixx, Iyy, Izz, Ixy, Ixz, Iyz [kg m^2], in the frame's axes; None
                is a point mass.
            inertia_about: "com" or "origin"; both are in use, so an inertia needs it said.

        Raises:
            DescriptionError: the mass is negative, or what the inertia is about is not said. Only the ten parameters
                themselves may describe a virtual body.
        """
        if mass < 0:
            raise DescriptionError(f"mass: a body cannot have a negative mass ({mass:g} kg); correct it")
        if 0 < mass < SMALLEST_MASS:  # its centre of mass would be lost to rounding
            raise DescriptionError(f"mass: {mass:g} kg cannot be meant; write 0 for a body without mass")
        com = fixed_array(com, (3,), "com")
        if inertia is None:
            # A point mass: the tensor about its centre is zero, so what it is about goes without saying.
            inertia, inertia_about = np.zeros((3, 3)), inertia_about or "com"
        # Six numbers are read as Ixx Iyy Izz Ixy Ixz Iyz, the order of most data sheets; the ten have another.
        entries = np.asarray(inertia, dtype=object)  # lists of different lengths too, which are refused below
        if entries.shape == (6,):
            xx, yy, zz, xy, xz, yz = fixed_array(inertia, (6,), "inertia")
            inertia = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]
        tensor = np.array(fixed_array(inertia, (3, 3), "inertia"))
        # Relative: the tensor of a gripper finger is a millionth of that of a base.
        if np.abs(tensor - tensor.T).max() > 1e-9 * np.abs(tensor).max():
            raise DescriptionError("inertia: the tensor is not symmetric; give tensor entries, not products")
        if inertia_about == "com":
            # I_origin = I_com + m (c.c 1 - c c^T)
            tensor = tensor + mass * (product(com, com) * np.eye(3) - np.outer(com, com))
        elif inertia_about != "origin":
            raise DescriptionError(f'inertia_about: expected "com" or "origin", got {inertia_about!r}')
        return cls.from_tensor(mass, mass * com, tensor)

    @classmethod
    def from_tensor(cls, mass: float, first_moment: AnyArray, tensor: AnyArray) -> Inertia:
        """Inertia from mass, first moment and the (3, 3) tensor about the origin."""
        # Upper triangle in the order xx, xy, yy, xz, yz, zz.
        i, j = np.array([0, 0, 1, 0, 1, 2]), np.array([0, 1, 1, 2, 2, 2])
        return cls(np.concatenate([[mass], first_moment, tensor[i, j]]))

    @property
    def mass(self) -> float:
        return float(self.parameters[0])

    @property
    def first_moment(self) -> Array:
        """(3,) mass times centre of mass [kg m]."""
        return self.parameters[1:4]

    @property
    def com(self) -> Array:
        """(3,) centre of mass [m]; zero for a massless body."""
        return self.first_moment / self.mass if self.mass else np.zeros(3)

    @property
    def tensor(self) -> Array:
        """(3, 3) inertia tensor about the frame origin [kg m^2]."""
        return self.parameters[TENSOR_INDEX]

    @property
    def tensor_about_com(self) -> Array:
        """(3, 3) inertia tensor about the centre of mass [kg m^2]."""
        com = self.com
        return self.tensor - self.mass * (product(com, com) * np.eye(3) - np.outer(com, com))

    @property
    def pseudo_inertia(self) -> Array:
        """(4, 4) matrix of second moments; positive definite exactly when the body is physical."""
        # Sigma = integral of r r^T dm; I = tr(Sigma) 1 - Sigma.
        second = np.trace(self.tensor) / 2 * np.eye(3) - self.tensor
        h = self.first_moment[:, None]
        return np.block([[second, h], [h.T, np.array([[self.mass]])]])

    def moved(self, new_from_old: ArrayLike) -> Inertia:
        """The same body, its parameters expressed in another frame.

        Raises:
            ShapeError: the placement is no (4, 4) array of numbers.
        """
        T = fixed_array(new_from_old, (4, 4), "new_from_old")
        return Inertia(product(parameter_transform(T), self.parameters))

    def __add__(self, other: Inertia) -> Inertia:
        return Inertia(self.parameters + other.parameters)

    def __repr__(self) -> str:
        tensor = self.tensor_about_com
        # In the order that `of` reads: xx, yy, zz, xy, xz, yz.
        moments = listed(tensor[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]])
        return f"Inertia({self.mass:.4g} kg at {listed(self.com)} m, about it {moments} kg m^2)"


def parameter_transform(new_from_old: ArrayLike) -> Array:
    """(10, 10) matrix that takes the ten parameters from one frame to another (it is linear in them)."""
    T = np.asarray(new_from_old, dtype=np.float64)
    # Linear in the parameters: columns are what becomes of ten unit bodies.
    columns = [_moved(unit, T[:3, :3], T[:3, 3]) for unit in np.eye(10)]
    return read_only(np.column_stack(columns))


def _moved(parameters: Array, R: Array, p: Array) -> Array:
    # m' = m;  h' = R h + m p;  Sigma' = R Sigma R^T + h_R p^T + p h_R^T + m p p^T, with I = tr(Sigma) 1 - Sigma
    mass, tensor = parameters[0], parameters[TENSOR_INDEX]
    h = product(R, parameters[1:4])
    # Second moments turn as a tensor; the inertia itself has a trace to be carried along.
    second = chain(R, np.trace(tensor) / 2 * np.eye(3) - tensor, R.T)
    second = second + np.outer(h, p) + np.outer(p, h) + mass * np.outer(p, p)
    return Inertia.from_tensor(mass, h + mass * p, np.trace(second) * np.eye(3) - second).parameters
