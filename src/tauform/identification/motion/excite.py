"""excite: a motion that shows the base parameters, within the robot's limits."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import scipy.optimize
from numpy.typing import ArrayLike

from tauform.arrays import Array
from tauform.closedform.base.parameters import base_parameters
from tauform.closedform.threads import one_blas_thread
from tauform.description.parameter_groups import Include
from tauform.description.robot import Robot
from tauform.errors import IdentificationError
from tauform.identification.fit import Fit
from tauform.identification.identify import identify
from tauform.identification.motion.bounds import bounds_of
from tauform.identification.motion.clearance import Clearance
from tauform.identification.motion.criterion import Criterion, checked_criterion
from tauform.identification.motion.delivery import delivered
from tauform.identification.motion.planning import MotionProblem
from tauform.identification.motion.recorded import Recorded
from tauform.identification.motion.slopes import Columns
from tauform.identification.motion.trajectory import Basis, Trajectory
from tauform.identification.recording.recording import Recording
from tauform.identification.regression.excitation import check_include, straightened
from tauform.scheduler import completed

MotionKind = Literal["fourier", "quintic"]
# Drives and gears of arms swing from some hertz on: the highest harmonic stays below [Hz].
MAX_HARMONIC_FREQUENCY = 2.0
FEWEST_HARMONICS, USUAL_HARMONICS, MOST_HARMONICS = 5, 40, 200
# Longer motions [s] and finer ones [Hz] are mistakes of units rather than plans.
MAX_DURATION, MAX_RATE = 100.0, 1e4
# States at which a motion is judged while it is planned, a harmonic or a move.
STATES = {"fourier": 15, "quintic": 12}
# Random motions that are compared before any is improved, and the share of the time after which no more are.
N_RANDOM, RANDOM_TIME_SHARE = 200, 0.25
# Beginnings are improved with so many harmonics: chance finds good motions of few, and a step of them costs little.
BEGIN_HARMONICS = 8
# (softness, iterations): every beginning is improved by the first, the best of them by the others, whose criterion
# comes closer and closer to the true condition number; harmonics that join after the first have a stage of their own.
ROUGH: tuple[tuple[float, int], ...] = ((2, 400), (10, 600))
JOIN: tuple[tuple[float, int], ...] = ((10, 600),)
POLISH: tuple[tuple[float, int], ...] = ((20, 600), (80, 600), (320, 600))
POLISHED_SHARE = 1 / 4
# Part of the time after which the best so far are polished, however many beginnings are left.
ROUGH_TIME_SHARE = 0.6
# Pairs of steps and slopes that the search remembers.
REMEMBERED_STEPS = 30


def excite(
    robot: Robot,
    *,
    duration: float = 10.0,
    harmonics: int | None = None,
    kind: MotionKind = "fourier",
    rate: float = 100.0,
    position: tuple[ArrayLike, ArrayLike] | None = None,
    velocity: ArrayLike | None = None,
    acceleration: ArrayLike | None = None,
    effort: ArrayLike | None = None,
    collisions: bool = True,
    floor: float | None = None,
    unguarded: Sequence[tuple[str, str]] = (),
    include: Include | None = None,
    criterion: Criterion | None = None,
    given: Fit | Recording | Sequence[Recording] | None = None,
    start: Trajectory | None = None,
    count: int = 1,
    n_starts: int = 8,
    max_seconds: float = 40.0,
    seed: int = 0,
    client: Any = None,
    progress: Callable[[float], None] | None = None,
) -> Trajectory:
    """A trajectory, at rest at both ends, that shows every base parameter as evenly as it can.

    Args:
        duration: of the motion [s].
        harmonics: of the Fourier series, or moves of a quintic motion; by default as many as stay below 2 Hz, at
            most 40.
        kind: "fourier" returns to its start and can be repeated; "quintic" moves from point to point, at rest at each.
        rate: samples per second of the result.
        position: (lower, upper), the robot's limits by default.
        velocity, acceleration, effort: (n,) or one number; the robot's limits by default, or 2 and 5 per s, and any
            effort, where it has none.
        collisions: keep links apart that have collision shapes, at every moment; `findings` of the result say which
            pairs are not.
        floor: height in the base frame that the moving links stay above [m].
        unguarded: pairs of links that may touch, by name: a gripper's fingers, or shapes larger than their links.
        include: groups of parameters to show; links and declared rotors by default, see `Robot.columns`.
        criterion: "condition" of the base columns, in SI units and not scaled, "d_optimal" (determinant of the
            information), or, of a further motion, "deviation" (the worst relative standard deviation of all
            recordings together). By default the first, and the last where something is given.
        given: what is already recorded, or a fit of it: the motion adds what that lacks; values, noise and groups of
            parameters are those of the fit.
        start: a motion to improve instead of random ones.
        count: motions to plan; the result is the best of them, the others are its `alternatives`.
        n_starts: random beginnings that are improved; the best quarter of them to the end.
        max_seconds: time to stop at, by the clock on the wall; a search that ends before, as one without limit
            (math.inf) does, depends on the seed alone.
        seed: of the random beginnings.
        client: a `distributed.Client` that improves the beginnings; the result does not depend on its workers, unless
            time ends the search.
        progress: called with the share of the search that is done.

    Raises:
        IdentificationError: limits leave no motion, even the slowest motion passes the efforts or collides, or a
            number is out of its range.
        MissingExtraError: the robot has collision shapes and coal is not installed.
    """
    n_functions = _size(duration, harmonics, kind)
    # All that can be wrong is told before the search takes its time.
    check_include(robot, include)
    judged_by = checked_criterion(criterion, given is not None)
    _check_numbers(count, n_starts, max_seconds, seed, rate)
    if start is not None and start.q.shape[1:] != (robot.n_joints,):
        raise IdentificationError(f"start: a motion of {start.q.shape[-1]} joints, {robot.name} has {robot.n_joints}")
    bounds = bounds_of(robot, position, velocity, acceleration, effort)
    # Friction jumps where a joint turns back, which shows at many states only.
    jumps = any(joint.coulomb for joint in robot.joints) and np.isfinite(bounds.effort).any()

    def judged(size: int) -> float:
        return (2 if jumps else 1) * max(60, STATES[kind] * size) / duration

    # Judged at some states while it is planned; what is delivered is sampled at the user's rate.
    basis = _basis(kind, duration, n_functions, judged(n_functions))
    # Almost aligned axes would add parameters that no motion shows: identification leaves them out, too.
    straight, notes = straightened(robot)
    recorded = None if given is None else _recorded(straight, given, include)
    columns = Columns.of(straight, include if recorded is None else recorded.include)
    problem = MotionProblem(columns, bounds, basis, judged_by, recorded=recorded)
    if (collisions and robot.shapes) or floor is not None:
        problem = replace(problem, clearance=Clearance.of(robot, bounds, collisions, floor, unguarded))
    few = problem
    # Moves are no sums of fewer moves, and a motion that is given may need all of its harmonics.
    if kind == "fourier" and start is None and n_functions > BEGIN_HARMONICS:
        few = replace(problem, basis=Basis.fourier(duration, BEGIN_HARMONICS, judged(BEGIN_HARMONICS)))
    watch = _Watch(max_seconds, progress)
    # Matrices of some tens of columns: a second thread costs more than it gives, and far more on a busy machine.
    with one_blas_thread():
        found = _search(few, problem, start, count, n_starts, np.random.default_rng(seed), watch, client)

        def at(z: Array) -> Trajectory:
            return delivered(robot, problem, z, rate, lambda T, rate: _basis(kind, T, n_functions, rate))

        motions = [replace(motion, findings=(*motion.findings, *notes)) for motion in _first(found, count, at)]
    return replace(motions[0], alternatives=tuple(motions[1:]))


def _recorded(robot: Robot, given: Fit | Recording | Sequence[Recording], include: Include | None) -> Recorded:
    """What is recorded, of the robot that identification makes its columns of."""
    if include is not None:
        raise IdentificationError(
            "include: groups of parameters are those of what is recorded", remedy="leave it out, or identify with it"
        )
    # A fit brings its noise and its terms, both of which decide what is still unknown.
    fit = given if isinstance(given, Fit) else _fitted(robot, given)
    recorded = Recorded.of(fit)
    if base_parameters(robot, include=recorded.include).names != recorded.design.base.names:
        raise IdentificationError(f"given: recorded on another robot than {robot.name}, or fitted with other groups")
    return recorded


def _fitted(robot: Robot, given: Recording | Sequence[Recording]) -> Fit:
    try:
        return identify(robot, given)
    except IdentificationError:
        # A motion that leaves parameters open is the best reason for a second one: the description stands in for them.
        return identify(robot, given, method="ridge")


def _first(found: Sequence[Array], count: int, delivered_at: Callable[[Array], Trajectory]) -> list[Trajectory]:
    """Trajectories of the first motions that can be run; where one collides, the next best stands in for it."""
    trajectories: list[Trajectory] = []
    refused: IdentificationError | None = None
    for z in found:
        try:
            trajectories.append(delivered_at(z))
        except IdentificationError as error:
            # The first reason is that of the best motion.
            refused = refused or error
        if len(trajectories) == count:
            break
    if refused is not None and len(trajectories) < count:
        raise refused
    return trajectories


def _check_numbers(count: int, n_starts: int, max_seconds: float, seed: int, rate: float) -> None:
    for name, number, least in (("count", count, 1), ("n_starts", n_starts, 1), ("seed", seed, 0)):
        if number < least:
            raise IdentificationError(f"{name}: expected a number from {least} on, got {number!r}")
    if not max_seconds > 0:
        raise IdentificationError(f"max_seconds: expected a positive time, got {max_seconds!r}")
    if not 0 < rate <= MAX_RATE:
        raise IdentificationError(f"rate: expected samples per second, at most {MAX_RATE:g}, got {rate!r}")


def _size(duration: float, harmonics: int | None, kind: MotionKind) -> int:
    if kind not in STATES:
        raise IdentificationError(f"kind: expected fourier or quintic, got {kind!r}")
    if not 0 < duration <= MAX_DURATION:
        raise IdentificationError(f"duration: expected a positive time, at most {MAX_DURATION:g} s, got {duration!r}")
    if harmonics is None:
        # A move of a quintic is half a period: to a point and back is one.
        below = round(MAX_HARMONIC_FREQUENCY * duration / (1 if kind == "fourier" else 2))
        return min(max(FEWEST_HARMONICS, below), USUAL_HARMONICS)
    if not 2 <= harmonics <= MOST_HARMONICS:
        raise IdentificationError(f"harmonics: expected 2 to {MOST_HARMONICS}, got {harmonics}")
    return harmonics


def _basis(kind: MotionKind, duration: float, size: int, rate: float) -> Basis:
    return (Basis.fourier if kind == "fourier" else Basis.quintic)(duration, size, rate)


def _search(
    few: MotionProblem,
    problem: MotionProblem,
    start: Trajectory | None,
    count: int,
    n_starts: int,
    rng: np.random.Generator,
    watch: _Watch,
    client: Any = None,
) -> list[Array]:
    """Motions found, the best first, at least `count`; beginnings are improved with the functions of `few`."""
    found = _beginnings(few, max(n_starts, count) if start is None else count - 1, rng, watch)
    if start is not None:
        found.insert(0, problem.following(start))
    # Only the best beginnings are polished: the stages near the true criterion take the most steps.
    n_polished = max(count, round(POLISHED_SHARE * len(found)))
    polish = POLISH if few is problem else JOIN + POLISH
    # Iterations in all, by which progress is told.
    watch.total = len(found) * sum(n for _, n in ROUGH) + n_polished * sum(n for _, n in polish)
    watch.share = ROUGH_TIME_SHARE
    # Stable: of equal scores the earlier beginning stays first.
    found = sorted(_all_improved(few, found, ROUGH, watch, client), key=few.score)
    if few is not problem:
        found = [problem.joining(few, z) for z in found]
    watch.share = 1.0
    polished = sorted(_all_improved(problem, found[:n_polished], polish, watch, client), key=problem.score)
    return [*polished, *found[n_polished:]]


def _beginnings(problem: MotionProblem, n: int, rng: np.random.Generator, watch: _Watch) -> list[Array]:
    """The best n of many random motions."""
    watch.share = RANDOM_TIME_SHARE
    found: list[tuple[float, Array]] = []
    # At least n, whatever the clock says: without a beginning there is nothing to improve.
    while len(found) < n or (n and len(found) < N_RANDOM and not watch.over):
        z = problem.random(rng)
        found.append((problem.score(z), z))
    return [z for _, z in sorted(found, key=lambda scored: scored[0])[:n]]


def _all_improved(
    problem: MotionProblem, starts: Sequence[Array], stages: Sequence[tuple[float, int]], watch: _Watch, client: Any
) -> list[Array]:
    """Every beginning improved, in their order."""
    if client is None:
        return [_improved(problem, z, stages, watch) for z in starts]
    found: dict[int, Array] = {}

    def done(k: int, z: Array) -> None:
        found[k] = z
        watch.skip(sum(iterations for _, iterations in stages))

    # Each worker takes several in turn: these share the time that is left.
    rounds = -(-len(starts) // max(1, len(client.scheduler_info()["workers"])))
    shared = problem, stages, watch.seconds_left / max(1, rounds)
    completed(_improved_elsewhere, shared, {k: (z,) for k, z in enumerate(starts)}, client, done)
    return [found[k] for k in range(len(starts))]


def _improved_elsewhere(shared: tuple[MotionProblem, Sequence[tuple[float, int]], float], z: Array) -> Array:
    """A task of a worker."""
    problem, stages, seconds = shared
    with one_blas_thread():
        return _improved(problem, z, stages, _Watch(seconds, None))


def _improved(problem: MotionProblem, z: Array, stages: Sequence[tuple[float, int]], watch: _Watch) -> Array:
    """Local optimum from a beginning, brought back within the limits."""
    best = at = z
    for soft, iterations in stages:
        last = [at]

        # Bound as a default: a closure would see the list of a later stage.
        def remember(x: Array, last: list[Array] = last) -> None:
            last[0] = x.copy()
            watch()

        # Line searches take several values an iteration; ten bounds a search that gets nowhere.
        options = {"maxiter": iterations, "maxfun": 10 * iterations, "maxcor": REMEMBERED_STEPS}
        # SciPy ends a search that its callback interrupts so; `last` holds where it was.
        with contextlib.suppress(StopIteration):
            watch.check()
            scipy.optimize.minimize(
                problem.softened(soft).cost, at, jac=True, method="L-BFGS-B", callback=remember, options=options
            )
        watch.skip(iterations)
        at = last[0]
        # The soft criterion may end outside the limits; of what lies within them the best is kept.
        best = min(best, problem.feasible(at), key=problem.score)
    return best


@dataclass
class _Watch:
    """Counts iterations, reports progress, and stops the search when its time is over."""

    max_seconds: float
    progress: Callable[[float], None] | None
    total: int = 1
    share: float = 1.0
    done: int = 0
    stage: int = 0

    def __post_init__(self) -> None:
        self.begin = time.monotonic()

    def __call__(self) -> None:
        self.stage += 1
        self._report()
        self.check()

    @property
    def over(self) -> bool:
        """Whether this share of the time is over."""
        return time.monotonic() - self.begin > self.share * self.max_seconds

    @property
    def seconds_left(self) -> float:
        """Of this share of the time."""
        return max(0.0, self.share * self.max_seconds - (time.monotonic() - self.begin))

    def check(self) -> None:
        """Raise StopIteration once this share of the time is over."""
        if self.over:
            raise StopIteration

    def skip(self, iterations: int) -> None:
        """The end of a stage, which may have needed less than its iterations."""
        self.done, self.stage = self.done + iterations, 0
        self._report()

    def _report(self) -> None:
        if self.progress is not None:
            # Whichever is further, time or iterations: either can end the search.
            passed = (time.monotonic() - self.begin) / self.max_seconds
            self.progress(min(1.0, max(passed, (self.done + self.stage) / self.total)))
