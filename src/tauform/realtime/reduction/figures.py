"""Data of the trade-off between accuracy and time.  [Lloyd2021, Figure 7 and Table 3]"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from tauform.arrays import Array
from tauform.closedform.model.bound import BoundModel
from tauform.closedform.profile import Profile, States, usual_temperatures
from tauform.closedform.reduction.contribution import Speed, known_profile, ranked_terms
from tauform.closedform.reduction.reduction import Refit, with_terms
from tauform.closedform.reduction.streaming import ErrorCounts, over_states
from tauform.closedform.reduction.tradeoff import Tradeoff
from tauform.codegen.factored.factored import companions
from tauform.codegen.factored.model_program import cheapest_factored
from tauform.codegen.generate import generate
from tauform.codegen.program.program import Program
from tauform.codegen.runtime.kernel import Kernel
from tauform.description.robot import Robot
from tauform.errors import ModelError
from tauform.messages import Progress
from tauform.realtime.reduction.reduce import ROUTES, Reduction, reduce
from tauform.realtime.reduction.verification import for_batches

CONFIDENCES = (0.95, 0.999)
TOLERANCES = (0.01, 0.001)
PROFILES = ("slow", "fast")
RANKING_STATES, FIT_STATES = 1000, 400
TIMED_STATES, TIMINGS = 4096, 60
# Table 3 of the paper: microseconds of the exact model, then of the cells in the order of CELLS, on its machine.
CELLS = tuple((profile, tolerance, share) for tolerance, profile, share in product(TOLERANCES, PROFILES, CONFIDENCES))
PAPER_EXACT = {"kr6_r700": 2.11, "lbr7": 6.49}
PAPER_TIMES: dict[str, dict[tuple[str, float, float], float]] = {
    "kr6_r700": dict(zip(CELLS, (0.62, 0.79, 0.91, 1.15, 1.04, 1.15, 1.43, 1.66), strict=True)),
    "lbr7": dict(zip(CELLS, (1.05, 1.76, 1.47, 2.44, 1.76, 2.44, 3.77, 4.88), strict=True)),
}


def model_tradeoff(
    bound: BoundModel, profile: Profile | Speed | None, n_levels: int, n_states: int, seed: int
) -> Tradeoff:
    """Accuracy against time; see `BoundModel.tradeoff`.

    Raises:
        ModelError: fewer than one state or two levels, or a profile of another robot.
    """
    for name, number, least in (("n_levels", n_levels, 2), ("n_states", n_states, 1)):
        if number < least:
            raise ModelError(f"{name}: expected at least {least}, got {number}")
    return tradeoff(bound, known_profile(bound, profile), n_levels, n_states, seed=seed)


def tradeoff(
    bound: BoundModel,
    profile: Profile,
    n_levels: int = 10,
    n_states: int = 1_000_000,
    threads: int = 1,
    progress: Progress | None = None,
    seed: int = 0,
    exact: Program | None = None,
) -> Tradeoff:
    """Remove terms step by step by their mean contribution and measure accuracy and time of what is left.

    All levels are measured at the same states, slice by slice, so memory does not grow with their number.

    Args:
        exact: the exact program of inverse dynamics, where it is at hand.
    """
    rng = np.random.default_rng(seed)
    # Temperatures where friction reads them.
    profile = profile.suited(bound.beside.robot)
    # From a five-hundredth of the terms, ten at least, in even ratios.
    sizes = np.unique(np.geomspace(max(10, bound.n_terms // 500), bound.n_terms, n_levels).astype(int)).tolist()
    programs = _programs(bound, profile, sizes, rng, progress)
    kernels = []
    for program in programs:
        if progress:
            progress(f"{profile.name}: compiling {program.n_operations} operations")
        kernels.append(for_batches(program))
    # The exact kernel is the reference of every level.
    precise = for_batches(exact or generate(bound, "inverse_dynamics"))

    def errors(states: States) -> list[Array]:
        tau = precise(*states)
        size = np.linalg.norm(tau, axis=1)
        # |dtau| / |tau| at each state, Lloyd2021 (67).
        return [np.linalg.norm(kernel(*states) - tau, axis=1) / size for kernel in kernels]

    counts = [ErrorCounts() for _ in kernels]
    for found in over_states(errors, profile, n_states, rng, threads):
        for count, part in zip(counts, found, strict=True):
            count.add(part)
        if progress:
            progress(f"{profile.name}: errors at {counts[0].n_states} of {n_states} states")
    quantiles = np.array([[count.quantile(share) for share in CONFIDENCES] for count in counts])
    kept = np.array(sizes, dtype=np.float64)
    # In turns, in one go: a busy moment then strikes all alike.
    *times, exact_time = nanoseconds(profile, *kernels, precise)
    return Tradeoff(
        bound.name,
        profile.name,
        n_kept=kept,
        removed=1 - kept / bound.n_terms,
        # Errors below rounding are as good as exact.
        digits=-np.log10(np.maximum(quantiles, 1e-16)),
        operations=np.array([program.n_operations for program in programs], dtype=np.float64),
        nanoseconds=np.array(times),
        exact_nanoseconds=exact_time,
        n_states=n_states,
    )


def _programs(
    bound: BoundModel, profile: Profile, sizes: Sequence[int], rng: np.random.Generator, progress: Progress | None
) -> list[Program]:
    """Factored programs of the terms that contribute most, theta refitted, with companions where cheaper."""
    order = ranked_terms(bound, profile, RANKING_STATES, rng)
    # Ranked once, so that each level holds all terms of the smaller ones.
    refit, completed = Refit.at(bound, profile.sample(FIT_STATES, rng)), companions(bound)
    programs = []
    for size in sizes:
        if progress:
            progress(f"{profile.name}: program of {size} of {bound.n_terms} terms")
        kept = np.zeros(bound.n_terms, dtype=bool)
        kept[order[:size]] = True
        # all terms have no companions left
        models = (
            [with_terms(bound, kept, refit, added) for added in (None, completed)] if size < bound.n_terms else [bound]
        )
        if progress:
            progress(f"{profile.name}: factoring {models[-1].n_terms} of {bound.n_terms} terms")
        programs.append(cheapest_factored(models, "inverse_dynamics")[1])
    return programs


def nanoseconds(profile: Profile, *kernels: Kernel) -> list[float]:
    """Least time per state in a batch, one thread; kernels take turns, so that other work disturbs them alike."""
    states = profile.sample(TIMED_STATES, np.random.default_rng(0))
    best = np.full(len(kernels), np.inf)
    for _ in range(TIMINGS):
        for k, kernel in enumerate(kernels):
            start = time.perf_counter()
            kernel(*states)
            # The least of many: other work only ever adds time.
            best[k] = min(best[k], time.perf_counter() - start)
    return [1e9 * float(seconds) / TIMED_STATES for seconds in best]


@dataclass(frozen=True, eq=False)
class Cell:
    """One cell of Table 3: our fastest model within an error, beside the paper's.

    Attributes:
        routes: operations of the best program of each route that keeps the guarantee.
        nanoseconds, exact_nanoseconds: a state in a batch, reduced and exact.
        paper, paper_exact: microseconds per call in the paper, where it names this robot.
    """

    profile: str
    tolerance: float
    confidence: float
    reduction: Reduction
    routes: dict[str, int]
    nanoseconds: float
    exact_nanoseconds: float
    paper: float | None
    paper_exact: float | None


def accuracy_table(
    robot: Robot,
    profiles: Sequence[Profile] | None = None,
    n_fresh: int = 1_000_000,
    routes: Sequence[str] = ROUTES,
    threads: int = 1,
    progress: Progress | None = None,
) -> Iterator[Cell]:
    """Our fastest model for every cell of the paper's Table 3, and the best of every route."""
    warm = usual_temperatures(robot)
    known = profiles or (Profile.slow(robot.n_joints, warm), Profile.fast(robot.n_joints, warm))
    exact = generate(robot, "inverse_dynamics")
    options = {"routes": routes, "n_fresh": n_fresh, "threads": threads, "exact": exact}
    for profile in known:
        found: list[Reduction] = []
        searched: list[Reduction] = []
        # the strictest first: what meets it meets the others too
        for tolerance, confidence in product(sorted(TOLERANCES), sorted(CONFIDENCES, reverse=True)):
            if progress:
                progress(f"{profile.name}: cheapest program within {tolerance:.1%} for {confidence:.1%} of the states")
            searched.append(reduce(robot, profile, tolerance, confidence, **options))  # type: ignore[arg-type]
            found.append(cheapest_for(searched[-1], found))
        for reduction in reversed(found):
            yield _cell(reduction, _best_of_routes(reduction, searched))


