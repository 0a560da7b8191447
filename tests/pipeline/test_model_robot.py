"""The main job as a function: each stage verified, or left out with a reason."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from tauform.codegen.certificate import EXACT_MODEL
from tauform.codegen.functions import FUNCTIONS
from tauform.description.joint import Limits
from tauform.errors import GenerationError, ModelError, UnknownNameError, VerificationError
from tauform.pipeline import comparison
from tauform.pipeline import model_robot as module
from tauform.pipeline.model_robot import model_robot
from tauform.pipeline.motion import coordinate_ranges, home_position, sweep_motion
from tauform.pipeline.program_stages import default_profile, default_routes
from tauform.pipeline.robot_model import RobotModel
from tauform.pipeline.stages import Stage
from tauform.realtime.reduction.reduce import ROUTES
from tauform.report.delivery import deliver


def stage(model: RobotModel, name: str) -> Stage:
    return next(s for s in model.stages if s.name == name)


def test_every_stage_is_verified_to_a_figure(two_link: RobotModel) -> None:
    for name in ("base parameters", "closed form", "inverse_dynamics", "gravity_torque"):
        s = stage(two_link, name)
        assert s.status == "verified"
        assert s.figure is not None
        assert s.allowed is not None
        assert s.figure <= s.allowed
    assert stage(two_link, "base parameters").outcome == "6 of 20 parameters (20 link)"
    assert stage(two_link, "closed form").outcome == "18 terms in 6 base parameters"  # Lloyd2021, Table 2


def test_the_parts_belong_to_the_same_robot(two_link: RobotModel) -> None:
    robot = two_link.robot
    q, qd, qdd = np.random.default_rng(3).uniform(-2, 2, (3, 50, robot.n_joints))
    expected = tf.inverse_dynamics(robot, q, qd, qdd)
    assert two_link.bound is not None
    np.testing.assert_allclose(two_link.bound.inverse_dynamics(q, qd, qdd), expected, atol=1e-12)
    np.testing.assert_allclose(two_link.programs[0](q, qd, qdd), expected, atol=1e-12)


def test_printing_tells_every_stage(two_link: RobotModel) -> None:
    assert all(s.name in str(two_link) for s in two_link.stages)


def test_progress_names_the_stages() -> None:
    said: list[str] = []
    model_robot(tf.load("two_link"), functions=("gravity_torque",), tolerance=None, progress=said.append)
    assert said == ["check", "base parameters", "closed form", "gravity_torque"]


def test_programs_that_fail_their_verification_end_the_job(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sound program fails where not even rounding is allowed."""
    exact = replace(FUNCTIONS["inverse_dynamics"], tolerance=0.0)
    monkeypatch.setitem(FUNCTIONS, "inverse_dynamics", exact)
    with pytest.raises(VerificationError, match="failed verification"):
        model_robot(tf.load("kr6_r700"), functions=("inverse_dynamics",), tolerance=None)


def test_joints_that_follow_others_have_a_closed_form() -> None:
    model = model_robot(tf.load("parallelogram"), functions=("inverse_dynamics",), tolerance=None)
    assert model.closed_form is not None
    assert stage(model, "closed form").status == "verified"
    assert stage(model, "base parameters").status == "verified"
    assert [program.name for program in model.programs] == ["inverse_dynamics"]


def test_a_closed_form_that_does_not_fit_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def too_large(*_: object, **__: object) -> None:
        raise ModelError("derive: would need 10 GB")

    monkeypatch.setattr(module, "derive", too_large)
    model = model_robot(tf.load("two_link"), functions=(), tolerance=None)
    assert model.closed_form is None
    assert stage(model, "closed form").outcome == "derive: would need 10 GB"


def test_a_failed_verification_hands_nothing_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparison, "relative_error", lambda *_: 2 * EXACT_MODEL)
    with pytest.raises(GenerationError, match="failed verification"):
        model_robot(tf.load("two_link"), functions=(), tolerance=None)


def test_friction_takes_part_where_the_robot_has_any() -> None:
    robot = tf.load("two_link")
    names = list(robot.parameter_names)
    parameters = np.array(robot.parameters)
    parameters[[names.index(name) for name in ("Fv_1", "Fc_2", "Fo_1")]] = 0.3, 0.2, 0.1
    model = model_robot(robot.with_parameters(parameters), functions=("inverse_dynamics",), tolerance=None)
    assert {"Fv_1", "Fc_2", "Fo_1"} <= set(model.base.names)
    assert stage(model, "closed form").status == "verified"


