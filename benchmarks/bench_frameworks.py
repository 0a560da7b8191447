"""Inside other frameworks: JAX and PyTorch functions beside frax and adam."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any

import numpy as np

import tauform as tf
from tauform.arrays import Array
from tools.arms import arm
from tools.measuring.timing import Row, one_processor, side_by_side
from tools.python_peers.peer import N_VECTORS

TITLE = (
    "Inside JAX and PyTorch, seconds of one processor, arms without friction and rotors: `tf.to_jax` (the kernel, "
    "under jit) and `tf.to_torch` beside frax and adam, which JAX compiles; all in double, on arrays of their "
    "framework. Gradients are of the sum of squared torques with respect to q. One state is mostly "
    "the framework's own call: the time of the least function of as many arrays, their sum, stands beside it."
)
ARMS = ("panda", "kr6_r700")
FUNCTIONS = ("inverse_dynamics", "mass_matrix", "forward_dynamics")
COUNTS = (1, 20_000)
AGREEMENT = 1e-9


def rows() -> Iterator[Row]:
    """Functions and gradients of each arm."""
    with one_processor():
        for name in ARMS:
            yield from _in_arrays(name, arm(name))


def _in_arrays(name: str, robot: tf.Robot) -> Iterator[Row]:
    theirs, missing = _calls_of_peers(robot)
    for function in FUNCTIONS if name == ARMS[0] else FUNCTIONS[:1]:
        for count in COUNTS:
            what = f"{name}, {function}, {count:,} state{'s' * (count > 1)}"
            yield from _compared(what, robot, function, count, theirs, slope=False)
    yield from _compared(
        f"{name}, gradient, {COUNTS[-1]:,} states", robot, FUNCTIONS[0], COUNTS[-1], theirs, slope=True
    )
    yield from (Row(f"{name}, all functions", None, None, peer, note=why) for peer, why in missing.items())


def _calls_of_peers(robot: tf.Robot) -> tuple[dict[str, Mapping[str, Any]], dict[str, str]]:
    """Functions of arrays (N, n) by peer, and which are not installed."""
    found, missing = {}, {}
    for module in ("frax", "adam"):
        try:
            label, calls = import_module(f"tools.python_peers.{module}_peer").batched(robot)
            found[label] = calls
        except ImportError as error:
            missing[module] = f"not installed ({error.name})"
    return found, missing


def _compared(
    what: str, robot: tf.Robot, function: str, count: int, theirs: dict[str, Mapping[str, Any]], slope: bool
) -> Iterator[Row]:
    states = np.random.default_rng(0).uniform(-np.pi, np.pi, (N_VECTORS[function], count, robot.n_joints))
    program = tf.generate(robot, function)
    ours = {"JAX": _in_jax(tf.to_jax(program, "kernel"), states, slope), "PyTorch": _in_torch(program, states, slope)}
    tasks = {**ours, **{label: _in_jax(calls[function], states, slope) for label, calls in theirs.items()}}
    wanted = tasks["JAX"]()
    for label, task in tasks.items():
        error = float(np.abs(task() - wanted).max() / np.abs(wanted).max())
        if error > AGREEMENT:
            raise RuntimeError(f"{label} disagrees by {error:.1e}; its time means nothing")
    # What a call of the framework takes by itself: nothing inside it can be quicker.
    floors = {f"{form}, sum": _sum_in(form, states) for form in ours} if count == 1 else {}
    seconds = side_by_side(tasks | floors, repeats=25 if count == 1 else 5, clock=time.process_time)
    for form in ours:
        note = f"a sum {1e6 * seconds[f'{form}, sum']:.2f} us" if floors else _rate(count, seconds[form])
        for label in theirs:
            yield Row(f"{what}, {form}", seconds[form], seconds[label], label, note=note)


def _rate(count: int, seconds: float) -> str:
    return f"ours {count / seconds / 1e6:.3g} M states/s"


def _sum_in(form: str, states: Array) -> Callable[[], Array]:
    if form == "JAX":
        return _in_jax(lambda *arrays: sum(arrays), states, slope=False)
    import torch

    placed = [torch.from_numpy(array.copy()) for array in states]
    return lambda: np.asarray(sum(placed[1:], placed[0]).numpy())


def _in_jax(function: Callable[..., Any], states: Array, slope: bool) -> Callable[[], Array]:
    from tools.python_peers.jax_calls import jax

    def loss(*arrays: Any) -> Any:
        return (function(*arrays) ** 2).sum()

    ready = jax.jit(jax.grad(loss) if slope else function)
    placed = [jax.device_put(array) for array in states]
    return lambda: np.asarray(ready(*placed))


def _in_torch(program: Any, states: Array, slope: bool) -> Callable[[], Array]:
    import torch

    torch.set_num_threads(1)
    function = tf.to_torch(program)
    q, *others = (torch.from_numpy(array.copy()) for array in states)

    def gradient() -> Array:
        leaf = q.detach().requires_grad_()
        function(leaf, *others).square().sum().backward()
        found: Array = leaf.grad.numpy()
        return found

    return gradient if slope else lambda: np.asarray(function(q, *others).numpy())
