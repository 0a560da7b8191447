"""What was judged is what is shipped: prediction, identified robot, kernel, compiled C and files are one model.

Every two of estimator, friction law, variant of the fit and shape of the robot meet (`make nightly` takes all cases).
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from itertools import cycle, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tauform as tf
from identification.arms import arm, motion, with_drives
from pairs import all_pairs
from random_drives import random_temperatures
from random_robots import random_tree
from tauform.description.parameter_groups import ParameterGroup
from tauform.identification.motion.simulate import simulated_recording
from tauform.identification.regression.estimators import METHODS
from tauform.identification.selection.laws import LAWS
from tauform.rigidbody.load import leading_joints

pytest.importorskip("clarabel")

# Relative to each joint's peak torque.
SAME = 1e-9
N_STATES = 1000
STEPS: dict[str, Callable[[tf.Fit], tf.Fit]] = {
    "physical": lambda fit: fit.physically_consistent(),
    "reduced": lambda fit: fit.reduced(most=len(fit.values) - 3),
}
VARIANTS = ("free", "physical", "reduced", "reduced, physical", "physical, reduced")


def branched() -> tf.Robot:
    """Two links on one."""
    return with_drives(random_tree(3, 1, prismatic=0.0))


def looped() -> tf.Robot:
    """A joint that follows another one, with friction of its own."""
    return with_drives(tf.random_robot("RRR", 4)).with_relations({"joint3": {"joint2": -0.5}})


SHAPES: dict[str, Callable[[], tf.Robot]] = {
    "chain": lambda: with_drives(tf.random_robot("RR", 3)),
    "tree": branched,
    "loop": looped,
}
# Coefficient and constants of each law at every joint, and what a description may declare.
TRUTH: dict[str, dict[str, float]] = {
    "asymmetric": {"coefficient": 0.7},
    "stribeck": {"coefficient": 1.5, "width": 0.2},
    "quadratic": {"coefficient": 0.4},
    "load": {"coefficient": 0.08},
    "thermal": {"coefficient": -0.03},
}
DECLARED = "declared"
FRICTION = (*LAWS, DECLARED)


def described(shape: str, law: str) -> tf.Robot:
    """The robot as it is described."""
    robot = SHAPES[shape]()
    if law != DECLARED:
        return robot
    ends = (-1, (0.1, 0.4, 0.2)), (1, (0.2, -0.1, 0.3))
    terms = [
        tf.Drive.of("spring", coefficient=30.0, rest=0.05, ends=ends),
        tf.Drive.of("coupled_coulomb", (0, 1), 0.9, sense=-1),
        tf.Drive.of("stiffness", 0, 2.0, rest=0.3),
        tf.Drive.of("smooth", 1, 1.1, width=0.3),
    ]
    return smoothed(robot).with_drives([*smoothed(robot).drives, *terms])


def smoothed(robot: tf.Robot) -> tf.Robot:
    """The robot with Coulomb friction that builds up over a velocity."""
    return replace(robot, joints=tuple(replace(joint, coulomb_width=0.4) for joint in robot.joints))


def true(shape: str, law: str) -> tf.Robot:
    """The robot that is recorded."""
    robot = described(shape, law)
    if law == "auto":
        return smoothed(robot)
    terms = [tf.Drive.of(law, j, **TRUTH[law]) for j in leading_joints(robot)] if law in TRUTH else []
    return robot.with_drives([*robot.drives, *terms])


@cache
def recordings(shape: str, law: str) -> tuple[tf.Recording, ...]:
    robot, rng = true(shape, law), np.random.default_rng(0)
    found = []
    for seed in (1, 2):
        path = motion(robot, seed, duration=5.0)
        warm = 20 + 30 * (1 - np.exp(-path.t / 3))[:, None] * np.ones(robot.n_joints) if law == "thermal" else None
        options: dict[str, Any] = {"torque_noise": 0.1, "exact_states": True, "temperature": warm}
        found.append(simulated_recording(robot, path, rng, **options))
    return tuple(found)


@cache
def fitted(shape: str, law: str, method: str, variant: str) -> tf.Fit:
    """A variant of a fit; made of its predecessor, which is made once."""
    if variant == "free":
        friction: Any = "plain" if law == DECLARED else law
        options: dict[str, Any] = {"friction": friction, "couplings": None, "method": method, "filters": None}
        return tf.identify(described(shape, law), recordings(shape, law), **options)
    *before, last = variant.split(", ")
    return STEPS[last](fitted(shape, law, method, ", ".join(before) or "free"))


def states(fit: tf.Fit) -> tuple[np.ndarray, ...]:
    """Positions, velocities, accelerations, and temperatures where these count."""
    q, qd, qdd = np.random.default_rng(1).uniform(-2.0, 2.0, (3, N_STATES, fit.robot.n_joints))
    warm = (random_temperatures(fit.robot, N_STATES, 2),) if fit.design.is_thermal else ()
    return q, qd, qdd, *warm


def assert_same(fit: tf.Fit, **others: Callable[..., np.ndarray]) -> None:
    """What the fit predicts is what its robot, and whatever else is given, computes."""
    given = states(fit)
    predicted = fit.predict(*given)
    for name, torque in {"robot": lambda *x: tf.inverse_dynamics(fit.identified_robot, *x), **others}.items():
        error = np.abs(torque(*given) - predicted)
        assert (error <= SAME * np.abs(predicted).max(axis=0)).all(), (name, error.max())


def assert_physical(robot: tf.Robot) -> None:
    for inertia in robot.inertias:
        assert np.linalg.eigvalsh(inertia.pseudo_inertia)[0] > 0
    for joint in robot.joints:
        assert min(joint.rotor_inertia or 0.0, joint.viscous, joint.coulomb) >= 0


def from_files(fit: tf.Fit, folder: Path) -> Iterator[tuple[str, Callable[..., np.ndarray]]]:
    """Torques of the robot and of the fits that were saved."""
    saved = tf.load(fit.identified_robot.save(folder / "robot.toml").path)
    yield "robot.toml", lambda *x: tf.inverse_dynamics(saved, *x)
    for name in ("fit.npz", "fit.json"):
        yield name, tf.load_fit(fit.save(folder / name)).predict


def from_code(robot: tf.Robot, folder: Path) -> Iterator[tuple[str, Callable[..., np.ndarray]]]:
    """Torques of the kernel and of the compiled C."""
    program = tf.generate(robot)
    yield "kernel", tf.compile(program)
    if shutil.which("cc") is None:
        return
    tf.write_c(program, folder / "c", name="arm")
    subprocess.run(["cc", "-O0", "-shared", "-fPIC", "arm.c", "-lm", "-o", "arm.so"], cwd=folder / "c", check=True)
    function = ctypes.CDLL(str(folder / "c" / "arm.so")).arm_inverse_dynamics

    def torque(*arrays: np.ndarray) -> np.ndarray:
        out = np.empty(arrays[0].shape)
        for row, *state in zip(out, *arrays, strict=True):
            function(*(np.ascontiguousarray(x).ctypes for x in state), row.ctypes)
        return out

    yield "C", torque


def assert_one_model(case: tuple[str, str, str, str], folder: Path, code: bool) -> None:
    """Everything that is made of a fit computes one torque; its URDF loses what it says."""
    shape, law, method, variant = case
    fit, free = fitted(*case), fitted(shape, law, method, "free")
    others = dict(from_files(fit, folder))
    if code:
        others |= from_code(fit.identified_robot, folder)
    assert_same(fit, **others)
    if "physical" in variant:
        assert_physical(fit.identified_robot)
        assert_the_urdf_loses_what_it_says(fit, recordings(shape, law), folder / "robot.urdf")
    if "reduced" in variant:
        assert len(fit.values) < len(free.values)
    # What was left out is zero in the robot, not free.
    whole = free.design.base_values(fit.identified_robot)
    left_out = [k for k, pivot in enumerate(free.base.pivots) if pivot not in fit.base.pivots]
    assert np.abs(whole[left_out]).max(initial=0.0) <= 1e-12 * np.abs(whole).max()


def assert_the_urdf_loses_what_it_says(fit: tf.Fit, recorded: tuple[tf.Recording, ...], path: Path) -> None:
    """Pinocchio's torques of the file, beside those that were measured, have the error that its findings state."""
    pytest.importorskip("pinocchio")
    written = fit.write_urdf(None, path)
    q, qd, qdd, measured = (np.concatenate([getattr(r, name) for r in recorded]) for name in ("q", "qd", "qdd", "tau"))
    error = np.linalg.norm(torque_of_urdf(fit.robot, path, q, qd, qdd) - measured) / np.linalg.norm(measured)
    assert error == pytest.approx(written.loss.other, rel=1e-6)
    assert f"{100 * written.loss.other:.3g} %" in path.read_text(encoding="utf-8")
    assert fit.residuals.total == pytest.approx(written.loss.fit, rel=1e-9)


