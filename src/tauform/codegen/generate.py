"""generate: from a robot to the cheapest verified program of a function."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import partial

from tauform.closedform.model.bound import BoundModel
from tauform.closedform.model.derive import derive
from tauform.closedform.threads import on_one_thread
from tauform.codegen.certificate import certified
from tauform.codegen.conventions import conventions, wrench_lines
from tauform.codegen.factored.model_program import (
    CHOICES,
    FACTORABLE,
    cheaper,
    factored_program,
    model_program,
    verified,
)
from tauform.codegen.functions import FUNCTIONS, Algorithm, Function
from tauform.codegen.minimal.bodies import Bodies
from tauform.codegen.minimal.problem import Parameters, Payload, Problem, has_friction, problem_of, wrench_port
from tauform.codegen.minimal.search import Choice, Search, cheapest
from tauform.codegen.minimal.split import lowered
from tauform.codegen.minimal.tracing import MAX_NODES, operations, traced
from tauform.codegen.program.graph import GraphTooLargeError
from tauform.codegen.program.lower import lower
from tauform.codegen.program.program import About, Candidate, Program
from tauform.codegen.runtime.programs import kept_program
from tauform.description.robot import Robot
from tauform.errors import GenerationError, ProgramTooLongError, UnknownNameError
from tauform.rigidbody.linearize import forward_by_inverse
from tauform.rigidbody.load import has_load
from tauform.rigidbody.sweeps.pivots import named_pivots
from tauform.wording import argument, call

# Beyond this many operations straight-line code no longer pays.
MAX_OPERATIONS = 20_000
# Beyond this many joints a factored closed form costs more than the recursive program.
FACTORED_JOINTS = 3
# An algorithm this much dearer than the cheapest, before any search, will not win after it.
WORTH_A_SEARCH = 1.15
# A search over frames of more joints takes minutes, and saves no more than it does for fewer.
SEARCHED_JOINTS = 60
# What a search saves at most.
SEARCH_SAVES = 0.5
# A program with vectors takes longer for each operation.
WORTH_VECTORS = 0.79


@dataclass(frozen=True, eq=False)
class _Option:
    name: str
    algorithm: Algorithm
    choice: Choice
    bodies: Bodies
    cost: tuple[int, int]
    remark: str = ""


def generate(
    source: Robot | BoundModel,
    function: str = "inverse_dynamics",
    *,
    algorithm: str = "auto",
    parameters: Parameters = "baked",
    payload: Payload = "baked",
    wrenches: Sequence[str] = (),
) -> Program:
    """The program of a function with the fewest operations, checked against the textbook algorithms.

    Args:
        source: a robot, or a closed-form model (exact or reduced) with numbers.
        function: a name of `tauform.codegen.functions.FUNCTIONS`, such as "inverse_dynamics".
        algorithm: "auto" traces every algorithm of the function and takes the one with the fewest operations;
            "fastest" compiles them and takes the one that is quickest on this machine; or the name of one; for a
            closed form (a model, or a chain that is derived first) "factored", for a model also "recursive".
        parameters: "baked" folds the robot's numbers in; "runtime" makes the base parameters an input `theta`.
        payload: "runtime" makes the ten parameters of the body at the tool an input `payload`.
        wrenches: frames or links at which the surroundings push: each adds an input `wrench_<frame>`, (6,) force then
            moment on the robot in the frame's axes, after all others; of inverse and forward dynamics and bias_torque.

    Returns:
        A Program with its certificate and the list of candidates.

    Raises:
        UnknownNameError: no such function, algorithm or frame.
        GenerationError: the program would be too long, or failed verification; or it does not feel wrenches.
        SingularMassMatrixError: a function that divides by inertias meets a link without one.
    """
    if isinstance(source, BoundModel):
        if (parameters, payload) != ("baked", "baked"):
            raise GenerationError("parameters: a bound model has its numbers; give the robot for run-time parameters")
        if wrenches:
            raise GenerationError("wrenches: a closed form has no place for them; give the robot")
        return model_program(source, function, algorithm, _recursive)
    wanted = check_request(source, function, algorithm, parameters, payload, wrenches)
    make = partial(_generated, source, wanted, algorithm, parameters, payload, wrenches)
    if algorithm == "fastest":  # on this machine, today
        return make()
    return kept_program((source, function, algorithm, parameters, payload, tuple(wrenches)), make)


def _generated(
    source: Robot, wanted: Function, algorithm: str, parameters: Parameters, payload: Payload, wrenches: Sequence[str]
) -> Program:
    if algorithm == "factored":
        return _factored(source, wanted)
    problem = problem_of(source, parameters, payload, wrenches)
    names = _algorithms(wanted, algorithm, source)
    factorable = _is_factorable(source, wanted.name, parameters, payload) and not wrenches
    with named_pivots(source):
        # what is timed is made of each algorithm, what is counted only of the cheapest
        groups = [[name] for name in names] if algorithm == "fastest" else [names]
        attempts = [partial(program_of, problem, wanted, group) for group in groups]
        if algorithm in CHOICES and factorable and source.n_joints <= FACTORED_JOINTS:
            attempts.append(partial(_factored, source, wanted))
        return CHOICES.get(algorithm, cheaper)(verified(attempts))


def check_request(
    robot: Robot,
    function: str,
    algorithm: str = "auto",
    parameters: Parameters = "baked",
    payload: Payload = "baked",
    wrenches: Sequence[str] = (),
) -> Function:
    """The function of that name; asked before long work, it refuses what `generate` would.

    Raises:
        UnknownNameError: no such function, algorithm or frame.
        GenerationError: the robot has no such function, or it does not feel wrenches.
    """
    wanted = check_function(function)
    if function == "friction" and not has_friction(robot):
        raise GenerationError(f"friction of {robot.name}: no joint has any; give it viscous, coulomb or offset values")
    _check_wrenches(robot, wanted, wrenches)
    if algorithm != "factored":
        _algorithms(wanted, algorithm, robot)
    elif wrenches or not _is_factorable(robot, function, parameters, payload):
        raise GenerationError(f"{function} of {robot.name} has no factored closed form; that needs a chain, baked")
    return wanted


def _check_wrenches(robot: Robot, function: Function, wrenches: Sequence[str]) -> None:
    if wrenches and not function.feels_wrenches:
        able = ", ".join(name for name, other in FUNCTIONS.items() if other.feels_wrenches)
        raise GenerationError(f"wrenches: {function.name} takes none; those that do are {able}", argument="wrenches")
    names = [robot.frame(name).name for name in wrenches]
    for name in names:
        if names.count(name) > 1:
            raise GenerationError(
                f"wrenches: frame {name!r} is named twice; wrenches on it add up", argument="wrenches"
            )


def _is_factorable(robot: Robot, function: str, parameters: Parameters, payload: Payload) -> bool:
    return robot.is_chain and function in FACTORABLE and (parameters, payload) == ("baked", "baked")


def _recursive(robot: Robot, wanted: Function) -> Program:
    return program_of(problem_of(robot), wanted, _algorithms(wanted, "auto", robot))


def _factored(robot: Robot, function: Function) -> Program:
    """The closed form's terms, checked against the textbook function like any other program."""
    bound = derive(robot).bind(robot)
    return certified(factored_program(bound, function.name), function, problem_of(robot))


