"""Mass matrix, inertial and gravity coefficients, forward dynamics, momentum observer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tauform.arrays import AnyArray, Array
from tauform.codegen.functions.function import Algorithm, Function, Shapes, joint_vectors
from tauform.codegen.functions.torques import friction_torques, rigid_torques
from tauform.codegen.minimal.composite import composites, counted_mass_matrix, gravity_torque
from tauform.codegen.minimal.composite import mass_matrix as composite_mass_matrix
from tauform.codegen.minimal.problem import at_leading_joints
from tauform.codegen.minimal.tracing import Outputs, Tracer, Tracing
from tauform.description.robot import Robot
from tauform.description.tree import Tree
from tauform.rigidbody.articulated_body import articulated_body
from tauform.rigidbody.drives import coupled_inertia, coupled_torque, has_coupled_inertia
from tauform.rigidbody.forward_dynamics import forward_dynamics
from tauform.rigidbody.gravity import gravity_torque as textbook_gravity
from tauform.rigidbody.inertia.composite_rigid_body import composite_rigid_body
from tauform.rigidbody.inertia.gdahj import gdahj
from tauform.rigidbody.inertia.mass_matrix import mass_matrix
from tauform.rigidbody.load import has_load, leading_joints, load_slopes
from tauform.rigidbody.momentum import generalized_momentum, momentum_and_drift, momentum_observer, refuse_load
from tauform.rigidbody.sweeps.factorization import factorize, solve
from tauform.rigidbody.sweeps.wrenches import Wrenches


def _with_shafts(tracing: Tracing, D: AnyArray) -> AnyArray:
    """The mass matrix of the tree with coupled rotors."""
    tree = tracing.drive_tree
    # Textbook and composite matrices hold each rotor's own Ia; Iam stands off the diagonal.
    return D + coupled_inertia(tree)[..., 0] if has_coupled_inertia(tree) else D


def _composite_matrix(by_trace: bool) -> Tracer:
    def trace(tracing: Tracing) -> Outputs:
        # Two ways to Izz of a composite, by its own sum or by the trace: which is cheaper depends on the robot, so both
        # are candidates.
        bodies, q = tracing.bodies, tracing.joints("q")
        if tracing.steps.only_counted:
            D = counted_mass_matrix(bodies, q, by_trace, tracing.steps)
        else:
            D = composite_mass_matrix(bodies, q, composites(bodies, q), by_trace)
        return {"M": tracing.matrix(_with_shafts(tracing, np.array(D, dtype=object)))}

    return trace


def minimal_mass_matrix(tracing: Tracing) -> AnyArray:
    """The mass matrix in the user's coordinates, from composite bodies."""
    matrix: AnyArray = _composite_matrix(by_trace=False)(tracing)["M"]
    return matrix


def _textbook_matrix(core: Callable[[Tree, AnyArray], AnyArray]) -> Tracer:
    def trace(tracing: Tracing) -> Outputs:
        D = core(tracing.bodies.to_tree(), tracing.angles())[..., 0]
        return {"M": tracing.matrix(_with_shafts(tracing, D))}

    return trace


def _coefficients(by_trace: bool) -> Tracer:
    def trace(tracing: Tracing) -> Outputs:
        # One set of composites for the matrix and for gravity.
        q = tracing.joints("q")
        carried = composites(tracing.bodies, q)
        D = composite_mass_matrix(tracing.bodies, q, carried, by_trace)
        gravity = tracing.efforts(gravity_torque(tracing.bodies, q, carried))
        return {"M": tracing.matrix(_with_shafts(tracing, np.array(D, dtype=object))), "gravity": gravity}

    return trace


def inverse_of(factors: AnyArray, parents: tuple[int, ...]) -> AnyArray:
    """M^-1 from its factors: one triangle is computed, the other is its mirror image."""
    # The graph drops what the mirrored half would cost: nobody reads it.
    columns = solve(factors, parents, np.eye(len(parents)).astype(object))
    lower = np.tril_indices(len(columns))
    mirrored = columns.copy()
    mirrored[lower[1], lower[0]] = columns[lower]
    return mirrored


