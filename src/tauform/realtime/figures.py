"""Data of the trade-off between accuracy and time.  [Lloyd2021, Figure 7 and Table 3]"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tauform.arrays import Array
from tauform.closedform.bound import BoundModel
from tauform.closedform.contribution import contributions
from tauform.closedform.profile import Profile
from tauform.closedform.reduction import with_terms
from tauform.codegen.compile import Kernel, compile_program
from tauform.codegen.factored import factored_torques
from tauform.codegen.graph import Graph
from tauform.codegen.lower import lower
from tauform.codegen.program import Program
from tauform.description.robot import Robot
from tauform.realtime.reduce import Reduction, reduce

CONFIDENCES = (0.95, 0.999)
TOLERANCES = (0.01, 0.001)
RANKING_STATES, FIT_STATES, STATES_PER_SLICE = 1000, 400, 100_000
TIMED_STATES, TIMINGS = 4096, 60
# Table 3 of the paper: microseconds at 1 % and 0.1 %, 95 % and 99.9 %, on its machine; and of the exact models.
PAPER_TIMES: dict[str, dict[tuple[str, float, float], float]] = {
    "kr6_r700": {
        ("slow", 0.01, 0.95): 0.62,
        ("slow", 0.01, 0.999): 0.79,
        ("fast", 0.01, 0.95): 0.91,
        ("fast", 0.01, 0.999): 1.15,
        ("slow", 0.001, 0.95): 1.04,
        ("slow", 0.001, 0.999): 1.15,
        ("fast", 0.001, 0.95): 1.43,
        ("fast", 0.001, 0.999): 1.66,
    },
    "lbr7": {
        ("slow", 0.01, 0.95): 1.05,
        ("slow", 0.01, 0.999): 1.76,
        ("fast", 0.01, 0.95): 1.47,
        ("fast", 0.01, 0.999): 2.44,
        ("slow", 0.001, 0.95): 1.76,
        ("slow", 0.001, 0.999): 2.44,
        ("fast", 0.001, 0.95): 3.77,
        ("fast", 0.001, 0.999): 4.88,
    },
}
PAPER_EXACT = {"kr6_r700": 2.11, "lbr7": 6.49}

Progress = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class Tradeoff:
    """Closed forms with fewer and fewer terms, L of them.

    Attributes:
        n_kept: (L,) terms kept; removed: (L,) share of the terms removed.
        digits: (L, 2) correct digits, -log10 of the relative error that 95 % and 99.9 % of the states stay below.
        operations: (L,) of the factored program.
        nanoseconds: (L,) a state in a batch, compiled on this machine.
        n_states: fresh states of each.
    """

    profile: str
    n_kept: Array
    removed: Array
    digits: Array
    operations: Array
    nanoseconds: Array
    n_states: int


def tradeoff(
    bound: BoundModel,
    profile: Profile,
    n_levels: int = 10,
    n_states: int = 1_000_000,
    threads: int = 1,
    progress: Progress | None = None,
    seed: int = 0,
) -> Tradeoff:
    """Remove terms step by step by their mean contribution and measure accuracy and time of what is left."""
    rng = np.random.default_rng(seed)
    order = np.argsort(-contributions(bound, profile, RANKING_STATES, rng).mean, kind="stable")
    sizes = np.unique(np.geomspace(max(10, bound.n_terms // 500), bound.n_terms, n_levels).astype(int))
    fit = profile.sample(FIT_STATES, rng)
    exact = compile_program(_factored(bound))
    rows = []
    for size in sizes.tolist():
        if progress:
            progress(f"{profile.name}: {size} of {bound.n_terms} terms")
        kept = np.zeros(bound.n_terms, dtype=bool)
        kept[order[:size]] = True
        program = _factored(with_terms(bound, kept, fit if size < bound.n_terms else None))
        kernel = compile_program(program)
        errors = np.concatenate(list(_errors(kernel, exact, profile, n_states, threads, rng)))
        digits = -np.log10(np.maximum(np.quantile(errors, CONFIDENCES), 1e-16))
        rows.append((size, 1 - size / bound.n_terms, *digits, program.n_operations, *nanoseconds(profile, kernel)))
    n_kept, removed, d95, d999, operations, ns = np.array(rows, dtype=np.float64).T
    return Tradeoff(profile.name, n_kept, removed, np.stack([d95, d999], axis=1), operations, ns, n_states)


def _factored(bound: BoundModel) -> Program:
    graph = Graph()
    inputs = [graph.input(name, bound.n_joints) for name in ("q", "qd", "qdd")]
    return lower(graph, "inverse_dynamics", {"tau": factored_torques(bound, *inputs)}, robot=bound.name)


def _errors(
    kernel: Kernel, exact: Kernel, profile: Profile, n_states: int, threads: int, rng: np.random.Generator
) -> Iterator[Array]:
    for first in range(0, n_states, STATES_PER_SLICE):
        states = profile.sample(min(STATES_PER_SLICE, n_states - first), rng)
        tau = exact(*states, threads=threads)
        yield np.linalg.norm(kernel(*states, threads=threads) - tau, axis=1) / np.linalg.norm(tau, axis=1)


def nanoseconds(profile: Profile, *kernels: Kernel) -> list[float]:
    """Least time a state in a batch, one thread; kernels take turns, so that other work disturbs them alike."""
    states = profile.sample(TIMED_STATES, np.random.default_rng(0))
    best = np.full(len(kernels), np.inf)
    for _ in range(TIMINGS):
        for k, kernel in enumerate(kernels):
            start = time.perf_counter()
            kernel(*states)
            best[k] = min(best[k], time.perf_counter() - start)
    return [1e9 * float(seconds) / TIMED_STATES for seconds in best]


@dataclass(frozen=True, eq=False)
class Cell:
    """One cell of Table 3: our fastest model within an error, beside the paper's.

    Attributes:
        nanoseconds, exact_nanoseconds: a state in a batch, reduced and exact.
        paper, paper_exact: microseconds a call in the paper, where it names this robot.
    """

    profile: str
    tolerance: float
    confidence: float
    reduction: Reduction
    nanoseconds: float
    exact_nanoseconds: float
    paper: float | None
    paper_exact: float | None


def accuracy_table(
    robot: Robot,
    profiles: Sequence[Profile] | None = None,
    n_fresh: int = 1_000_000,
    routes: Sequence[str] = ("parameters", "velocity", "operations"),
    progress: Progress | None = None,
) -> Iterator[Cell]:
    """Our fastest model for every cell of the paper's Table 3."""
    known = profiles or (Profile.slow(robot.n_joints), Profile.fast(robot.n_joints))
    for tolerance in TOLERANCES:
        for profile in known:
            for confidence in CONFIDENCES:
                if progress:
                    progress(f"{profile.name} at {tolerance:.1%}, {confidence:.1%} of the states")
                found = reduce(robot, profile, tolerance, confidence, routes=routes, n_fresh=n_fresh)
                reduced_ns, exact_ns = nanoseconds(profile, found.compile(), compile_program(found.exact))
                yield Cell(
                    profile.name,
                    tolerance,
                    confidence,
                    found,
                    reduced_ns,
                    exact_ns,
                    PAPER_TIMES.get(robot.name, {}).get((profile.name, tolerance, confidence)),
                    PAPER_EXACT.get(robot.name),
                )
