"""Programs of derivatives: Jacobians, tangents and adjoints of one program speak of the same slopes."""

from __future__ import annotations

import numpy as np

import tauform as tf
from tauform.codegen.differentiation.adjoint import adjoint_program
from tauform.codegen.differentiation.jacobian import jacobian_program, tangent_program
from tauform.codegen.program.embed import whole
from traced_programs import every_kind

PROGRAM = whole(every_kind())
RNG = np.random.default_rng(3)
STATE = [RNG.uniform(0.2, 1.0, port.shape) for port in PROGRAM.inputs]
RATES = [RNG.normal(size=port.shape) for port in PROGRAM.inputs]
WEIGHTS = [RNG.normal(size=port.shape) for port in PROGRAM.outputs]
JACOBIANS = jacobian_program(PROGRAM)
BLOCKS = {port.name: np.asarray(v) for port, v in zip(JACOBIANS.outputs, JACOBIANS(*STATE), strict=True)}


def block(output: int, port: int) -> np.ndarray:
    o, p = PROGRAM.outputs[output], PROGRAM.inputs[port]
    return BLOCKS[f"d_{o.name}_{p.name}"].reshape(o.size, p.size)


def test_jacobians_are_differences_of_the_function() -> None:
    step = 1e-6
    for k, port in enumerate(PROGRAM.inputs):
        for entry in range(port.size):
            change = np.zeros(port.size)
            change[entry] = step
            states = [[*STATE[:k], STATE[k] + s * change.reshape(port.shape), *STATE[k + 1 :]] for s in (1, -1)]
            up, down = (PROGRAM(*state) for state in states)
            for o in range(len(PROGRAM.outputs)):
                difference = np.ravel(up[o] - down[o]) / (2 * step)
                np.testing.assert_allclose(block(o, k)[:, entry], difference, atol=1e-8)


def test_tangent_is_jacobian_times_rates() -> None:
    found = tangent_program(PROGRAM)(*STATE, *RATES)
    for o, change in enumerate(found):
        expected = sum(block(o, k) @ np.ravel(rate) for k, rate in enumerate(RATES))
        np.testing.assert_allclose(np.ravel(change), expected, atol=1e-13)


def test_adjoint_is_weights_times_jacobian() -> None:
    found = adjoint_program(PROGRAM)(*STATE, *WEIGHTS)
    for k, slope in enumerate(found):
        expected = sum(np.ravel(weight) @ block(o, k) for o, weight in enumerate(WEIGHTS))
        np.testing.assert_allclose(np.ravel(slope), expected, atol=1e-13)


def test_a_whole_program_takes_the_parameters_itself() -> None:
    robot = tf.random_robot("RRP", seed=4)
    program = tf.generate(robot, parameters="runtime")
    arrays = RNG.uniform(-1, 1, (3, 5, 3))
    found = whole(program)(*arrays, program.theta_of(robot))
    expected = tf.inverse_dynamics(robot, *arrays)
    np.testing.assert_allclose(found, expected, atol=1e-12 * np.abs(expected).max())
