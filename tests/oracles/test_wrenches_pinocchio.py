"""External wrenches against Pinocchio's rnea and aba with fext, and against virtual work where it has no such robot."""

from __future__ import annotations

import numpy as np
import pytest

import tauform as tf
from pinocchio_oracle import Pair, model_of, pin, real_robot
from random_drives import with_random_drives
from random_robots import random_states, random_tree
from sampling import in_turns

TOLERANCE = 1e-12
TREES = {"chain": (6, True), "tree": (9, False)}
REAL = ("panda", "tiago", "iiwa14")


def agree(value, expected, factor: float = 1.0) -> None:
    np.testing.assert_allclose(value, expected, rtol=0, atol=factor * TOLERANCE * np.abs(expected).max())


def frames_of(pair: Pair) -> dict[str, tuple[int, object]]:
    """Our frame names, with Pinocchio's joint and the placement on it: its frames, or our links where it has none."""
    shared = {f.name: (f.parentJoint, f.placement) for f in pair.model.frames if f.parentJoint > 0}
    known = {frame.name for frame in pair.robot.frames} & set(shared)
    if known:
        return {name: shared[name] for name in sorted(known)[-3:]}
    names = [link.name for link in pair.robot.links]
    return {names[i]: (pair.ids[i], pin.SE3.Identity()) for i in (1, len(names) // 2, len(names) - 1)}


@pytest.mark.parametrize("name", [*TREES, *REAL])
def test_wrenches_equal_fext(name):
    pair = model_of(random_tree(TREES[name][0], 3, chain=TREES[name][1], friction=False)) if name in TREES else None
    pair = pair or real_robot(name)
    frames, rng = frames_of(pair), np.random.default_rng(1)
    q, qd, qdd = rng.uniform(-2, 2, (3, 4, pair.robot.n_joints))
    wrenches = {frame: rng.uniform(-20, 20, (4, 6)) for frame in frames}
    tau = tf.inverse_dynamics(pair.robot, q, qd, qdd, wrenches=wrenches)
    bias = tf.bias_torque(pair.robot, q, qd, wrenches=wrenches)
    for k in range(4):
        fext = pin.StdVec_Force()
        fext.extend([pin.Force.Zero() for _ in range(pair.model.njoints)])
        for frame, (joint, placement) in frames.items():
            fext[joint] += placement.act(pin.Force(wrenches[frame][k]))
        state = pair.model, pair.data, pair.theirs(q[k]), pair.theirs_v(qd[k])
        agree(tau[k], pin.rnea(*state, pair.theirs_v(qdd[k]), fext)[pair.order])
        agree(bias[k], pin.rnea(*state, 0 * pair.theirs_v(qdd[k]), fext)[pair.order])
        theirs = pin.aba(*state, pair.theirs_v(tau[k]), fext)[pair.order]
        # rounding of a division by M
        size = np.linalg.cond(tf.mass_matrix(pair.robot, q[k]))
        for method in ("aba", "mass_matrix"):
            ours = tf.forward_dynamics(
                pair.robot, q[k], qd[k], tau[k], method, wrenches={f: w[k] for f, w in wrenches.items()}
            )
            agree(ours, theirs, size)


def virtual_work(robot: tf.Robot, q: np.ndarray, wrenches: dict[str, np.ndarray]) -> np.ndarray:
    """J^T w of each frame, summed; rows of a Jacobian are angular first."""
    turned = {frame: np.concatenate([w[..., 3:], w[..., :3]], axis=-1) for frame, w in wrenches.items()}
    return sum(np.einsum("...ij,...i->...j", tf.jacobian(robot, q, f, axes="local"), w) for f, w in turned.items())


@pytest.fixture(scope="module")
def loop() -> tf.Robot:
    return tf.load("parallelogram")


def test_with_loops_wrenches_do_virtual_work(loop):
    q, qd, qdd = random_states(loop, 5, seed=2)
    wrenches = {loop.links[k].name: np.random.default_rng(k).normal(size=(5, 6)) for k in range(loop.n_bodies)}
    free = tf.inverse_dynamics(loop, q, qd, qdd)
    tau = tf.inverse_dynamics(loop, q, qd, qdd, wrenches=wrenches)
    agree(tau, free - virtual_work(loop, q, wrenches))
    condition = np.linalg.cond(tf.mass_matrix(loop, q)).max()
    agree(tf.forward_dynamics(loop, q, qd, tau, wrenches=wrenches), qdd, condition)


def test_joints_carry_wrenches_where_friction_depends_on_load():
    robot = with_random_drives(random_tree(4, 5), 5, shapes=["load"])
    q, qd, qdd = random_states(robot, 5, seed=3)
    wrenches = {robot.links[-1].name: np.random.default_rng(3).normal(size=(5, 6))}
    rigid = tf.inverse_dynamics(robot, q, qd, qdd, drives=False) - virtual_work(robot, q, wrenches)
    load = np.zeros(4)
    for term in robot.further_drives:
        load[term.joints[0]] += term.coefficient
    plain = tf.friction(robot.with_drives(t for t in robot.drives if t.shape != "load"), qd)
    tau = tf.inverse_dynamics(robot, q, qd, qdd, wrenches=wrenches)
    agree(tau, rigid + plain + load * np.abs(rigid) * np.sign(qd))
    agree(tf.forward_dynamics(robot, q, qd, tau, wrenches=wrenches), qdd, 1e3)


PROGRAMS = {
    "kr6": lambda: (tf.load("kr6_r700"), ["tool", "link3"], {}),
    "tree": lambda: (random_tree(5, 3), ["link5", "link2"], {}),
    "loop": lambda: (tf.load("parallelogram"), [tf.load("parallelogram").links[-1].name], {}),
    "runtime": lambda: (random_tree(4, 7, chain=True), ["link4"], {"parameters": "runtime", "payload": "runtime"}),
    "slides": lambda: (random_tree(4, 8, prismatic=0.7), ["link4", "link3"], {}),
}


@pytest.mark.parametrize(
    ("name", "function"), in_turns(PROGRAMS, ["inverse_dynamics", "forward_dynamics", "bias_torque"])
)
def test_kernels_take_wrenches_last(name, function):
    robot, frames, options = PROGRAMS[name]()
    q, qd, third = random_states(robot, 5, seed=4)
    wrenches = {frame: np.random.default_rng(k).uniform(-50, 50, (5, 6)) for k, frame in enumerate(frames)}
    kernel = tf.compile(robot, function, wrenches=frames, **options)
    program = kernel.program
    assert [port.name for port in program.inputs if not port.shared][-len(frames) :] == [f"wrench_{f}" for f in frames]
    arrays = [q, qd, third][: 2 if function == "bias_torque" else 3]
    runtime = (program.theta_of(robot), np.zeros(10)) if options else ()
    expected = getattr(tf, function)(robot, *arrays, wrenches=wrenches)
    size = np.linalg.cond(tf.mass_matrix(robot, q)).max() if function == "forward_dynamics" else 1.0
    agree(kernel(*arrays, *wrenches.values(), *runtime), expected, size)
    alone = getattr(tf, function)(robot, *arrays)
    assert np.abs(expected - alone).max() > 1.0  # the wrenches are felt
