"""Candidates: the algorithms of a function, priced in operations, searched, and the cheapest made into a program."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

from tauform.closedform.threads import on_one_thread
from tauform.codegen.certificate import certified
from tauform.codegen.conventions import conventions, payload_line, wrench_lines
from tauform.codegen.functions import FUNCTIONS, Algorithm, Function
from tauform.codegen.looping import can_loop
from tauform.codegen.minimal.bodies import Bodies
from tauform.codegen.minimal.equivalence import exact_null_vectors
from tauform.codegen.minimal.problem import Problem, has_friction, load_frame, problem_of, wrench_port
from tauform.codegen.minimal.search import Choice, FrameSearch, Prices, cheapest
from tauform.codegen.minimal.split import lowered
from tauform.codegen.minimal.tracing import MAX_NODES, Graphs, operations, traced
from tauform.codegen.program.graph import GraphTooLargeError
from tauform.codegen.program.lower import lower
from tauform.codegen.program.program import About, Candidate, Program
from tauform.codegen.request import usable_algorithms
from tauform.description.robot import Robot
from tauform.errors import GenerationError, ProgramTooLongError
from tauform.rigidbody.sweeps.pivots import named_pivots
from tauform.wording import argument, call

# Beyond this many, straight-line code no longer pays.
MAX_OPERATIONS = 20_000
# Of the cheapest algorithm, before any search: a dearer one will not win after it.
MAX_COST_WORTH_A_SEARCH = 1.15
# Of an algorithm in the frames that were found for the best one: further behind than these, a search of its own has not
# won on any robot of sixty.
MAX_OPERATIONS_BEHIND, MAX_SHARE_BEHIND = 7, 0.03
# A search over frames of more joints takes minutes, and saves no more than it does for fewer.
MAX_SEARCHED_JOINTS = 60
# Of an algorithm as it stands: no search has saved more.
MIN_COST_AFTER_SEARCH = 0.5
# Of the program without vectors: an operation on vectors takes longer than one on scalars.
MAX_COST_OF_VECTORS = 0.9


@dataclass(frozen=True, eq=False)
class _Option:
    name: str
    algorithm: Algorithm
    choice: Choice
    bodies: Bodies
    cost: tuple[int, int]
    remark: str = ""


@on_one_thread
def program_of(problem: Problem, function: Function, names: list[str]) -> Program:
    """The cheapest of some algorithms of a function, checked against the function's reference.

    Raises:
        GenerationError: the program would be too long, or failed verification.
    """
    # Every algorithm is priced by tracing it: the count is that of the program, not of a formula.
    options = _options(problem, function, names)
    # Of equals the first: algorithms are listed in the order in which they are preferred.
    best = min(options, key=lambda option: sum(option.cost))
    if sum(best.cost) > MAX_OPERATIONS:
        raise _too_long(problem, function, f"{sum(best.cost)}")
    # Frames and units that suit the count may cost digits, where a robot has lengths of a nanometre beside metres; then
    # what is left out as rounding may be the torque of axes that are almost aligned, by 1e-11 rad.
    plain = [partial(_plain, problem, function, best.name, exactly=exactly) for exactly in (False, True)]
    for fallback in (*plain, None):
        try:
            return certified(_listed(_lowered(problem, function, best), options, best), function, problem)
        except GenerationError:
            if fallback is None:
                raise
            lossy = replace(best, remark="loses too many digits")
            # The option stays in the list with its remark: readers see why it was not taken.
            options, best = [lossy if option is best else option for option in options], fallback()
            options.append(best)
    raise AssertionError("the last attempt returns or raises")


@on_one_thread
def plain_program(robot: Robot, function: Function, wrenches: Sequence[str] = ()) -> Program:
    """The usual algorithm of a function as it stands: not searched, and not compared yet; made in a tenth of the time.

    Args:
        wrenches: frames or links whose external wrench is an input.

    Raises:
        GenerationError: the program would be too long.
        SingularMassMatrixError: a function that divides by inertias meets a link without one.
    """
    problem = problem_of(robot, wrenches=wrenches)
    name = usable_algorithms(function, "auto", robot)[0]
    algorithm = function.algorithms[name]
    # A search object only for its start; nothing is searched here.
    search = _search(problem, algorithm)
    # Frames as the description has them, straightened; parameters regrouped towards the base.
    choice = search.start()
    bodies = search.realised(choice) if algorithm.moves_frames else problem.bodies
    try:
        with named_pivots(robot):
            graph, outputs = traced(problem, choice, bodies, function.shapes(problem), algorithm.trace, opaque=False)
    except GraphTooLargeError:
        raise _too_long(problem, function, f"more than {MAX_NODES}") from None
    cost = sum(operations(graph, outputs))
    if cost > MAX_OPERATIONS:
        raise _too_long(problem, function, f"{cost}")
    about = _about(function, problem)
    return lowered(graph, function.name, outputs, robot=robot.name, algorithm=name, about=about)


def searched_program(robot: Robot, function: Function, wrenches: Sequence[str] = ()) -> Program:
    """The cheapest program of a function after a search, compared with the function's reference.

    Args:
        wrenches: frames or links whose external wrench is an input.

    Raises:
        GenerationError: the program would be too long, or failed verification.
        SingularMassMatrixError: a function that divides by inertias meets a link without one.
    """
    with named_pivots(robot):
        problem = problem_of(robot, wrenches=wrenches)
        return program_of(problem, function, usable_algorithms(function, "auto", robot))


def _options(problem: Problem, function: Function, names: list[str]) -> list[_Option]:
    """Each algorithm as it stands, and those that are near the cheapest after a search over frames and parameters."""
    plain = []
    for name in names:
        # An algorithm that outgrows the graph is no candidate; others may fit.
        with suppress(GraphTooLargeError):
            plain.append(_plain(problem, function, name))
    # Where no algorithm fits into a graph, the limit itself stands for its price.
    cheapest_plain = min((sum(option.cost) for option in plain), default=MAX_NODES)
    # No search halves the count: what is twice too long before will not fit after.
    if cheapest_plain * MIN_COST_AFTER_SEARCH > MAX_OPERATIONS:
        raise _too_long(problem, function, f"about {cheapest_plain}" if plain else f"more than {MAX_NODES}")
    if problem.robot.n_bodies > MAX_SEARCHED_JOINTS:
        return plain
    first = min(plain, key=lambda option: sum(option.cost))
    best = _searched(problem, function, first)
    most = MAX_COST_WORTH_A_SEARCH * sum(first.cost)
    others = {id(o): _challenger(problem, function, o, best) for o in plain if o is not first and sum(o.cost) <= most}
    return [best if option is first else others.get(id(option), option) for option in plain]


def _challenger(problem: Problem, function: Function, option: _Option, best: _Option) -> _Option:
    """An algorithm beside the best one so far: with its frames, and after a search of its own where that can win."""
    algorithm, leading = option.algorithm, best.algorithm
    if algorithm.any_unit > leading.any_unit or algorithm.sums_angles > leading.sums_angles:
        return _searched(problem, function, option)  # has moves that the other lacks
    unit, summed = best.choice.unit, best.choice.summed
    choice = replace(
        best.choice,
        unit=unit if algorithm.any_unit else 1.0,
        summed=summed if algorithm.sums_angles else frozenset(),
    )
    bodies = _search(problem, algorithm).realised(choice) if algorithm.moves_frames else problem.bodies
    moved = _moved(option, choice, bodies, _price(problem, function, algorithm, choice, bodies))
    behind, found = sum(moved.cost) - sum(best.cost), bool(best.remark)
    if algorithm.like_torques and leading.like_torques:
        wins = not found  # what prices torques would find the same frames again
    else:
        wins = behind <= max(MAX_OPERATIONS_BEHIND, MAX_SHARE_BEHIND * sum(best.cost))
    return _searched(problem, function, option) if wins else moved


def _plain(problem: Problem, function: Function, name: str, exactly: bool = False) -> _Option:
    """An algorithm without a search; `exactly` leaves nothing out that samples of the torque hardly show."""
    algorithm = function.algorithms[name]
    search = _search(problem, algorithm)
    if exactly:
        # Prepared frames belong to the old null vectors.
        search = replace(search, null=exact_null_vectors(problem.bodies), prepared={})
    choice = search.start()
    bodies = search.realised(choice) if algorithm.moves_frames else problem.bodies
    return _Option(name, algorithm, choice, bodies, _price(problem, function, algorithm, choice, bodies))


def _searched(problem: Problem, function: Function, option: _Option) -> _Option:
    algorithm = option.algorithm
    if not algorithm.moves_frames:
        return option
    # Derivatives and factors are made of the same products as torques: frames that suit these are found sooner.
    priced = FUNCTIONS["inverse_dynamics"] if algorithm.like_torques else function
    pricing = priced.algorithms["newton_euler"] if algorithm.like_torques else algorithm
    # Graphs of the steps are kept between candidates that share them.
    graphs = Graphs() if pricing.in_steps else None
    prices = Prices(lambda choice, bodies: _price(problem, priced, pricing, choice, bodies, graphs))
    as_written = graphs is None and pricing is algorithm
    if as_written:
        prices.know(option.choice, option.bodies, option.cost)
    choice, bodies = cheapest(_search(problem, algorithm), prices)
    cost = prices.of(choice, bodies) if as_written else _price(problem, function, algorithm, choice, bodies)
    return _moved(option, choice, bodies, cost)


def _moved(option: _Option, choice: Choice, bodies: Bodies, cost: tuple[int, int]) -> _Option:
    """The option with other frames; it stays as it was where they do not suit it."""
    if sum(cost) >= sum(option.cost):
        return option
    return replace(option, choice=choice, bodies=bodies, cost=cost, remark=f"{sum(option.cost)} unsearched")


def _search(problem: Problem, algorithm: Algorithm) -> FrameSearch:
    return replace(problem.search, any_unit=algorithm.any_unit, sums_angles=algorithm.sums_angles)


def _price(
    problem: Problem,
    function: Function,
    algorithm: Algorithm,
    choice: Choice,
    bodies: Bodies,
    graphs: Graphs | None = None,
) -> tuple[int, int]:
    shapes = function.shapes(problem)
    steps = graphs.of(choice) if graphs else None
    # Opaque: run-time parameters are inputs of their own, enough for counting and quicker.
    return operations(*traced(problem, choice, bodies, shapes, algorithm.trace, opaque=True, steps=steps))


def _too_long(problem: Problem, function: Function, operations: str) -> ProgramTooLongError:
    return ProgramTooLongError(
        f"{function.name} of {problem.robot.name} takes {operations} operations, more than {MAX_OPERATIONS} for one "
        "straight line",
        argument="robot",
        value=problem.robot,
        remedy=f"{_loops(problem, function)}{_textbook(function)}generate for a part of the robot ({argument('tip')}, "
        f"{argument('lock')})",
    )


def _textbook(function: Function) -> str:
    """Advice to call the textbook function, where there is one."""
    from tauform import textbook

    return f"call the textbook function ({call(function.name)}), or " if hasattr(textbook, function.name) else ""


def _loops(problem: Problem, function: Function) -> str:
    """Advice to write loops, where the function has them."""
    plain = not problem.ports and not problem.frames
    return f"write it as loops ({call('generate_loops')}), " if plain and can_loop(problem.robot, function) else ""


def _listed(program: Program, options: list[_Option], chosen: _Option) -> Program:
    """The program with all options as candidates; signs that moved on the way to the program have made it cheaper."""
    # Of the program as it is written, whose signs have found their places by now.
    cost = (program.n_multiplications, program.n_additions)
    candidates = (Candidate(o.name, *(cost if o is chosen else o.cost), o is chosen, o.remark) for o in options)
    return replace(program, candidates=tuple(candidates))


def _lowered(problem: Problem, function: Function, option: _Option) -> Program:
    shapes = function.shapes(problem)
    graph, outputs = traced(problem, option.choice, option.bodies, shapes, option.algorithm.trace, opaque=False)
    about = _about(function, problem)
    program = lowered(graph, function.name, outputs, robot=problem.robot.name, algorithm=option.name, about=about)
    return _with_vectors(program, problem, function, option)


def _with_vectors(program: Program, problem: Problem, function: Function, option: _Option) -> Program:
    """The program with a form for compilers that have vectors, where that is much shorter."""
    # Programs with run-time parameters have no form with vectors.
    if option.algorithm.wide is None or problem.ports:
        return program
    shapes = function.shapes(problem)
    graph, outputs = traced(problem, option.choice, option.bodies, shapes, option.algorithm.wide, opaque=False)
    wide = lower(graph, program.name, outputs, robot=program.robot, algorithm=program.algorithm)
    return replace(program, wide=wide) if wide.n_operations < MAX_COST_OF_VECTORS * program.n_operations else program


def _about(function: Function, problem: Problem) -> About:
    """Summary of the function, names of the entries of each run-time port, and this robot's values of them."""
    entries = {port.name: port.entries for port in problem.ports}
    base = None if function.theta is None else function.theta(problem.robot)
    # Columns of a regressor are named by base parameters, not by the robot's ports.
    columns = {} if base is None else {"theta": tuple(base.names)}
    grouping = problem.grouping if base is None else base.grouping
    defaults = dict(zip(entries, problem.defaults, strict=True))
    robot, wrenches = problem.robot, [(wrench_port(frame), frame) for frame in problem.frames]
    carried = [payload_line(load_frame(robot))] if "payload" in entries else []
    lines = (*conventions(robot), *carried, *wrench_lines(wrenches))
    return About(
        function.summary, lines, {**columns, **entries}, defaults, grouping, robot.joint_names, has_friction(robot)
    )
