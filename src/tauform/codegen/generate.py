"""generate: from a robot to the cheapest verified program of a function."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple
from functools import partial

from tauform.closedform.model.bound import BoundModel
from tauform.closedform.model.derive import derive
from tauform.closedform.model.model import ClosedFormModel
from tauform.codegen.candidates import program_of
from tauform.codegen.certificate import certified
from tauform.codegen.factored.model_program import CHOICES, cheaper, factored_program, model_program, verified
from tauform.codegen.factored.parametric import REGRESSORS, regressor_program, theta_program
from tauform.codegen.functions import Function
from tauform.codegen.minimal.problem import Parameters, PayloadBinding, problem_of
from tauform.codegen.minimal.tracing import ranges_of
from tauform.codegen.program.port import Port
from tauform.codegen.program.program import Program
from tauform.codegen.request import GenerationOptions, check_request, is_factorable, usable_algorithms
from tauform.codegen.runtime.programs import kept_program
from tauform.description.robot import Robot
from tauform.errors import GenerationError, VerificationError
from tauform.rigidbody.sweeps.pivots import named_pivots

# A factored closed form of more joints costs more than the recursive program.
MAX_FACTORED_JOINTS = 3


def generate(
    source: Robot | BoundModel | ClosedFormModel,
    function: str = "inverse_dynamics",
    *,
    algorithm: str = "auto",
    parameters: Parameters = "baked",
    payload: PayloadBinding = "baked",
    wrenches: Sequence[str] = (),
) -> Program:
    """The program of a function with the fewest operations, checked against the textbook algorithms.

    Args:
        source: a robot; or a closed form, exact or reduced: with numbers, or without, whose theta is always an input.
        function: a name of `tauform.codegen.functions.FUNCTIONS`, such as "inverse_dynamics"; of a closed form also
            "regressor", Y with tau = Y theta.
        algorithm: "auto" traces every algorithm of the function and takes the one with the fewest operations;
            "fastest" compiles them and takes the one that is quickest on this machine; or the name of one; for a
            closed form (a model, or a chain that is derived first) "factored", for a model also "recursive".
        parameters: "baked" folds the robot's numbers in; "runtime" makes the base parameters an input `theta`.
        payload: "runtime" makes the ten parameters of the carried body an input `payload`: at the frame of the robot's
            payload, which it replaces, or at the tool where none is described.
        wrenches: frames or links at which the surroundings push: each adds an input `wrench_<frame>`, (6,) force then
            moment on the robot in the frame's axes, after all others; of inverse and forward dynamics and bias_torque.

    Returns:
        A Program with its certificate and the list of candidates.

    Raises:
        UnknownNameError: no such function, algorithm or frame.
        GenerationError: the program would be too long, or failed verification; or it does not feel wrenches.
        SingularMassMatrixError: a function that divides by inertias meets a link without one.
    """
    options = GenerationOptions(algorithm, parameters, payload, tuple(wrenches))
    if isinstance(source, BoundModel | ClosedFormModel):
        return _of_model(source, function, options)
    wanted = check_request(source, function, options)
    # Not called where a program of this robot and these options is on disk.
    make = partial(_generated, source, wanted, options)
    if algorithm == "fastest":  # on this machine, today
        return make()
    check = partial(_check_kept, source, wanted, options)
    return kept_program((source, function, *astuple(options)), make, check)


def _of_model(source: BoundModel | ClosedFormModel, function: str, options: GenerationOptions) -> Program:
    algorithm = options.algorithm
    for name, given in (("payload", options.payload != "baked"), ("wrenches", bool(options.wrenches))):
        if given:
            raise GenerationError(f"{name}: a closed form has no place for it; give the robot", argument=name)
    if function in REGRESSORS:
        return regressor_program(source if isinstance(source, ClosedFormModel) else source.model)
    # Without numbers there is nothing to bake.
    if options.parameters == "baked" and isinstance(source, BoundModel):
        return model_program(source, function, algorithm, _recursive)
    if algorithm not in ("auto", "factored"):
        raise GenerationError(f"algorithm: a closed form with run-time theta is factored, not {algorithm!r}")
    return theta_program(source, function)


def _check_kept(source: Robot, wanted: Function, options: GenerationOptions, found: Program) -> None:
    """Compare a program that was read with the textbook function, as `certified` does with one that is made."""
    # Once for all algorithms: base parameters and straightened frames take longer than a trace.
    problem = options.problem(source)
    ports = tuple(Port(name, shape, False, ranges_of(source, name)) for name, shape in wanted.shapes(problem).items())
    forms = [form for form in (found, found.wide) if form is not None]
    # Shared ports are run-time parameters: the function's own are the others.
    given = [tuple(port for port in form.inputs if not port.shared) for form in forms]
    names = {(form.name, form.robot) for form in forms}
    if names != {(wanted.name, source.name)} or set(given) != {ports} or found.certificate is None:
        raise VerificationError(f"{found.name} of {found.robot}: no program of {wanted.name} of {source.name}")
    certified(found, wanted, problem)


def _generated(source: Robot, wanted: Function, options: GenerationOptions) -> Program:
    algorithm = options.algorithm
    if algorithm == "factored":
        return _factored(source, wanted)
    problem = options.problem(source)
    names = usable_algorithms(wanted, algorithm, source)
    factorable = is_factorable(source, wanted.name, options)
    with named_pivots(source):
        # what is timed is made of each algorithm, what is counted only of the cheapest
        groups = [[name] for name in names] if algorithm == "fastest" else [names]
        attempts = [partial(program_of, problem, wanted, group) for group in groups]
        # Of joints that follow others the recursion takes far less.
        short = source.closure is None and source.n_joints <= MAX_FACTORED_JOINTS
        if algorithm in CHOICES and factorable and short:
            attempts.append(partial(_factored, source, wanted))
        # A named algorithm has one attempt; `cheaper` then returns it.
        return CHOICES.get(algorithm, cheaper)(verified(attempts))


def _recursive(robot: Robot, wanted: Function) -> Program:
    return program_of(problem_of(robot), wanted, usable_algorithms(wanted, "auto", robot))


def _factored(robot: Robot, function: Function) -> Program:
    """The closed form's terms, checked against the textbook function like any other program."""
    bound = derive(robot).bind(robot)
    return certified(factored_program(bound, function.name), function, problem_of(robot))
