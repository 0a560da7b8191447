"""Rollouts of a Panda in batches, one thread, beside MuJoCo's and Pinocchio's; and how energy drifts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from unittest.mock import patch

import mujoco
import numpy as np
import pinocchio
from mujoco import rollout as mujoco_rollout

import tauform as tf
from tauform.arrays import Array
from tauform.cli.comparison.models import mujoco_model, pinocchio_model
from tools.arms import arm
from tools.measuring.timing import Row, side_by_side

TITLE = (
    "Free motion of a Panda, 1 ms per step: tf.simulate of 4096 states, all states kept, against MuJoCo's rollout with "
    "contacts and constraints off and the same integrator, and against a loop over pinocchio.aba; seconds per step of "
    "one state. With dry friction of 1 N m, damping and stops beside MuJoCo's own, which are soft constraints, and "
    "beside the same steps in NumPy. Energy: largest change in 2 s, of the largest change of potential energy."
)
STATES, STEPS, STEP = 4096, 50, 1e-3
# Simulations that peers repeat; their time per step does not depend on it.
PEER_STATES = 128
NUMPY_STATES = 16
FRICTION = 1.0  # N m, and N m s/rad
THEIRS = {"semi_implicit": "mjINT_EULER", "rk4": "mjINT_RK4"}


def rows() -> Iterator[Row]:
    """Each integrator beside its peers, then the drift of energy."""
    robot = arm("panda")
    q0 = np.random.default_rng(0).uniform(-1, 1, (STATES, robot.n_joints))
    for integrator, theirs in THEIRS.items():
        yield _beside_mujoco(robot, q0, integrator, theirs)
    yield _beside_pinocchio(robot, q0)
    yield from _with_friction(robot, q0)
    for integrator in ("semi_implicit", "rk4", "midpoint"):
        yield _drift(robot, q0[:32], integrator)


def _ours(robot: tf.Robot, q0: Array, integrator: str) -> tf.Motion:
    # one step fewer: the acceleration at the end takes one too
    return tf.simulate(robot, q0, None, None, (STEPS - 1) * STEP, STEP, integrator=integrator, limits=False)  # type: ignore[arg-type]


def _beside_mujoco(robot: tf.Robot, q0: Array, integrator: str, theirs: str) -> Row:
    model = mujoco_model(robot)
    model.opt.timestep, model.opt.integrator = STEP, getattr(mujoco.mjtIntegrator, theirs)
    flags = mujoco.mjtDisableBit
    model.opt.disableflags = flags.mjDSBL_CONSTRAINT | flags.mjDSBL_CONTACT | flags.mjDSBL_EULERDAMP
    data, n = mujoco.MjData(model), robot.n_joints
    states = np.zeros((PEER_STATES, mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)))
    states[:, 1 : 1 + n] = q0[:PEER_STATES]

    def peer() -> Array:
        found: Array = mujoco_rollout.rollout(model, [data], states, nstep=STEPS, persistent_pool=True)[0]
        return found

    motion, found = _ours(robot, q0, integrator), peer()
    apart = np.abs(motion.q[:PEER_STATES, 1:] - found[:, : STEPS - 1, 1 : 1 + n]).max()
    assert apart < 1e-10
    seconds = side_by_side({"ours": lambda: _ours(robot, q0, integrator), "theirs": peer}, repeats=20)
    ours, other = seconds["ours"] / (STATES * STEPS), seconds["theirs"] / (PEER_STATES * STEPS)
    note = f"agree to {apart:.0e}; {1e-6 / ours:.2g} M steps/s"
    return Row(f"panda, {integrator}", ours=ours, peer=other, peer_name=f"MuJoCo {mujoco.__version__}", note=note)


def _beside_pinocchio(robot: tf.Robot, q0: Array) -> Row:
    model = pinocchio_model(robot)
    data, still = model.createData(), np.zeros(robot.n_joints)

    def peer() -> Array:
        q, v = q0[0].copy(), still.copy()
        for _ in range(STEPS):
            v += STEP * pinocchio.aba(model, data, q, v, still)
            q += STEP * v
        return q

    apart = np.abs(_ours(robot, q0, "semi_implicit").q[0, -1] - peer()).max()
    assert apart < 1e-2  # one step apart
    seconds = side_by_side({"ours": lambda: _ours(robot, q0, "semi_implicit"), "theirs": peer}, repeats=20)
    return Row(
        "panda, semi_implicit",
        ours=seconds["ours"] / (STATES * STEPS),
        peer=seconds["theirs"] / STEPS,
        peer_name="loop over pinocchio.aba",
        note="from Python",
    )


def _with_friction(robot: tf.Robot, q0: Array) -> Iterator[Row]:
    n, middle = robot.n_joints, np.array([0.5 * (j.limits.lower + j.limits.upper) for j in robot.joints])
    pairs = [tf.Drive.of(shape, k, FRICTION) for shape in ("coulomb", "viscous") for k in range(n)]
    rough, start = robot.with_drives(pairs), middle + 0.3 * q0

    def ours(states: int = STATES, integrator: str = "semi_implicit") -> tf.Motion:
        return tf.simulate(rough, start[:states], q0[:states], None, (STEPS - 1) * STEP, STEP, integrator=integrator)  # type: ignore[arg-type]

    def in_numpy() -> tf.Motion:
        with patch("tauform.simulation.rollout.compiled_contact", return_value=None):
            return ours(NUMPY_STATES)

    model = mujoco_model(robot)
    model.opt.timestep, model.opt.integrator = STEP, mujoco.mjtIntegrator.mjINT_EULER
    model.opt.disableflags = mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_EULERDAMP
    model.dof_frictionloss[:], model.dof_damping[:], model.jnt_limited[:] = FRICTION, FRICTION, 1
    model.jnt_range[:] = [[j.limits.lower, j.limits.upper] for j in robot.joints]
    data = mujoco.MjData(model)
    states = np.zeros((PEER_STATES, mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)))
    states[:, 1 : 1 + n], states[:, 1 + n : 1 + 2 * n] = start[:PEER_STATES], q0[:PEER_STATES]

    def peer() -> Array:
        found: Array = mujoco_rollout.rollout(model, [data], states, nstep=STEPS, persistent_pool=True)[0]
        return found

    motion, found, slow = ours(), peer(), in_numpy()
    apart = np.abs(motion.q[:PEER_STATES, 1:] - found[:, : STEPS - 1, 1 : 1 + n]).max()
    same = np.abs(motion.q[:NUMPY_STATES] - slow.q).max()
    assert apart < 1e-2
    assert same < 1e-10
    tasks: dict[str, Callable[[], Any]] = {"ours": ours, "theirs": peer, "numpy": in_numpy}
    seconds = side_by_side(tasks, repeats=10)
    own = seconds["ours"] / (STATES * STEPS)
    rate = f"{1e-6 / own:.2g} M steps/s"
    theirs, numpy = seconds["theirs"] / (PEER_STATES * STEPS), seconds["numpy"] / (NUMPY_STATES * STEPS)
    what = "panda with dry friction and stops, semi_implicit"
    yield Row(what, own, theirs, f"MuJoCo {mujoco.__version__}", note=f"{apart:.0e} rad apart; {rate}")
    yield Row(what, own, numpy, "NumPy", note=f"agree to {same:.0e}")


def _drift(robot: tf.Robot, q0: Array, integrator: str) -> Row:
    motion = tf.simulate(robot, q0, None, None, 2.0, STEP, integrator=integrator, limits=False, every=10)  # type: ignore[arg-type]
    scale = np.ptp(tf.potential_energy(robot, motion.q), axis=-1).max()
    lost = np.abs(motion.energy - motion.energy[:, :1]).max() / scale
    note = "largest change of energy in 2 s"
    return Row(f"panda, {integrator}, energy", ours=lost, peer=None, peer_name="-", unit="relative", note=note)