@dataclass(frozen=True, eq=False)
class ForwardSystem:
    """M qdd = driving, with M factorised.

    Attributes:
        driving: (n,) torque that is left for the bodies.
        shares: (n,) of a change of torque, what friction that depends on load leaves of it; None where it leaves all.
    """

    factors: AnyArray
    parents: tuple[int, ...]
    driving: AnyArray
    shares: AnyArray | None = None

    def solve(self, right: AnyArray) -> AnyArray:
        """x with M x = right."""
        return solve(self.factors, self.parents, right)

    def response(self, change: AnyArray) -> AnyArray:
        """Change of qdd under a change of torque, a column each or a single one."""
        if self.shares is None:
            return self.solve(change)
        # A column per change: shares stretch over all further dimensions.
        return self.solve(self.shares.reshape(-1, *[1] * (change.ndim - 1)) * change)

    def inverse(self) -> AnyArray:
        """dqdd/dtau, M^-1 as a rule."""
        inverse = inverse_of(self.factors, self.parents)
        # dqdd/dtau = M^-1 diag(shares).
        return inverse if self.shares is None else inverse * self.shares

    def accelerations(self) -> AnyArray:
        """qdd under tau."""
        return self.solve(self.driving)


def matrix_factors(tracing: Tracing) -> tuple[AnyArray, tuple[int, ...]]:
    """D on the diagonal and L below it of the minimal mass matrix, and the parents whose zeros they keep."""
    M = minimal_mass_matrix(tracing)
    # the factor keeps the zeros of branches, unless loops or shafts tie them together
    tied = tracing.problem.robot.closure is not None or has_coupled_inertia(tracing.drive_tree)
    parents = tuple(range(-1, len(M) - 1)) if tied else tracing.bodies.parents
    return factorize(M, parents), parents


def forward_system(tracing: Tracing, bias: list[Any] | None = None) -> ForwardSystem:
    """The equations of forward dynamics from the minimal mass matrix and bias, that of the tree if not given."""
    robot, tree = tracing.problem.robot, tracing.drive_tree
    factors, parents = matrix_factors(tracing)
    # C qd + g of the tree, with external wrenches.
    bias = rigid_torques(tracing, tracing.joints("qd"), wrenches=tracing.wrenches) if bias is None else bias
    friction = friction_torques(tracing)
    # Without load friction the right-hand side is tau - bias - friction.
    if not has_load(tree):
        resisting = tracing.efforts([a + b for a, b in zip(bias, friction, strict=True)])
        return ForwardSystem(factors, parents, tracing.inputs["tau"] - resisting)
    driving = tracing.inputs["tau"] - tracing.efforts(friction)
    state = tracing.drive_state()._replace(carried=at_leading_joints(robot, driving)[:, None])
    # rigid = driving / (1 + gain), the gain by the sign of driving; see rigidbody/load.py
    shares = (1 / (1 + load_slopes(tree, state)[:, 0]))[leading_joints(robot)]
    return ForwardSystem(factors, parents, shares * driving - tracing.efforts(bias), shares)


def _forward_by_matrix(tracing: Tracing) -> Outputs:
    return {"qdd": forward_system(tracing).accelerations()}


def _forward_by_bodies(tracing: Tracing) -> Outputs:
    driving = tracing.inputs["tau"] - np.array(friction_torques(tracing), dtype=object)
    tree, qd = tracing.bodies.to_tree(), tracing.joints("qd")[:, None]
    qdd = articulated_body(tree, tracing.angles(), qd, driving[:, None], tracing.body_wrenches())
    return {"qdd": qdd[:, 0]}


def _momentum(tracing: Tracing) -> Outputs:
    """M qd as the torque of an acceleration qd at rest, without weight."""
    # An acceleration qd at rest and without weight needs the torque M qd: no mass matrix is formed.
    torques = rigid_torques(tracing, qdd=tracing.joints("qd"), gravity=False)
    return {"momentum": tracing.efforts(torques)}


