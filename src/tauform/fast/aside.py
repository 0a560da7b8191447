"""Kernels that take long are made by a child process, and kept on disk, where the process that asked finds them.

A search and the tracing of large functions are Python: in a thread they hold the interpreter lock, and calls wait for
it, on a busy machine for tens of milliseconds. The child has a low priority. It ends with the process that
asked, whose end closes its standard input. Whatever goes wrong with it, the thread makes the kernel itself.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Generator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from tauform.codegen.candidates import plain_program, searched_program
from tauform.codegen.certificate import certified
from tauform.codegen.minimal.problem import problem_of
from tauform.codegen.runtime.cache import folder
from tauform.codegen.runtime.kernel import Kernel, compile_program
from tauform.codegen.runtime.programs import is_kept, kept_program
from tauform.description.robot import Robot
from tauform.fast.definite import is_definite
from tauform.fast.functions import function_of, with_pivots
from tauform.fast.tier import VARIABLE, Tier

# Bodies from which on tracing derivatives takes longer than starting a process.
MIN_BODIES = 6
_PAUSE = 0.01  # seconds between looks at the child; forks wait so long at most
_NICENESS = 10
_CHILD = "from tauform.fast.aside import work; work()"


def stages(
    robot: Robot, name: str, options: dict[str, Any], tier: Tier, divides: bool, in_background: bool
) -> Generator[None, None, Kernel]:
    """The kernel of a public function; where no call waits for it and it takes long, a child process makes it."""
    asked = robot, name, options, tier, divides
    # A kernel that is on disk needs no child.
    if in_background and takes_long(robot, name, tier) and not is_kept(kept_as(robot, name, options, tier)):
        yield from made_aside(*asked)
    # After the child the kernel is on disk and is found; where it failed it is made here.
    return (yield from kernel_stages(*asked))


def takes_long(robot: Robot, name: str, tier: Tier) -> bool:
    """Whether a kernel is worth a process of its own."""
    return tier == 3 or (robot.n_bodies >= MIN_BODIES and name.startswith("linearize"))


def made_aside(*asked: Any) -> Iterator[None]:
    """Let a child make a kernel, with the arguments of `kernel_stages`; pauses while it works.

    Where nothing is kept on disk, or this is no usual Python, it is not made.
    """
    if not _is_possible():
        return
    # The child finds this package wherever it was imported from.
    path = os.pathsep.join(entry or os.getcwd() for entry in sys.path)
    # Its own calls stay with NumPy: the child must not ask for a child.
    environment = {**os.environ, "PYTHONPATH": path, VARIABLE: "1"}
    try:
        child = subprocess.Popen(
            [sys.executable, "-P", "-c", _CHILD],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment,
            start_new_session=True,  # Ctrl-C is for the process in front
        )
    except OSError:
        return
    with child:
        assert child.stdin is not None
        try:
            child.stdin.write(pickle.dumps(asked))
            child.stdin.flush()
        except OSError:  # it has ended already
            return
        while child.poll() is None:
            # A pause of the workshop: forks may happen here, and the caller can end.
            yield
            with suppress(subprocess.TimeoutExpired):
                child.wait(_PAUSE)


def _is_possible() -> bool:
    try:
        kept = folder() is not None
    except RuntimeError:
        kept = False
    return kept and bool(sys.executable) and Path(sys.executable).name.startswith("python")


def work() -> None:
    """Make the kernel that standard input asks for."""
    if hasattr(os, "nice"):
        os.nice(_NICENESS)
    asked = pickle.load(sys.stdin.buffer)  # of the process that started this one
    # Standard input stays open as long as the asking process lives.
    threading.Thread(target=_end_with_parent, daemon=True).start()
    for _ in kernel_stages(*asked):
        pass


def _end_with_parent() -> None:
    sys.stdin.buffer.read()
    os._exit(1)


# Kernels of public functions: made in stages, and compared with the textbook function before they answer.


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
