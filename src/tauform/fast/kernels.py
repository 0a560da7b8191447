"""Kernels of public functions: made in stages, and compared with the textbook function before they answer."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import numpy as np

from tauform.codegen.candidates import plain_program, searched_program
from tauform.codegen.certificate import certified
from tauform.codegen.minimal.problem import problem_of
from tauform.codegen.runtime.kernel import Kernel, compile_program
from tauform.codegen.runtime.programs import kept_program
from tauform.description.robot import Robot
from tauform.fast.definite import is_definite
from tauform.fast.functions import function_of, with_pivots
from tauform.fast.tier import Tier


def kept_as(robot: Robot, name: str, options: dict[str, Any], tier: Tier) -> tuple[Any, ...]:
    """Everything that the program of a kernel depends on."""
    # Sorted: the order in which options were given makes no other kernel.
    return robot, name, tuple(sorted(options.items())), tier


def kernel_stages(
    robot: Robot, name: str, options: dict[str, Any], tier: Tier, divides: bool
) -> Generator[None, None, Kernel]:
    """The kernel of a public function; pauses between stages.

    Raises:
        TauformError: there is none, and why.
    """
    wrenches = options.get("wrenches", ())
    function = function_of(name, {key: value for key, value in options.items() if key != "wrenches"})
    # Where no position can be singular, the check of pivots would be work for nothing.
    if divides and not is_definite(robot):
        function = with_pivots(function)
    make = plain_program if tier == 2 else searched_program
    program = kept_program(kept_as(robot, name, options, tier), lambda: make(robot, function, wrenches))
    yield
    kernel = compile_program(program)
    yield
    # The comparison judges, not a warning of NumPy.
    with np.errstate(all="ignore"):
        # The compiled code itself is judged, not the program that it was made of.
        certified(program, function, problem_of(robot, wrenches=wrenches), run=kernel)
    return kernel