@on_one_thread
def program_of(problem: Problem, function: Function, names: list[str]) -> Program:
    """The cheapest of some algorithms of a function, checked against the function's reference.

    Raises:
        GenerationError: the program would be too long, or failed verification.
    """
    options = _options(problem, function, names)
    best = min(options, key=lambda option: sum(option.cost))
    if sum(best.cost) > MAX_OPERATIONS:
        raise _too_long(problem, function, f"{sum(best.cost)}")
    try:
        return certified(_listed(_lowered(problem, function, best), options, best), function, problem)
    except GenerationError:
        # Frames and units that suit the count may cost digits, where a robot has lengths of a nanometre beside metres.
        plain = _plain(problem, function, best.name)
        options = [replace(option, remark="loses too many digits") if option is best else option for option in options]
        return certified(_listed(_lowered(problem, function, plain), [*options, plain], plain), function, problem)


@on_one_thread
def plain_program(robot: Robot, function: Function) -> Program:
    """The usual algorithm of a function as it stands: not searched, and not compared yet; made in a tenth of the time.

    Raises:
        GenerationError: the program would be too long.
        SingularMassMatrixError: a function that divides by inertias meets a link without one.
    """
    problem = problem_of(robot)
    name = _algorithms(function, "auto", robot)[0]
    algorithm = function.algorithms[name]
    search = _search(problem, algorithm)
    choice = search.start()
    bodies = search.realised(choice) if algorithm.moves_frames else problem.bodies
    try:
        with named_pivots(robot):
            graph, outputs = traced(problem, choice, bodies, function.inputs(robot), algorithm.trace, opaque=False)
    except GraphTooLargeError:
        raise _too_long(problem, function, f"more than {MAX_NODES}") from None
    cost = sum(operations(graph, outputs))
    if cost > MAX_OPERATIONS:
        raise _too_long(problem, function, f"{cost}")
    about = _about(function, problem)
    return lowered(graph, function.name, outputs, robot=robot.name, algorithm=name, about=about)


def searched_program(robot: Robot, function: Function) -> Program:
    """The cheapest program of a function after a search, compared with the function's reference.

    Raises:
        GenerationError: the program would be too long, or failed verification.
        SingularMassMatrixError: a function that divides by inertias meets a link without one.
    """
    with named_pivots(robot):
        return program_of(problem_of(robot), function, _algorithms(function, "auto", robot))


