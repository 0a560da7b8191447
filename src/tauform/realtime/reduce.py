"""reduce: the cheapest program that keeps a stated error on a stated share of the states that it will meet.

Every route is tried (`tauform.realtime.routes`), the fewest operations win, and the winner is verified on fresh
states. If nothing beats the exact program, the exact program is the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tauform.closedform.bound import BoundModel
from tauform.closedform.derive import derive
from tauform.closedform.profile import Profile
from tauform.codegen.compile import Kernel, compile_program
from tauform.codegen.generate import generate
from tauform.codegen.problem import declared_groups
from tauform.codegen.program import Candidate, Certificate, Program
from tauform.codegen.pruning.prune import Task, flat_results, prune
from tauform.description.robot import Robot
from tauform.errors import ModelError, UnknownNameError
from tauform.realtime.guards import guard, result_weights
from tauform.realtime.routes import Route, by_parameters, by_terms, by_velocity
from tauform.realtime.verification import Verification, function_states, verify

ROUTES = ("terms", "parameters", "velocity", "operations")
FUNCTIONS = ("inverse_dynamics", "gravity_torque", "mass_matrix", "forward_dynamics")
# States of the regressions; operations are pruned on so many that this many may fail.
ROUTE_STATES, FAILING_STATES, STATES_BOUNDS = 3000, 30, (4000, 30_000)
GUARD_STATES = 4000
# Routes aim a little below the tolerance, so that fresh states confirm them; lower where they do not.
AIMS = (0.97, 0.85, 0.7)

Progress = Callable[[str], None]
Attempt = Callable[[float], Route | None]


@dataclass(frozen=True, eq=False, repr=False)
class Reduction:
    """The cheapest program within a tolerance, and what it was compared with.

    Attributes:
        program: the winner; it writes C and compiles like any program, and its certificate holds the measured error.
        route: how it was found; "exact" where nothing smaller kept the promise.
        remark: what was left out, in words.
        exact: the program without any error.
        candidates: the best of every route, with its verification.
        bound: the reduced closed form, where the winner has one.
    """

    robot: Robot
    profile: Profile
    tolerance: float
    confidence: float
    program: Program
    route: str
    remark: str
    exact: Program
    candidates: tuple[RouteResult, ...]
    bound: BoundModel | None = None

    @property
    def error(self) -> float:
        """Relative error that the given share of fresh states stayed below."""
        return next(c.verification.error for c in self.candidates if c.name == self.route)

    def compile(self) -> Kernel:
        """The program as a kernel for this machine."""
        return compile_program(self.program)

    def __repr__(self) -> str:
        return (
            f"Reduction({self.robot.name!r}, {self.profile.name}: {self.program.n_operations} of "
            f"{self.exact.n_operations} operations by route {self.route!r}, error {self.error:.2%} at "
            f"{self.confidence:.4g})"
        )

    def __str__(self) -> str:
        lines = [repr(self)]
        kind = "fresh" if self.profile.recorded is None else "recorded"
        for c in self.candidates:
            mark = "*" if c.name == self.route else " "
            lines.append(
                f"{mark} {c.name:10} {c.program.n_multiplications:5} mult + {c.program.n_additions:5} add, error "
                f"{c.verification.error:.3%} on {c.verification.n_states} {kind} states: {c.remark}"
            )
        return "\n".join(lines)


@dataclass(frozen=True, eq=False)
class RouteResult:
    """The best program of a route, verified."""

    name: str
    program: Program
    remark: str
    verification: Verification
    bound: BoundModel | None = None


def reduce(
    model: Robot | BoundModel,
    profile: Profile,
    tolerance: float = 0.01,
    confidence: float = 0.999,
    *,
    function: str = "inverse_dynamics",
    routes: Sequence[str] = ROUTES,
    n_fresh: int = 1_000_000,
    seed: int = 0,
    progress: Progress | None = None,
) -> Reduction:
    """The cheapest program whose relative error stays within a tolerance for a share of the profile's states.

    Args:
        model: a robot, or its closed form with numbers.
        profile: states that the program will meet; recorded ones are all verified.
        tolerance: of |tau - tau_exact| / |tau_exact| (likewise for the other functions).
        confidence: share of the states for which it must hold.
        function: "inverse_dynamics" (all routes), "gravity_torque", "mass_matrix" or "forward_dynamics" (route
            "operations" alone; the reduced mass matrix stays symmetric positive definite).
        routes: which routes to try.
        n_fresh: fresh states to verify on.
        progress: called with a sentence before each step.

    Raises:
        ModelError: a tolerance or confidence out of range, a profile outside joint limits or of another robot.
        UnknownNameError: no such function or route.
    """
    robot = _checked(model, profile, tolerance, confidence, function, routes)
    tell = progress or (lambda sentence: None)
    tell("generating the exact program")
    search = _Search(
        model, robot, generate(robot, function), profile, tolerance, confidence, n_fresh, np.random.default_rng(seed)
    )
    results = [RouteResult("exact", search.exact, "nothing left out", Verification.exact(n_fresh))]
    attempts = search.attempts() if function == "inverse_dynamics" else {}
    for name in [name for name in attempts if name in routes]:
        tell(f"leaving out {name}" + (" terms" if name == "velocity" else ""))
        results.append(search.first_verified(name, attempts[name]))
    if "operations" in routes:
        tell("leaving out operations")
        results.append(search.by_operations([result.program for result in results]))
    return _decided(search, results)


def _checked(
    model: Robot | BoundModel,
    profile: Profile,
    tolerance: float,
    confidence: float,
    function: str,
    routes: Sequence[str],
) -> Robot:
    if not 0 < tolerance < 1:
        raise ModelError(f"tolerance: expected a number between 0 and 1 (0.01 is 1 %), got {tolerance}")
    if not 0 < confidence < 1:
        raise ModelError(f"confidence: expected a share of the states between 0 and 1 (0.999), got {confidence}")
    for kind, names, known in (("route", routes, ROUTES), ("function", [function], FUNCTIONS)):
        for name in names:
            if name not in known:
                raise UnknownNameError(f"{kind} {name!r} does not exist; choose from {', '.join(known)}")
    robot = model if isinstance(model, Robot) else robot_of(model)
    profile.check_limits(robot)
    return robot


def robot_of(bound: BoundModel) -> Robot:
    """A robot with exactly the dynamics of a closed form.

    Raises:
        ModelError: the closed form came from a file, or assumes something that a robot cannot.
    """
    robot, model = bound.base.robot, bound.model
    if robot is None or (model is not None and (model.fixed or len(model.ties))):
        raise ModelError(
            f"{bound.name}: this closed form came from a file or rests on assumptions, so no robot has its dynamics; "
            "derive it again without assumptions, or reduce the robot itself"
        )
    parameters = np.zeros(14 * robot.n_bodies)
    parameters[list(bound.base.pivots)] = bound.theta
    return robot.with_parameters(parameters)


@dataclass(frozen=True, eq=False)
class _Search:
    """What all routes share."""

    model: Robot | BoundModel
    robot: Robot
    exact: Program
    profile: Profile
    tolerance: float
    confidence: float
    n_fresh: int
    rng: np.random.Generator

    def attempts(self) -> dict[str, Attempt]:
        """Routes that leave out terms, velocities or parameters: each takes a tolerance to aim at."""
        robot, confidence = self.robot, self.confidence
        states = self.profile.sample(ROUTE_STATES, self.rng)
        attempts: dict[str, Attempt] = {
            "velocity": lambda aim: by_velocity(robot, states, aim, confidence),
            "parameters": lambda aim: by_parameters(robot, states, aim, confidence),
        }
        if robot.is_chain:
            bound = self.model if isinstance(self.model, BoundModel) else _closed_form(robot)
            attempts["terms"] = lambda aim: by_terms(bound, self.profile, aim, confidence, self.rng)
        return {name: attempts[name] for name in ROUTES if name in attempts}

    def first_verified(self, name: str, attempt: Attempt) -> RouteResult:
        """The first attempt that fresh states confirm; each next one aims lower."""
        for aim in AIMS:
            route = attempt(aim * self.tolerance)
            if route is None:
                break
            verification = self.verified(route.program)
            if verification.holds:
                return RouteResult(name, route.program, route.remark, verification, route.bound)
        return self._nothing(name)

    def by_operations(self, starts: list[Program]) -> RouteResult:
        """Operations left out of the exact program and of the cheapest so far, whichever ends smaller."""
        cheapest = min(starts, key=lambda program: program.n_operations)
        ladders = [self._pruned(start) for start in dict.fromkeys((self.exact, cheapest))]
        rungs = sorted((p for ladder in ladders for p in ladder), key=lambda program: program.n_operations)
        for program in rungs:
            if program.n_operations >= self.exact.n_operations:
                break
            verification = self.verified(program)
            if verification.holds:
                n_left_out = self.exact.n_operations - program.n_operations
                remark = f"{n_left_out} of {self.exact.n_operations} operations left out, numbers refitted"
                return RouteResult("operations", program, remark, verification)
        return self._nothing("operations")

    def verified(self, program: Program) -> Verification:
        return verify(
            program,
            self.exact,
            self.robot,
            self.profile,
            self.tolerance,
            self.confidence,
            self.n_fresh,
            self.rng,
        )

    def _pruned(self, start: Program) -> list[Program]:
        n_states = int(np.clip(FAILING_STATES / (1 - self.confidence), *STATES_BOUNDS))
        states = function_states(self.robot, self.exact, self.profile.sample(n_states, self.rng))
        soundness = guard(self.exact.name, [s[:GUARD_STATES] for s in states])
        expected = flat_results(self.exact, states)
        weights = result_weights(self.exact.name, expected)
        task = Task(states, expected, weights, self.confidence, soundness)
        return prune(start, task, AIMS[0] * self.tolerance)

    def _nothing(self, name: str) -> RouteResult:
        remark = "no smaller program keeps the promise"
        return RouteResult(name, self.exact, remark, Verification.exact(self.n_fresh))


def _closed_form(robot: Robot) -> BoundModel:
    return derive(robot, include=declared_groups(robot)).bind(robot)


def _decided(search: _Search, results: list[RouteResult]) -> Reduction:
    """The cheapest result; the exact program wins where nothing is cheaper."""
    exact, profile = search.exact, search.profile
    best = min(results, key=lambda result: result.program.n_operations)
    candidates = tuple(
        Candidate(r.name, r.program.n_multiplications, r.program.n_additions, r is best, r.remark) for r in results
    )
    program = replace(best.program, candidates=candidates)
    if best.name != "exact":
        v = best.verification
        where = f"exact {exact.name} on states of profile {profile.name!r}, {search.confidence:.4%} of them"
        certificate = Certificate(v.n_states, v.error, search.tolerance, where)
        program = replace(program, certificate=certificate, algorithm=f"{exact.algorithm}, {best.name} left out")
    return Reduction(
        robot=search.robot,
        profile=profile,
        tolerance=search.tolerance,
        confidence=search.confidence,
        program=program,
        route=best.name,
        remark=best.remark,
        exact=exact,
        candidates=tuple(results),
        bound=best.bound,
    )