def torque_of_urdf(robot: tf.Robot, path: Path, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
    """Torques by Pinocchio, with the damping and friction of the file; joints that follow others do so."""
    import pinocchio as pin

    model = pin.buildModelFromUrdf(str(path))
    model.gravity.linear = robot.gravity
    data = model.createData()
    F = np.eye(robot.n_joints) if robot.closure is None else robot.closure.F
    offset = 0.0 if robot.closure is None else robot.closure.offset
    order = [model.joints[model.getJointId(joint.name)].idx_v for joint in robot.joints]
    out = np.empty(q.shape)
    for k in range(len(q)):
        position, v, a = np.empty(model.nq), np.empty(model.nv), np.empty(model.nv)
        position[order], v[order], a[order] = F @ q[k] + offset, F @ qd[k], F @ qdd[k]
        tau = pin.rnea(model, data, position, v, a) + model.damping * v + model.friction * np.sign(v)
        out[k] = F.T @ tau[order]
    return out


FACTORS = (tuple(SHAPES), FRICTION, tuple(METHODS), VARIANTS)
# The energy model knows no accelerations, which the load of a joint may depend on: identify refuses the two together.
REFUSED = ("load", "energy")
PAIRS = [case for case in all_pairs(*FACTORS) if case[1:3] != REFUSED]
# Code knows nothing of estimators: one fit of each law, robots taking turns (`make nightly`: each robot with each law).
TURNS = list(zip(cycle(SHAPES), FRICTION, strict=False))
CODED = [next(case for case in PAIRS if case[:2] == turn) for turn in TURNS]


@pytest.mark.parametrize("case", PAIRS, ids=lambda case: "-".join(case))
def test_a_fit_and_all_that_is_made_of_it_are_one_model(case: tuple[str, str, str, str], tmp_path: Path) -> None:
    assert_one_model(case, tmp_path, code=case in CODED)


@pytest.mark.nightly
@pytest.mark.parametrize(
    "case", [case for case in product(*FACTORS) if case[1:3] != REFUSED], ids=lambda case: "-".join(case)
)
def test_every_fit_and_all_that_is_made_of_it_are_one_model(case: tuple[str, str, str, str], tmp_path: Path) -> None:
    assert_one_model(case, tmp_path, code=case[2] == "weighted")


@pytest.mark.parametrize("law", FRICTION)
def test_the_fits_of_the_contract_hold_their_law(law: str) -> None:
    """Fits hold their law, or the contract would compare plain friction with itself."""
    fit = fitted("chain", law, "weighted", "free")
    if law == "plain":
        assert fit.has_plain_friction
    elif law == "auto":
        assert any(fit.design.widths)
    elif law == DECLARED:
        assert [term.shape for term in fit.terms] == ["spring", "coupled_coulomb", "stiffness", "smooth"]
    else:
        assert {term.shape for term in fit.identified_robot.further_drives} == {law}
    assert fit.residuals.total < 0.1


@pytest.mark.parametrize("variant", ["reduced", "physical, reduced"])
def test_a_loaded_fit_goes_on_as_the_saved_one_would(variant: str, tmp_path: Path) -> None:
    fit = fitted("chain", "plain", "weighted", variant)
    loaded = tf.load_fit(fit.save(tmp_path / "fit.npz"))
    assert_same(loaded)
    one, other = fit.physically_consistent(), loaded.physically_consistent()
    assert one.names == other.names
    np.testing.assert_allclose(other.values, one.values, rtol=0, atol=1e-6 * np.abs(one.values).max())
    assert_same(other)
    assert loaded.reduced(most=10).physical_method == fit.physical_method


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("include", [("link", "rotor"), ("link", "viscous"), "declared"], ids=str)
def test_what_took_no_part_is_not_in_the_robot(include: tuple[ParameterGroup, ...] | str, step: str) -> None:
    """The description declares rotors and friction; a fit without them hands over a robot without them."""
    described = arm()
    parameters = np.array(described.parameters)
    parameters[10 * described.n_bodies :] *= 0.01
    robot = described.with_parameters(parameters)
    recording = simulated_recording(robot, motion(robot, 1), np.random.default_rng(0), torque_noise=1.0)
    fit = tf.identify(described, recording, include=include, friction="plain", couplings=None)
    assert_same(fit)
    assert_same(STEPS[step](fit))


@pytest.mark.parametrize("variant", ["reduced, physical", "physical, reduced"])
def test_links_found_without_a_solver_are_those_of_the_prediction(variant: str) -> None:
    robot, rng = arm(), np.random.default_rng(0)
    noisy = [simulated_recording(robot, motion(robot, k, duration=5.0), rng, torque_noise=1.0) for k in (1, 2)]
    fit = tf.identify(robot, noisy, friction="plain", couplings=None)
    for step in variant.split(", "):
        fit = fit.reduced(most=12) if step == "reduced" else fit.physically_consistent(method="log_cholesky")
    assert fit.physical_method == "log_cholesky"
    assert_same(fit)
    assert_physical(fit.identified_robot)
