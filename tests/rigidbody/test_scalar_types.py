"""Every core runs on arrays of scalars that know only + - * / and elementary functions: what tracing needs."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from random_drives import FURTHER, with_random_drives
from random_robots import random_tree
from tauform.description.drives.groups import JointState
from tauform.description.tree import Tree
from tauform.rigidbody import energy, regressor
from tauform.rigidbody.articulated_body import articulated_body
from tauform.rigidbody.coriolis import christoffel
from tauform.rigidbody.drives import friction_slopes, friction_torque
from tauform.rigidbody.forward_dynamics import solved_by_mass_matrix
from tauform.rigidbody.gravity import gravity
from tauform.rigidbody.inertia.composite_rigid_body import composite_rigid_body
from tauform.rigidbody.inertia.frame_injection import centrifugal, injected
from tauform.rigidbody.inertia.gdahj import gdahj
from tauform.rigidbody.inverse_dynamics import newton_euler
from tauform.rigidbody.kinematics import frame_jacobian
from tauform.rigidbody.linearize.forward_matrices import forward_matrices, forward_matrices_conventional
from tauform.rigidbody.linearize.forward_vector import forward_vector, forward_vector_conventional
from tauform.rigidbody.linearize.inverse_matrices import inverse_matrices
from tauform.rigidbody.linearize.inverse_vector import inverse_vector
from tauform.rigidbody.linearize.transposed import forward_transposed, inverse_transposed


class Scalar:
    """A number that hides everything but the arithmetic of a straight-line program."""

    def __init__(self, value: float) -> None:
        self.value = float(value)

    def __add__(self, other):
        return Scalar(self.value + number(other))

    def __sub__(self, other):
        return Scalar(self.value - number(other))

    def __rsub__(self, other):
        return Scalar(number(other) - self.value)

    def __mul__(self, other):
        return Scalar(self.value * number(other))

    def __truediv__(self, other):
        return Scalar(self.value / number(other))

    def __rtruediv__(self, other):
        return Scalar(number(other) / self.value)

    def __neg__(self):
        return Scalar(-self.value)

    def sin(self):
        return Scalar(math.sin(self.value))

    def cos(self):
        return Scalar(math.cos(self.value))

    def sign(self):
        return Scalar(math.copysign(1, self.value) if self.value else 0)

    def abs(self):
        return Scalar(abs(self.value))

    def exp(self):
        return Scalar(math.exp(self.value))

    def tanh(self):
        return Scalar(math.tanh(self.value))

    def sqrt(self):
        return Scalar(math.sqrt(self.value))

    __radd__, __rmul__ = __add__, __mul__

    def __bool__(self):
        raise TypeError("a symbolic scalar has no truth value")

    __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __bool__  # type: ignore[assignment]
    __hash__ = None  # type: ignore[assignment]


def number(x) -> float:
    return x.value if isinstance(x, Scalar) else float(x)


def wrapped(array: np.ndarray) -> np.ndarray:
    return np.frompyfunc(Scalar, 1, 1)(array)


def unwrapped(array: np.ndarray) -> np.ndarray:
    return np.frompyfunc(number, 1, 1)(array).astype(float)


NEEDING_MORE = {"load", "thermal"}
ROBOT = with_random_drives(random_tree(5, seed=5), 1, [shape for shape in FURTHER if shape not in NEEDING_MORE])
ALL_DRIVES = with_random_drives(random_tree(5, seed=5), 2).tree.drives


def _with_all(tree: Tree) -> Tree:
    """The tree with drive terms of every shape, also of those that need temperatures and loads."""
    coefficients = np.concatenate([tree.coefficients[:1]] * len(ALL_DRIVES))
    return replace(tree, drives=ALL_DRIVES, coefficients=coefficients)


CORES = {
    "newton_euler": (newton_euler, 3),
    "composite_rigid_body": (composite_rigid_body, 1),
    "gdahj": (gdahj, 1),
    "christoffel": (christoffel, 2),
    "injected": (injected, 2),
    "centrifugal": (centrifugal, 1),
    "gravity": (gravity, 1),
    "articulated_body": (articulated_body, 3),
    "solved_by_mass_matrix": (solved_by_mass_matrix, 3),
    "inverse_regressor": (regressor.inverse_regressor, 3),
    "reference_regressor": (regressor.reference_regressor, 4),
    "kinetic_functions": (energy.kinetic_functions, 2),
    "potential_functions": (energy.potential_functions, 1),
    "frame_jacobian": (lambda tree, q: frame_jacobian(tree, q, ROBOT.tool, True), 1),
    "friction_torque": (lambda tree, *rows: friction_torque(_with_all(tree), JointState(*rows)), 5),
    "friction_slopes": (lambda tree, *rows: friction_slopes(_with_all(tree), JointState(*rows)), 5),
    "inverse_vector": (inverse_vector, 6),
    "inverse_matrices": (inverse_matrices, 3),
    "forward_vector": (forward_vector, 6),
    "forward_vector_conventional": (forward_vector_conventional, 6),
    "forward_matrices": (forward_matrices, 3),
    "forward_matrices_conventional": (forward_matrices_conventional, 3),
    "inverse_transposed": (inverse_transposed, 4),
    "forward_transposed": (forward_transposed, 4),
}


@pytest.mark.parametrize("symbolic_parameters", [False, True], ids=["numbers", "symbols"])
@pytest.mark.parametrize("name", CORES)
def test_core_runs_on_scalar_objects(name, symbolic_parameters):
    core, n_arguments = CORES[name]
    tree = ROBOT.tree
    vectors = np.random.default_rng(1).normal(size=(n_arguments, tree.n, 1))
    expected = core(tree, *vectors)
    if symbolic_parameters:  # with parameters and geometry as symbols, too
        fields = ("rotations", "translations", "inertias", "coefficients", "gravity")
        tree = replace(tree, **{field: wrapped(getattr(tree, field)) for field in fields})
    result = core(tree, *(wrapped(vector) for vector in vectors))
    np.testing.assert_allclose(unwrapped(result), expected, rtol=0, atol=1e-12 * np.abs(expected).max())