def _too_long(problem: Problem, function: Function, operations: str) -> ProgramTooLongError:
    return ProgramTooLongError(
        f"{function.name} of {problem.robot.name} takes {operations} operations, more than {MAX_OPERATIONS} for one "
        "straight line",
        argument="robot",
        value=problem.robot,
        remedy=f"call the textbook function ({call(function.name)}), or generate for a part of the robot "
        f"({argument('tip')}, {argument('lock')})",
    )


def _listed(program: Program, options: list[_Option], chosen: _Option) -> Program:
    """The program with all options as candidates; signs that moved on the way to the program have made it cheaper."""
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
    if option.algorithm.wide is None or problem.ports:
        return program
    shapes = function.shapes(problem)
    graph, outputs = traced(problem, option.choice, option.bodies, shapes, option.algorithm.wide, opaque=False)
    wide = lower(graph, program.name, outputs, robot=program.robot, algorithm=program.algorithm)
    return replace(program, wide=wide) if wide.n_operations < WORTH_VECTORS * program.n_operations else program


def check_function(name: str) -> Function:
    """The function of that name.

    Raises:
        UnknownNameError: there is none.
    """
    if name not in FUNCTIONS:
        near = get_close_matches(name, FUNCTIONS, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"choose from {', '.join(FUNCTIONS)}"
        raise UnknownNameError(f"function {name!r} cannot be generated; {hint}")
    return FUNCTIONS[name]


def _algorithms(function: Function, algorithm: str, robot: Robot) -> list[str]:
    # a coefficient that is zero here may be another one at run time
    tied = forward_by_inverse.is_needed(robot) or any(term.is_inertial for term in robot.further_drives)
    loaded = has_load(robot.tree)
    known = function.algorithms.items()
    usable = [name for name, a in known if (a.with_loops or not tied) and (a.with_load or not loaded)]
    if algorithm in CHOICES:
        return usable
    if algorithm not in usable:
        raise UnknownNameError(
            f"algorithm {algorithm!r} does not exist for {function.name} of {robot.name}; choose from "
            + ", ".join([*CHOICES, *usable])
        )
    return [algorithm]


def _options(problem: Problem, function: Function, names: list[str]) -> list[_Option]:
    """Each algorithm as it stands, and those that are near the cheapest after a search over frames and parameters."""
    plain = []
    for name in names:
        with suppress(GraphTooLargeError):
            plain.append(_plain(problem, function, name))
    cheapest_plain = min((sum(option.cost) for option in plain), default=MAX_NODES)
    if cheapest_plain * SEARCH_SAVES > MAX_OPERATIONS:
        raise _too_long(problem, function, f"about {cheapest_plain}" if plain else f"more than {MAX_NODES}")
    if problem.robot.n_bodies > SEARCHED_JOINTS:
        return plain
    worth = [option for option in plain if sum(option.cost) <= WORTH_A_SEARCH * cheapest_plain]
    return [_searched(problem, function, option) if option in worth else option for option in plain]


def _plain(problem: Problem, function: Function, name: str) -> _Option:
    algorithm = function.algorithms[name]
    search = _search(problem, algorithm)
    choice = search.start()
    bodies = search.realised(choice) if algorithm.moves_frames else problem.bodies
    return _Option(name, algorithm, choice, bodies, _price(problem, function, algorithm, choice, bodies))


def _searched(problem: Problem, function: Function, option: _Option) -> _Option:
    algorithm = option.algorithm
    if not algorithm.moves_frames:
        return option
    priced = FUNCTIONS["inverse_dynamics"] if algorithm.like_torques else function
    pricing = priced.algorithms["newton_euler"] if algorithm.like_torques else algorithm
    choice, bodies = cheapest(
        _search(problem, algorithm),
        lambda choice, bodies: sum(_price(problem, priced, pricing, choice, bodies)),
    )
    cost = _price(problem, function, algorithm, choice, bodies)
    if sum(cost) >= sum(option.cost):
        return option
    remark = f"{sum(option.cost)} unsearched"
    return replace(option, choice=choice, bodies=bodies, cost=cost, remark=remark)


def _search(problem: Problem, algorithm: Algorithm) -> Search:
    return Search(problem.bodies, any_unit=algorithm.any_unit, sums_angles=algorithm.sums_angles)


def _price(
    problem: Problem, function: Function, algorithm: Algorithm, choice: Choice, bodies: Bodies
) -> tuple[int, int]:
    shapes = function.shapes(problem)
    return operations(*traced(problem, choice, bodies, shapes, algorithm.trace, opaque=True))


def _about(function: Function, problem: Problem) -> About:
    """What the function is, the names of the entries of each run-time port, and the values that describe this robot."""
    entries = {port.name: port.entries for port in problem.ports}
    base = None if function.theta is None else function.theta(problem.robot)
    columns = {} if base is None else {"theta": tuple(base.names)}
    grouping = problem.grouping if base is None else base.grouping
    defaults = dict(zip(entries, problem.defaults, strict=True))
    lines = (*conventions(problem.robot), *wrench_lines([(wrench_port(frame), frame) for frame in problem.frames]))
    return About(function.summary, lines, {**columns, **entries}, defaults, grouping)