def _observer(tracing: Tracing) -> Outputs:
    robot, x = tracing.problem.robot, tracing.inputs
    refuse_load(robot)
    qd = tracing.joints("qd")
    # p and C^T qd from one sweep.
    momentum, drift = momentum_and_drift(tracing.bodies.to_tree(), tracing.angles(), qd[:, None])[..., 0]
    momentum = [p + s for p, s in zip(momentum, coupled_torque(tracing.drive_tree, qd[:, None])[:, 0], strict=True)]
    # Without velocity and acceleration only gravity is left.
    gravity = rigid_torques(tracing)
    lost = [d - g - f for d, g, f in zip(drift, gravity, friction_torques(tracing), strict=True)]
    inflow = x["tau"] + tracing.efforts(lost) + tracing.bent_efforts(momentum) + x["residual"]
    # Explicit Euler, as in the textbook function: a controller's period is short beside 1 / gain.
    integral = x["integral"] + x["period"][0] * inflow
    return {"residual": x["gain"] * (tracing.efforts(momentum) - integral), "integral": integral}


def _observer_inputs(robot: Robot) -> Shapes:
    ports = joint_vectors("q", "qd", "tau", "integral", "residual", "gain", drives=True)(robot)
    # Last among the inputs, as in every function.
    temperature = {name: ports.pop(name) for name in ("temperature",) if name in ports}
    return {**ports, "period": (1,), **temperature}


def _forward_reference(
    robot: Robot,
    q: AnyArray,
    qd: AnyArray,
    tau: AnyArray,
    temperature: AnyArray | None = None,
    wrenches: Wrenches | None = None,
) -> Array:
    return forward_dynamics(robot, q, qd, tau, temperature=temperature, wrenches=wrenches)


def _observer_reference(robot: Robot, *arrays: Any) -> tuple[Array, Array]:
    return momentum_observer(robot, *arrays)


def coefficients(robot: Robot, q: AnyArray) -> tuple[Array, Array]:
    """Mass matrix and gravity torque, what changes with the position alone."""
    return mass_matrix(robot, q), textbook_gravity(robot, q)


INERTIA = (
    Function(
        "mass_matrix",
        "joint-space inertia, rotors included",
        joint_vectors("q"),
        mass_matrix,
        {
            "composite": Algorithm(_composite_matrix(False), any_unit=True, in_steps=True),
            "composite_trace": Algorithm(_composite_matrix(True), any_unit=True, in_steps=True),
            "crba": Algorithm(_textbook_matrix(composite_rigid_body)),
            "gdahj": Algorithm(_textbook_matrix(gdahj)),
        },
    ),
    Function(
        "coefficients",
        "mass matrix and gravity torque together",
        joint_vectors("q"),
        coefficients,
        {
            "composite": Algorithm(_coefficients(False), any_unit=True),
            "composite_trace": Algorithm(_coefficients(True), any_unit=True),
        },
    ),
    Function(
        "forward_dynamics",
        "accelerations under given torques, friction subtracted",
        joint_vectors("q", "qd", "tau", drives=True),
        _forward_reference,
        {
            "mass_matrix": Algorithm(_forward_by_matrix, like_torques=True, any_unit=True, sums_angles=True),
            "articulated_body": Algorithm(_forward_by_bodies, like_torques=True, with_loops=False),
        },
        tolerance=1e-9,
        feels_wrenches=True,
    ),
    Function(
        "generalized_momentum",
        "momentum M qd, the integral that the observer starts with",
        joint_vectors("q", "qd"),
        generalized_momentum,
        {"newton_euler": Algorithm(_momentum, any_unit=True, sums_angles=True)},
    ),
    Function(
        "momentum_observer",
        "one step of the residual, the torque from outside [N m, N], which follows with the time constant 1/gain; gain "
        "[1/s], period [s]; start with integral = generalized_momentum(q, qd), which is zero at rest, and residual = 0",
        _observer_inputs,
        _observer_reference,
        {"momentum": Algorithm(_observer, like_torques=True)},
    ),
)