def test_an_unphysical_description_is_doubtful() -> None:
    model = model_robot(tf.load("lbr7"), functions=(), tolerance=None)
    assert stage(model, "check").status == "doubtful"
    assert len(model.findings) == 2


def test_the_reduced_program_keeps_its_promise() -> None:
    model = model_robot(tf.load("sr6ia"), functions=(), tolerance=0.05, confidence=0.95, routes=("parameters",))
    reduction = model.reduction
    assert reduction is not None
    assert reduction.program.n_operations <= reduction.exact.n_operations
    states = default_profile(model.robot).sample(5000, np.random.default_rng(11))
    exact = tf.inverse_dynamics(model.robot, *states)
    error = np.linalg.norm(reduction.program(*states) - exact, axis=1) / np.linalg.norm(exact, axis=1)
    assert np.quantile(error, 0.94) <= 0.05
    assert model.tradeoff is not None
    assert (model.tradeoff.digits[0] < model.tradeoff.digits[-1]).all()  # more terms, more digits


def test_unknown_names_are_refused() -> None:
    with pytest.raises(UnknownNameError, match="inverse_dynamic"):
        model_robot(tf.load("two_link"), functions=("inverse_dynamic",))
    with pytest.raises(UnknownNameError, match="route"):
        model_robot(tf.load("two_link"), functions=(), routes=("shortest",))


def test_what_linkages_cannot_have_is_skipped_and_no_failure(tmp_path: Path) -> None:
    """The plain call delivers: closed and reduced forms are left out by name, C and base parameters are there."""
    model = model_robot(tf.load("four_bar"), functions=("inverse_dynamics",))
    skipped = {stage.name: stage.outcome for stage in model.stages if stage.status == "skipped"}
    assert set(skipped) == {"closed form", "inverse_dynamics, reduced"}
    assert all("loops" in outcome for outcome in skipped.values())
    delivered = deliver(model, tmp_path / "out")
    assert not [stage for stage in delivered.stages if stage.status == "failed"]
    assert (tmp_path / "out" / "c" / "Makefile").exists()


@pytest.mark.parametrize("name", ["two_link", "sr6ia", "parallelogram", "kr6_r700"])
def test_the_sweep_is_a_motion_within_the_ranges(name: str) -> None:
    robot = tf.load(name)
    motion = sweep_motion(robot)
    low, high = coordinate_ranges(robot).T
    assert (motion.q >= low).all()
    assert (motion.q <= high).all()
    assert (home_position(robot) >= low).all()
    # velocities and accelerations are those of the positions
    step = motion.t[1] - motion.t[0]
    middle = (motion.q[2:] - motion.q[:-2]) / (2 * step)
    np.testing.assert_allclose(middle, motion.qd[1:-1], atol=0.01 * np.abs(motion.qd).max())
    middle = (motion.qd[2:] - motion.qd[:-2]) / (2 * step)
    np.testing.assert_allclose(middle, motion.qdd[1:-1], atol=0.01 * np.abs(motion.qdd).max())
    np.testing.assert_allclose(motion.q[0], motion.q[-1], atol=1e-9)  # it closes


def test_limits_bound_the_sweep() -> None:

    robot = tf.load("two_link")
    joints = (replace(robot.joints[0], limits=Limits(-0.2, 1.0, velocity=0.1)), *robot.joints[1:])
    motion = sweep_motion(replace(robot, joints=joints))
    assert motion.q[:, 0].min() >= -0.2
    assert motion.q[:, 0].max() <= 1.0
    assert np.abs(motion.qd[:, 0]).max() <= 0.1 * (1 + 1e-12)


def test_long_programs_are_not_reduced_operation_by_operation() -> None:
    """Such a reduction would take the square of their length: many minutes for a humanoid."""
    short, long = tf.load("two_link"), tf.random_robot(20, seed=1)
    assert default_routes(tf.generate(short)) == ROUTES
    assert set(ROUTES) - set(default_routes(tf.generate(long))) == {"operations"}