def cheapest_for(own: Reduction, others: Iterable[Reduction]) -> Reduction:
    """A reduction, or that of a demand which is at least as strict, if that happened to end with fewer operations."""
    best = min((own, *_as_strict(own, others)), key=lambda reduction: reduction.program.n_operations)
    if best is own:
        return own
    reason = (
        f"the program within {best.tolerance:.3g} at {100 * best.confidence:g} % of the states needs fewer operations"
    )
    return replace(best, tolerance=own.tolerance, confidence=own.confidence, reason=f"{reason}: {best.reason}")


def _as_strict(own: Reduction, others: Iterable[Reduction]) -> list[Reduction]:
    """Reductions whose demand includes this one: what meets them meets it."""
    return [r for r in others if r.tolerance <= own.tolerance and r.confidence >= own.confidence]


def _best_of_routes(own: Reduction, searched: Iterable[Reduction]) -> dict[str, int]:
    best: dict[str, int] = {}
    for candidate in (c for found in _as_strict(own, searched) for c in found.candidates if c.verification.holds):
        n_operations = candidate.program.n_operations
        best[candidate.name] = min(n_operations, best.get(candidate.name, n_operations))
    return best


def _cell(found: Reduction, routes: dict[str, int]) -> Cell:
    name, demand = found.robot.name, (found.profile.name, found.tolerance, found.confidence)
    # Side by side in one run: ratios mean something on a busy machine.
    reduced_ns, exact_ns = nanoseconds(found.profile, for_batches(found.program), for_batches(found.exact))
    paper = PAPER_TIMES.get(name, {}).get(demand)
    return Cell(*demand, found, routes, reduced_ns, exact_ns, paper, PAPER_EXACT.get(name))
