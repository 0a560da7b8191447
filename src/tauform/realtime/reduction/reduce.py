"""reduce: the cheapest program that keeps a stated error on a stated share of the states that it will meet.

Every route is tried (see `routes`), the fewest operations win, and the winner is verified on states that
it was not fitted to: fresh ones of a profile's ranges, or blocks of a recording that were held out. If nothing beats
the exact program, the exact program is the answer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from tauform.arguments import Natural
from tauform.closedform.model.bound import BoundModel
from tauform.closedform.profile import Profile
from tauform.codegen.program.program import Candidate, Certificate, Program
from tauform.codegen.runtime.kernel import Kernel, compile_program
from tauform.deferred import deferred
from tauform.description.robot import Robot
from tauform.errors import ModelError, UnknownNameError
from tauform.escaping.shown import visible
from tauform.messages import Progress
from tauform.notebook import Displayed
from tauform.realtime.reduction.joints import OF_TORQUES, Norm, joint_sizes, joint_tolerances, joint_weights
from tauform.realtime.reduction.search import ROUTES as ROUTES
from tauform.realtime.reduction.search import STRUCTURED, RouteResult, RouteSearch
from tauform.realtime.reduction.subject import Subject
from tauform.realtime.reduction.velocity import Quiet
from tauform.realtime.reduction.verification import Verifier, refuse_nothing
from tauform.scheduler import completed
from tauform.wording import argument

FUNCTIONS = ("inverse_dynamics", "gravity_torque", "mass_matrix", "forward_dynamics")

# Candidates are compared on so many fresh states at most.
SCREENED_STATES = 1_000_000


@dataclass(frozen=True, eq=False, repr=False)
class Reduction(Displayed):
    """The cheapest program within a tolerance, and what it was compared with.

    Attributes:
        program: the winner; it writes C and compiles like any program, and its certificate holds the measured error.
        route: how it was found; "exact" where nothing smaller kept the guarantee.
        remark: what was left out, in words.
        reason: why it won, in words.
        exact: the program without any error.
        candidates: the best of every route, with its verification.
        bound: the closed form with the fewest terms that kept the guarantee, whichever route won; its program is
            that of the candidate "terms". None where that route was not tried or nothing of it held.
        joint_errors: (n,) error of each joint at the confidence, relative to the root mean square of its own torque;
            None for functions without joint torques.
        joint_tolerances: (n,) where each joint was to keep one of its own.
    """

    robot: Robot
    profile: Profile
    tolerance: float
    confidence: float
    program: Program
    route: str
    remark: str
    reason: str
    exact: Program
    candidates: tuple[RouteResult, ...]
    bound: BoundModel | None = None
    joint_errors: tuple[float, ...] | None = None
    joint_tolerances: tuple[float, ...] | None = None

    @property
    def error(self) -> float:
        """Relative error that the given share of the unseen states stayed below."""
        return next(c.verification.error for c in self.candidates if c.name == self.route)

    def compile(self) -> Kernel:
        """The program as a kernel for this machine."""
        return compile_program(self.program)

    def plot(self) -> Any:
        """Error over operations of the best program of each route, a figure of Plotly."""
        return deferred("Reduction.plot")(self)

    def __repr__(self) -> str:
        return (
            f"Reduction({self.robot.name!r}, {self.profile.name}: {self.program.n_operations} of "
            f"{self.exact.n_operations} operations by route {self.route!r}, error {self.error:.2%} at "
            f"{self.confidence:.4g})"
        )

    def __str__(self) -> str:
        lines = [repr(self)]
        kind = "fresh" if self.profile.recorded is None else "held-out"
        for c in self.candidates:
            mark = "*" if c.name == self.route else " " if c.verification.holds else "x"
            inertia = {True: ", mass matrix definite", False: ", mass matrix not definite", None: ""}
            lines.append(
                f"{mark} {c.name:10} {c.program.n_multiplications:5} mult + {c.program.n_additions:5} add, error "
                f"{c.verification.error:.3%} on {c.verification.n_states} {kind} states"
                f"{inertia[c.verification.definite]}: {c.remark}"
            )
        return "\n".join(map(visible, [*lines, self.reason, *([self.by_joint] if self.by_joint else [])]))

    @property
    def by_joint(self) -> str:
        """A sentence on the error of each joint; empty where there is none to tell."""
        if self.joint_errors is None or self.route == "exact":
            return ""
        listed = ", ".join(f"{n} {e:.2%}" for n, e in zip(self.robot.joint_names, self.joint_errors, strict=True))
        share = f"{100 * self.confidence:g} %"
        told = f"Error of each joint relative to its own rms torque, at {share} of the states: {listed}"
        kinds = {joint.type.is_angle for joint in self.robot.joints}
        if self.joint_tolerances is not None or len(kinds) < 2:
            return told
        # One number for forces and moments depends on the units: a thousand times as many mN m.
        return f"{told}; the tolerance is one of N and N m together, {argument('norm', 'joint')} keeps them apart"


def reduce(
    model: Robot | BoundModel,
    profile: Profile | Literal["slow", "fast"] | None = None,
    tolerance: float | Sequence[float] = 0.01,
    confidence: float = 0.999,
    *,
    norm: Norm = "vector",
    function: str = "inverse_dynamics",
    routes: Sequence[str] = ROUTES,
    still: Sequence[str] | None = None,
    definite: bool = True,
    n_fresh: int = 1_000_000,
    seed: Natural = 0,
    threads: int = 1,
    exact: Program | None = None,
    n_starts: int = 1,
    client: Any = None,
    progress: Progress | None = None,
) -> Reduction:
    """The cheapest program whose relative error stays within a tolerance for a share of the profile's states.

    Args:
        model: a robot, or a closed form with numbers. One with fixed joints, or with terms left out already, is no
            robot's: it has the routes "terms" and "operations".
        profile: states that the program will meet; "slow" or "fast" are those of Lloyd2021 within the joint limits,
            slow ones if not given. Every second block of a recording is held out of all fits, and the guarantee must
            hold there as on the whole.
        tolerance: of |tau - tau_exact| / |tau_exact| (likewise for the other functions); or one number per joint.
        norm: "vector" measures errors against the whole torque of a state, as in Lloyd2021 (67), where slides add N to
            N m; "joint", implied by one tolerance per joint, measures the error of each joint against that joint's own
            root mean square over the profile, and all must keep their tolerance at once (inverse_dynamics and
            gravity_torque).
        confidence: share of the states for which it must hold.
        function: "inverse_dynamics" or "forward_dynamics" (all routes), "gravity_torque" or "mass_matrix" (route
            "operations" alone). Mass matrices of the last and those within forward dynamics stay positive definite.
        routes: which routes to try: "terms", "parameters", "velocity", "operations".
        still: joints and links whose velocity terms the route "velocity" leaves out ("all" for all joints); as many
            as the tolerance allows if not given.
        definite: whether the mass matrix within inverse dynamics, d tau / d qdd, must stay positive definite too.
        n_fresh: fresh states to verify on; the routes are compared on a million of them at most, the winner on all.
        seed: of the random states that are searched and verified on; another one may end a few operations apart.
        threads: for the verification.
        exact: the exact program of the function (`tauform.generate`), where it is at hand.
        n_starts: searches from other states each, by the seeds that follow; the cheapest that also holds on states
            that none of them has seen wins.
        client: a `distributed.Client` that makes these searches; the result does not depend on its workers.
        progress: called with a sentence before each step.

    Raises:
        ModelError: a tolerance or confidence out of range, a profile outside joint limits or of another robot, or
            without temperatures where friction depends on them.
        UnknownNameError: no such function, route, joint or link.
    """
    subject = Subject.of(model)
    robot = subject.robot
    # Limits and temperatures of this robot are part of the profile.
    profile = profile.suited(robot) if isinstance(profile, Profile) else Profile.within(robot, profile or "slow")
    tolerance, tolerances = joint_tolerances(robot, tolerance, norm, function)
    check_guarantee(tolerance, confidence, function, routes)
    profile.check_limits(robot)
    routes = _possible(subject, routes, function)
    for name, number in (("n_fresh", n_fresh), ("threads", threads), ("n_starts", n_starts)):
        if number < 1:
            raise ModelError(f"{name}: expected at least 1, got {number}")
    if still is not None and ("velocity" not in routes or function not in STRUCTURED):
        raise ModelError(f"still: velocity terms are left out by the route 'velocity' of {' and '.join(STRUCTURED)}")
    # Names are resolved once, before any program is made.
    asked = None if still is None else Quiet.named(robot, still)
    tell = progress or (lambda sentence: None)
    if exact is None:
        tell("generating the exact program")
        exact = subject.program(function)
    elif exact.name != function:
        raise ModelError(f"exact: expected a program of {function}, got one of {exact.name}")
    rng = np.random.default_rng(seed)
    # What a program is fitted to and what it is judged on never meet.
    seen, unseen = profile.halves()
    for half in (seen, unseen):
        refuse_nothing(subject, exact, half)
    whole = None if profile.recorded is None else profile
    # Candidates are compared on fewer states than the winner must pass.
    n_screened = min(n_fresh, SCREENED_STATES)
    # Of unseen states: what errors are relative to belongs to the verification.
    sizes = joint_sizes(subject, exact, unseen) if function in OF_TORQUES else None
    joints = None if tolerances is None or sizes is None else joint_weights(sizes, tolerances)
    verify = Verifier(exact, subject, unseen, whole, tolerance, confidence, n_screened, rng, definite, threads, joints)
    search = RouteSearch(subject, exact, seen, verify, asked, rng, tell)
    if n_starts > 1:
        given: dict[str, Any] = {"norm": norm, "function": function, "routes": routes, "still": still}
        given |= {"definite": definite, "n_fresh": n_fresh, "threads": threads, "exact": exact}
        shared = model, profile, tolerance if tolerances is None else tuple(tolerances.tolist()), confidence, given
        searches = _from_starts(shared, range(seed, seed + n_starts), client, tell)
        # What won among many is proved on states of its own.
        again = replace(verify, n_states=n_fresh, rng=np.random.default_rng([seed, n_starts]))
        exactly = _decided(robot, profile, tolerance, confidence, exact, search.results(()))
        return next((one for one in searches if one.route == "exact" or again(one.program).holds), exactly)
    results = search.results(routes)
    # Recordings have no fresh states: all held-out ones were used already.
    if profile.recorded is None and n_fresh > n_screened:
        tell(f"verifying the cheapest on {n_fresh} states")
        results = _verified_winner(results, search, replace(verify, n_states=n_fresh))
    # Exact first in the list: it wins where nothing is cheaper.
    found = _decided(robot, profile, tolerance, confidence, exact, results)
    if sizes is None:
        return found
    return replace(
        found,
        joint_errors=verify.joint_errors(found.program, sizes),
        joint_tolerances=None if tolerances is None else tuple(tolerances.tolist()),
    )


def _from_starts(shared: tuple[Any, ...], seeds: Sequence[int], client: Any, tell: Progress) -> list[Reduction]:
    """Reductions by their seeds, the cheapest first."""
    found: dict[int, Reduction] = {}

    def done(seed: int, reduction: Reduction) -> None:
        found[seed] = reduction
        tell(f"{len(found)} of {len(seeds)} searches: {reduction.program.n_operations} operations")

    completed(_from_start, shared, {seed: (seed,) for seed in seeds}, client, done)
    # Of equals the first seed, whichever worker was first.
    return sorted((found[seed] for seed in seeds), key=lambda reduction: reduction.program.n_operations)


def _from_start(shared: tuple[Any, ...], seed: int) -> Reduction:
    """A task of a worker."""
    model, profile, tolerance, confidence, options = shared
    return reduce(model, profile, tolerance, confidence, seed=seed, **options)


def _verified_winner(results: list[RouteResult], search: RouteSearch, verify: Verifier) -> list[RouteResult]:
    """The results with the winner verified on all states; where these refuse it, it is refined."""
    verified: list[RouteResult] = []
    # A winner that fails is refined, and then another may be the cheapest.
    # "exact" always holds, so that the loop ends there at the latest.
    while (best := _cheapest(results)).name != "exact" and best not in verified:
        shown = replace(best, verification=verify(best.program))
        verified.append(shown if shown.verification.holds else search.refined(shown, verify))
        results = [verified[-1] if result is best else result for result in results]
    return results


def _cheapest(results: list[RouteResult]) -> RouteResult:
    return min((r for r in results if r.verification.holds), key=lambda result: result.program.n_operations)


def check_guarantee(tolerance: float, confidence: float, function: str, routes: Sequence[str]) -> None:
    """Refuse what no search can keep or do; ask before long work.

    Raises:
        ModelError: a tolerance or confidence out of range.
        UnknownNameError: no such function or route.
    """
    if not 0 < tolerance < 1:
        raise ModelError(f"tolerance: expected a number between 0 and 1 (0.01 is 1 %), got {tolerance}")
    if not 0 < confidence < 1:
        raise ModelError(f"confidence: expected a share of the states between 0 and 1 (0.999), got {confidence}")
    for kind, names, known in (("route", routes, ROUTES), ("function", [function], FUNCTIONS)):
        for name in names:
            if name not in known:
                raise UnknownNameError(f"{kind} {name!r} does not exist; choose from {', '.join(known)}")


def _possible(subject: Subject, routes: Sequence[str], function: str) -> Sequence[str]:
    """The routes that the subject has.

    Raises:
        ModelError: a route that was asked for by name needs what the subject has not.
    """
    asked = routes if function in STRUCTURED else ()
    missing = {name: reason for name in asked if (reason := subject.missing(name)) is not None}
    left = [name for name in routes if name not in missing]
    # The default asks for every route and takes what there is; a route by name is a demand.
    if left and {*routes, "operations"} == set(ROUTES):
        return left
    for name in routes:
        if name in missing:
            raise missing[name]
    return routes


def _decided(
    robot: Robot,
    profile: Profile,
    tolerance: float,
    confidence: float,
    exact: Program,
    results: list[RouteResult],
) -> Reduction:
    """The cheapest result that holds; the exact program wins where nothing is cheaper."""
    best = _cheapest(results)
    candidates = tuple(
        Candidate(r.name, r.program.n_multiplications, r.program.n_additions, r is best, r.remark) for r in results
    )
    program = replace(best.program, candidates=candidates)
    if best.name != "exact":
        v = best.verification
        where = f"exact {exact.name} on states of profile {profile.name!r}, {100 * confidence:g} % of them"
        certificate = Certificate(v.n_states, v.error, tolerance, where)
        # The certificate of a reduced program compares it with the exact one, at the stated confidence.
        program = replace(program, certificate=certificate, algorithm=f"{exact.algorithm}, {best.name} left out")
    return Reduction(
        robot=robot,
        profile=profile,
        tolerance=tolerance,
        confidence=confidence,
        program=program,
        route=best.name,
        remark=best.remark,
        reason=_reason(best, results, tolerance, confidence),
        exact=exact,
        candidates=tuple(results),
        # Whichever route won: users of the closed form want its terms.
        bound=next((r.bound for r in results if r.bound is not None and r.verification.holds), None),
    )


def _reason(best: RouteResult, results: list[RouteResult], tolerance: float, confidence: float) -> str:
    """Why the winner won, and why the others did not."""
    others = []
    for r in sorted(results, key=lambda result: result.program.n_operations):
        # A route that left nothing out is the exact program again: no news.
        if r is best or (r.name != "exact" and r.verification.error == 0.0):
            continue
        failed = "" if r.verification.holds else f" but {_fault(r, tolerance)}"
        others.append(f"{r.name} {r.program.n_operations}{failed}")
    kept = f"within {tolerance:.3g} at {100 * confidence:g} % of the states"
    beaten = f"; {', '.join(others)}" if others else ""
    if best.name == "exact":
        return (
            f"the exact program is the cheapest {kept}: {best.program.n_operations} operations, {best.remark}{beaten}"
        )
    return f"route {best.name!r} needs the fewest operations {kept}: {best.program.n_operations}{beaten}"


def _fault(result: RouteResult, tolerance: float) -> str:
    if result.verification.error > tolerance:
        return f"errs by {result.verification.error:.2%}"
    if result.verification.definite is False:
        return "its mass matrix is not positive definite"
    return "keeps its guarantee by too little to hold on other states"
