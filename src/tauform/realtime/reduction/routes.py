"""Routes to a smaller program: each trades accuracy for operations in its own way.

terms:      leave terms out of the closed form, factor what is left.  [Lloyd2021, sections 4.1 and 4.3]
parameters: leave out base parameters that hardly matter, keep the recursive program.  [Izaguirre1992, section 6]
velocity:   leave out velocity terms of the recursive program: all, or those of some joints or links.
operations: leave out single operations of the cheapest program so far (`tauform.codegen.pruning`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tauform.arrays import Array
from tauform.closedform.base.parameters import base_parameters
from tauform.closedform.model.bound import BoundModel
from tauform.closedform.reduction.fewest import TermSearch
from tauform.closedform.reduction.reduction import Completed, refitted, relative_error
from tauform.codegen.factored.model_program import cheapest_factored
from tauform.codegen.program.program import Program
from tauform.portable.products import product
from tauform.realtime.reduction.error_norm import ErrorNorm
from tauform.realtime.reduction.guards import moving_block, positive_definite
from tauform.realtime.reduction.subject import function_states
from tauform.realtime.reduction.velocity import (
    NOTHING,
    Quiet,
    all_joints,
    recursive,
    regressor_without,
    without_velocity,
)
from tauform.rigidbody.friction import friction_under
from tauform.rigidbody.inertia.mass_matrix import mass_matrix
from tauform.rigidbody.load import has_load

# Greedy choices of links try the whole set first, then so many smaller ones.
FEWER_LINKS = 2


@dataclass(frozen=True, eq=False)
class Route:
    """A smaller program and how it came about.

    Attributes:
        program: its certificate compares it with what is left of the model, not with the exact one.
        remark: what was left out, in words.
        bound: the reduced closed form, where the route has one.
    """

    program: Program
    remark: str
    bound: BoundModel | None = None


def by_terms(terms: TermSearch, norm: ErrorNorm, tolerance: float) -> Route | None:
    """Few terms of the closed form, factored: the fewest, or those that cost less because more is shared among them.

    Returns:
        None where the mass matrix is not positive definite with all terms, and not with few.
    """
    whole = norm.subject.closed_form
    models = [_few_terms(terms, norm, tolerance, None)]
    # all terms have no companions left
    if models[0] is None or models[0].n_terms < whole.n_terms:
        models.append(_few_terms(terms, norm, tolerance, norm.subject.companions))
    found = tuple(model for model in models if model is not None)
    if not found:
        return None
    if found not in norm.made:
        norm.tell(f"factoring {found[-1].n_terms} terms")
        norm.made[found] = cheapest_factored(found, norm.function)
    bound, program = norm.made[found]
    assert bound is not None
    remark = f"{bound.n_terms} of {whole.n_terms} terms, {bound.base.n} of {whole.base.n} base parameters"
    return Route(program, remark, bound)


def _few_terms(terms: TermSearch, norm: ErrorNorm, tolerance: float, completed: Completed | None) -> BoundModel | None:
    """Fewest terms of the closed form within the tolerance; its inertia stays whole where it must, to be definite."""
    found = terms.fewest(tolerance, completed=completed).bound
    inertia = moving_block(_symmetric(found.textbook.mass_matrix(norm.states[0])), found.moving)
    if not norm.definite or positive_definite(inertia):
        return found
    # Terms of the mass matrix stay then, and the rest pays for the tolerance.
    return terms.fewest(tolerance, keep_inertia=True, completed=completed).bound if norm.may_keep_inertia else None


def _symmetric(matrices: Array) -> Array:
    """Remove the rounding by which sums in different order differ."""
    mean: Array = 0.5 * (matrices + np.swapaxes(matrices, -1, -2))
    return mean


def by_velocity(norm: ErrorNorm, tolerance: float, asked: Quiet | None = None) -> Route | None:
    """Velocity terms left out: of all joints, else of as many joints or links as the tolerance allows.

    Args:
        asked: what to leave out, whatever the error; searched for if not given.

    Returns:
        The cheaper of both, None where even one joint or link is too many, or the mass matrix is not definite at all.
    """
    robot = norm.robot
    if asked is not None:
        return _quiet_route(norm, asked)
    # Velocity terms have no part in the mass matrix: it would stay what it is.
    if not norm.may_keep_inertia:
        return None
    everything = Quiet(joints=all_joints(robot))
    # The textbook's torques decide before a program is made: generating one takes longer.
    if norm.error(without_velocity(robot, everything, *norm.states)) <= tolerance:
        return _quiet_route(norm, everything)
    found = [_quiet_joints(norm, tolerance), _quiet_links(norm, tolerance)]
    routes = [route for route in found if route is not None]
    return min(routes, key=lambda route: route.program.n_operations) if routes else None


def _quiet_route(norm: ErrorNorm, quiet: Quiet) -> Route:
    robot, words = norm.robot, quiet.words(norm.robot)
    if quiet not in norm.made:
        norm.tell(f"leaving out velocity terms of {words}")
        norm.made[quiet] = None, recursive(robot, norm.function, quiet)
    return Route(norm.made[quiet][1], f"velocity terms of {words} left out")


def _quiet_joints(norm: ErrorNorm, tolerance: float) -> Route | None:
    """Joints that may rest: as many as possible, those that matter least first."""
    robot, still = norm.robot, frozenset[int]()
    while len(still) < robot.n_joints:
        # Greedy: the joint that costs least accuracy next, given those that rest already.
        options = {
            still | {i}: norm.error(without_velocity(robot, Quiet(joints=still | {i}), *norm.states))
            for i in all_joints(robot) - still
        }
        best = min(options, key=lambda joints: options[joints])
        if options[best] > tolerance:
            break
        still = best
    return _quiet_route(norm, Quiet(joints=still)) if still else None


def _quiet_links(norm: ErrorNorm, tolerance: float) -> Route | None:
    """Links that may go, as many as possible; it hangs on where the program regroups parameters, so it is asked."""
    robot = norm.robot
    base = base_parameters(robot, include=norm.subject.include)
    parameters = np.zeros(robot.layout.n)
    # Base parameters at their pivots, zero elsewhere: the same torques from the fewest numbers, as programs hold them.
    parameters[list(base.pivots)] = base.values(robot)
    # (N, n, 14 bodies) columns with and without velocity terms.
    moving, resting = (regressor_without(robot, quiet, *norm.states) for quiet in (NOTHING, _all_links(robot.n_bodies)))
    # (N, n, bodies, parameters of a body): torque that each quiet link would lose.
    lost = robot.layout.by_link((moving - resting) * parameters) * norm.subject.gains(*norm.states)[..., None, None]
    by_link = norm.weighted(lost.sum(axis=-1))
    chosen: list[int] = []
    while len(chosen) < robot.n_bodies:
        errors = {
            k: _share(by_link[..., [*chosen, k]], norm.confidence) for k in range(robot.n_bodies) if k not in chosen
        }
        best = min(errors, key=lambda k: errors[k])
        if errors[best] > tolerance:
            break
        chosen.append(best)
    # An estimate, for programs regroup parameters their own way: the program decides, with a few links fewer.
    for size in range(len(chosen), max(0, len(chosen) - 1 - FEWER_LINKS), -1):
        route = _quiet_route(norm, Quiet(links=frozenset(chosen[:size])))
        if _program_error(route.program, norm) <= tolerance:
            return route
    return None


def _all_links(n_bodies: int) -> Quiet:
    return Quiet(links=frozenset(range(n_bodies)))


def _share(by_link: Array, confidence: float) -> float:
    return float(np.quantile(np.linalg.norm(by_link.sum(axis=-1), axis=1), confidence))


def _program_error(program: Program, norm: ErrorNorm) -> float:
    found = program(*function_states(norm.subject, program, norm.states))
    if norm.function == "inverse_dynamics":
        return norm.error(found)
    return relative_error(found, norm.states[2], norm.confidence)


def by_parameters(norm: ErrorNorm, tolerance: float) -> Route | None:
    """Base parameters of least significance left out, the others refitted; all velocity terms too where that fits.

    Returns:
        None where nothing can be left out.
    """
    robot, states = norm.robot, norm.states
    everything = Quiet(joints=all_joints(robot))
    # Half of the tolerance is left for the parameters that go as well.
    fits = norm.error(without_velocity(robot, everything, *states)) <= tolerance / 2
    quiet = everything if fits else NOTHING
    base = base_parameters(robot, include=norm.subject.include)
    theta, pivots = base.values(robot), list(base.pivots)
    Y, held = _felt_columns(norm, quiet, pivots)
    # What is left to explain after drive terms that no base parameter holds.
    weighted, wanted = norm.weighted(Y), norm.weighted(norm.torque - held)
    # Largest share of the error norm that a parameter alone makes, at the confidence.
    significance = np.quantile(np.linalg.norm(weighted * theta, axis=1), norm.confidence, axis=0)
    # Stable: equal significances keep their order on every machine.
    order = np.argsort(-significance, kind="stable")

    def fitted(n_kept: int) -> Array:
        kept = order[:n_kept]
        values = robot.parameters.copy()
        # What is not kept is zero; friction and the like outside of the base stays.
        values[list(base.columns)] = 0.0
        values[np.take(pivots, kept)] = refitted(
            weighted[..., kept].reshape(-1, n_kept), wanted.reshape(-1), theta[kept]
        )
        return values

    def fitting(n_kept: int) -> bool:
        values = fitted(n_kept)
        if norm.error(product(Y, values[pivots]) + held) > tolerance:
            return False
        return not norm.definite or positive_definite(mass_matrix(robot.with_parameters(values), states[0]))

    # Bisection: on the whole errors fall with the number kept, since those are refitted each time.
    few, many = 0, len(theta)
    while many - few > 1:
        middle = (few + many) // 2
        few, many = (few, middle) if fitting(middle) else (middle, many)
    if many == len(theta) and not fits:
        return None
    smaller = robot.with_parameters(fitted(many)) if many < len(theta) else robot
    remark = f"{len(theta) - many} of {len(theta)} base parameters{' and velocity terms' if fits else ''} left out"
    return Route(recursive(smaller, norm.function, quiet), remark)


def _felt_columns(norm: ErrorNorm, quiet: Quiet, pivots: list[int]) -> tuple[Array, Array]:
    """(N, n, k) columns of base parameters, and (N, n) torque of the drive terms that these do not hold.

    Under load friction they are columns of links and rotors, times its gain at the exact torques: that gain changes
    only where what a joint carries changes its sign, near zero.
    """
    robot, states = norm.robot, norm.states
    Y = regressor_without(robot, quiet, *states)[..., pivots]
    if not has_load(robot.tree):
        return Y, np.zeros_like(norm.torque)
    q, qd, _, *temperature = states
    # Without load: the carried part has its gain in the columns.
    other = friction_under(robot, q, qd, 0 * qd, *temperature[:1])
    return Y * norm.subject.gains(*states)[..., None], other
