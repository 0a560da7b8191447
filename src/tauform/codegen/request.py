"""Requests: which functions, algorithms and wrenches `generate` takes; asked before any long work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from tauform.codegen.factored.model_program import CHOICES, FACTORABLE
from tauform.codegen.functions import FUNCTIONS, Function
from tauform.codegen.minimal.problem import Parameters, PayloadBinding, Problem, has_friction, problem_of
from tauform.description.robot import GeneralClosure, Robot
from tauform.errors import GenerationError, UnknownNameError
from tauform.rigidbody.linearize import forward_by_inverse
from tauform.rigidbody.load import has_load


@dataclass(frozen=True)
class GenerationOptions:
    """Options of `generate`, as it documents them."""

    algorithm: str = "auto"
    parameters: Parameters = "baked"
    payload: PayloadBinding = "baked"
    wrenches: tuple[str, ...] = ()

    @property
    def is_baked(self) -> bool:
        """Whether the state is the only input: closed forms of a robot have room for nothing else."""
        return (self.parameters, self.payload, self.wrenches) == ("baked", "baked", ())

    def problem(self, robot: Robot) -> Problem:
        """What is to be traced."""
        return problem_of(robot, self.parameters, self.payload, self.wrenches)


def check_request(robot: Robot, function: str, options: GenerationOptions = GenerationOptions()) -> Function:
    """The function of that name; asked before long work, it refuses what `generate` would.

    Raises:
        UnknownNameError: no such function, algorithm or frame.
        GenerationError: the robot has no such function, or it does not feel wrenches.
    """
    wanted = check_function(function)
    if function == "friction" and not has_friction(robot):
        raise GenerationError(f"friction of {robot.name}: no joint has any; give it viscous, coulomb or offset values")
    _check_wrenches(robot, wanted, options.wrenches)
    if options.algorithm != "factored":
        usable_algorithms(wanted, options.algorithm, robot)
    elif not is_factorable(robot, function, options):
        raise GenerationError(
            f"{function} of {robot.name} has no factored closed form; that needs loops linear in q, baked"
        )
    return wanted


def check_function(name: str) -> Function:
    """The function of that name.

    Raises:
        UnknownNameError: there is none.
    """
    if name not in FUNCTIONS:
        # A name that is nearly right gets its remedy; others get the list.
        near = get_close_matches(name, FUNCTIONS, 1)
        hint = f"did you mean {near[0]!r}?" if near else f"choose from {', '.join(FUNCTIONS)}"
        raise UnknownNameError(f"function {name!r} cannot be generated; {hint}")
    return FUNCTIONS[name]


def _check_wrenches(robot: Robot, function: Function, wrenches: Sequence[str]) -> None:
    if wrenches and not function.feels_wrenches:
        able = ", ".join(name for name, other in FUNCTIONS.items() if other.feels_wrenches)
        raise GenerationError(f"wrenches: {function.name} takes none; those that do are {able}", argument="wrenches")
    # By the frame's own name: a link and a frame of one name would be one input.
    names = [robot.frame(name).name for name in wrenches]
    for name in names:
        if names.count(name) > 1:
            raise GenerationError(
                f"wrenches: frame {name!r} is named twice; wrenches on it add up", argument="wrenches"
            )


def is_factorable(robot: Robot, function: str, options: GenerationOptions) -> bool:
    """Whether a closed form of the function exists: loops that bend have none, and its terms hold numbers."""
    closed = not isinstance(robot.closure, GeneralClosure) and all(joint.type.has_functions for joint in robot.joints)
    return closed and function in FACTORABLE and options.is_baked


def usable_algorithms(function: Function, algorithm: str, robot: Robot) -> list[str]:
    """Names of the algorithms that compute the function of this robot: all of them, or the one asked for.

    Raises:
        UnknownNameError: it does not exist, or not for a robot with loops, shared rotors or load-dependent friction.
    """
    # a coefficient that is zero here may be another one at run time
    tied = forward_by_inverse.is_needed(robot) or any(term.is_inertial for term in robot.further_drives)
    loaded = has_load(robot.tree)
    # Their Jacobian changes with the posture, which algorithms of trees do not differentiate.
    bends = isinstance(robot.closure, GeneralClosure)
    known = function.algorithms.items()
    usable = [
        name
        for name, a in known
        if (a.with_loops or not tied) and (a.with_load or not loaded) and (a.with_bending or not bends)
    ]
    if algorithm in CHOICES:
        return usable
    if algorithm not in usable:
        raise UnknownNameError(
            f"algorithm {algorithm!r} does not exist for {function.name} of {robot.name}; choose from "
            + ", ".join([*CHOICES, *usable])
        )
    return [algorithm]
