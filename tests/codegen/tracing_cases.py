"""Robots, choices and short ways from a tracer to numbers, for the tests of programs."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

import tauform as tf
from random_robots import random_tree
from real_robots import urdf
from tauform.arrays import Array
from tauform.codegen.functions import Function
from tauform.codegen.minimal.problem import Problem
from tauform.codegen.minimal.search import Choice, FrameSearch
from tauform.codegen.minimal.split import lowered
from tauform.codegen.minimal.tracing import traced
from tauform.description.robot import Robot

ROBOTS = ("two_link", "kr6_r700", "sr6ia", "puma260_izaguirre", "parallelogram", "tree", "ur5", "R3", "PP1")
# The smallest robots, by joints and seed: parts of their torque vanish, offsets of their slides look like weight.
SMALL = ("R3", "P4", "PP1", "PR1", "PRP1")


@cache
def robot_named(name: str) -> Robot:
    """A robot of the catalogue, a small random one, a random tree with branches and slides, or a real URDF."""
    if name in SMALL:
        return tf.random_robot(name[:-1], int(name[-1]))
    if name in ("tree", "small_tree"):
        robot = random_tree(*((5, 9) if name == "tree" else (4, 15)))
        assert not robot.is_chain
        assert {joint.is_revolute for joint in robot.joints} == {True, False}
        return robot
    return tf.load(urdf("ur5_robot"), snap=1e-5) if name == "ur5" else tf.load(name)


def random_choice(search: FrameSearch, rng: np.random.Generator) -> Choice:
    """A point far from the start: several random moves, one after the other."""
    choice = search.start()
    for _ in range(6):
        options = list(search.neighbours(choice))
        choice = options[rng.integers(len(options))]
    return choice


def states(function: Function, robot: Robot, n_states: int = 6, seed: int = 0) -> list[Array]:
    """A batch of each input of a function."""
    rng = np.random.default_rng(seed)
    return [rng.uniform(-np.pi, np.pi, (n_states, *shape)) for shape in function.inputs(robot).values()]


def whole_torque(function: Function, robot: Robot) -> float:
    """Size of the torque that a function's results are parts of, where these may vanish."""
    motion = np.random.default_rng(1).uniform(-np.pi, np.pi, (3, 20, robot.n_joints))
    return float(np.abs(tf.inverse_dynamics(robot, *motion)).max()) if function.may_vanish else 0.0


def listed(outputs: Any) -> list[Array]:
    """Outputs as a list, one or several."""
    return list(outputs) if isinstance(outputs, tuple) else [outputs]


def evaluated(function: Function, algorithm: str, problem: Problem, choice: Choice | None, arrays: list[Array]) -> Any:
    """The algorithm traced at a choice (None: as it stands), lowered and interpreted."""
    way = function.algorithms[algorithm]
    search = replace(problem.search, any_unit=way.any_unit, sums_angles=way.sums_angles)
    choice = choice or search.start()
    bodies = search.realised(choice) if way.moves_frames else problem.bodies
    graph, outputs = traced(problem, choice, bodies, function.inputs(problem.robot), way.trace, opaque=False)
    program = lowered(graph, function.name, outputs)
    if program.setup is None:
        return listed(program(*arrays))
    return listed(program(*arrays, program.setup(*problem.defaults)))
