"""reduce: the guarantee holds on fresh states, the exact program is the answer where nothing is cheaper."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tauform as tf
from sampling import representatives
from tauform.closedform.profile import Profile
from tauform.codegen.program.program import Op
from tauform.codegen.pruning.rewrite import rewritten
from tauform.errors import ModelError, UnknownNameError
from tauform.realtime.reduction import reduce as module
from tauform.realtime.reduction.guards import positive_definite, result_weights
from tauform.realtime.reduction.subject import Subject
from tauform.realtime.reduction.velocity import Quiet, all_joints, recursive, without_velocity
from tauform.realtime.reduction.verification import Verification, Verifier

pytestmark = pytest.mark.usefixtures("kept_programs")
# Operations that the reduced program of the slow profile may take at 1 % and 99.9 %.
LIMITS = {"kr6_r700": 300, "lbr7": 330}


def errors_of(reduction: tf.Reduction, n_states: int, seed: int) -> np.ndarray:
    states = reduction.profile.sample(n_states, np.random.default_rng(seed))
    exact = tf.inverse_dynamics(reduction.robot, *states)
    found = reduction.compile()(*states)
    return np.linalg.norm(found - exact, axis=1) / np.linalg.norm(exact, axis=1)


# Joints of the KR6 that are held.
ARMS: dict[str, dict[str, float]] = {"whole": {}, "its wrist held": {"joint4": 0.3, "joint5": 0.2, "joint6": 0.1}}
# Operations that may be left, by the number of joints.
MOST = {6: 200, 3: 60}


@pytest.fixture(scope="module", params=representatives(ARMS, "its wrist held"))
def kr6(request: pytest.FixtureRequest) -> tf.Reduction:
    robot, routes = tf.load("kr6_r700").locked(ARMS[request.param]), ("velocity", "parameters", "operations")
    return tf.reduce(robot, Profile.slow(robot.n_joints), confidence=0.95, routes=routes, n_fresh=100_000)


def test_operations_left_out_keep_the_promise(kr6: tf.Reduction) -> None:
    assert kr6.route == "operations"
    assert kr6.program.n_operations <= MOST[kr6.robot.n_joints]
    assert (errors_of(kr6, 50_000, seed=12) > 0.01).mean() <= 0.05
    assert kr6.error <= 0.01


@pytest.mark.parametrize("robot", representatives(LIMITS, "kr6_r700"))
def test_slow_profile_is_cheap_at_999_in_1000_states(robot: str) -> None:
    loaded = tf.load(robot)
    reduction = tf.reduce(loaded, Profile.slow(loaded.n_joints), routes=("velocity", "parameters"), n_fresh=100_000)
    assert reduction.program.n_operations <= LIMITS[robot]
    assert (errors_of(reduction, 100_000, seed=3) > 0.01).mean() <= 0.001


def test_the_report_names_every_route_and_the_winner(kr6: tf.Reduction) -> None:
    names = [candidate.name for candidate in kr6.candidates]
    assert names == ["exact", "parameters", "velocity", "operations"]
    cheapest = min(kr6.candidates, key=lambda c: c.program.n_operations)
    assert kr6.route == cheapest.name
    assert kr6.program.certificate is not None
    assert kr6.program.certificate.error == kr6.error
    assert [c.chosen for c in kr6.program.candidates].count(True) == 1
    assert "operations left out" in str(kr6)


def test_bound_model_reduces_by_terms() -> None:
    robot = tf.load("sr6ia")
    bound = tf.derive(robot).bind(robot)
    reduction = bound.reduce(Profile.slow(4), tolerance=0.01, confidence=0.99, n_fresh=20_000)
    assert reduction.program.n_operations <= reduction.exact.n_operations
    terms = next(c for c in reduction.candidates if c.name == "terms")
    assert terms.bound is not None
    assert terms.bound.n_terms < bound.n_terms
    assert (errors_of(reduction, 50_000, seed=5) > 0.01).mean() <= 0.01


@pytest.mark.parametrize(("name", "tolerance", "confidence"), [("sr6ia", 0.01, 0.99), ("two_link", 1e-9, 0.999)])
def test_the_reduced_closed_form_is_there_whichever_route_wins(name: str, tolerance: float, confidence: float) -> None:
    robot = tf.load(name)
    bound = tf.derive(robot).bind(robot)
    found = bound.reduce("slow", tolerance, confidence, routes=("terms", "operations"), n_fresh=20_000)
    assert found.route != "terms"
    assert found.bound is not None
    assert found.bound.n_terms < bound.n_terms or tolerance < 1e-6
    states = found.profile.sample(20_000, np.random.default_rng(4))
    exact = tf.inverse_dynamics(robot, *states)
    errors = np.linalg.norm(found.bound.inverse_dynamics(*states) - exact, axis=1) / np.linalg.norm(exact, axis=1)
    assert (errors > tolerance).mean() <= 1 - confidence


def test_what_narrowly_misses_its_verification_is_refined(monkeypatch: pytest.MonkeyPatch) -> None:
    robot, verify, refused = tf.load("sr6ia"), Verifier.__call__, []

    def refusing(self: Verifier, program: tf.Program) -> Verification:
        shown = verify(self, program)
        if shown.holds and len(refused) < 2:
            refused.append(program.n_operations)
            return replace(shown, error=1.05 * self.tolerance, holds=False)
        return shown

    monkeypatch.setattr(module.Verifier, "__call__", refusing)
    found = tf.reduce(robot, "slow", 0.05, 0.99, routes=("parameters",), n_fresh=20_000)
    assert len(refused) == 2
    assert found.route == "parameters"
    assert found.candidates[-1].aim < 0.97 / 1.05**2
    refused.clear()
    found = tf.reduce(robot, "slow", 0.05, 0.99, routes=("operations",), n_fresh=20_000)
    assert found.route == "operations"
    assert found.program.n_operations > refused[0]


def test_a_winner_that_more_states_refuse_is_refined(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SCREENED_STATES", 5000)
    robot, verify, refused = tf.load("sr6ia"), Verifier.__call__, []

    def refusing(self: Verifier, program: tf.Program) -> Verification:
        shown = verify(self, program)
        if self.n_states > 5000 and not refused:
            refused.append(program)
            return replace(shown, error=1.02 * self.tolerance, holds=False)
        return shown

    monkeypatch.setattr(module.Verifier, "__call__", refusing)
    for route in ("operations", "terms"):
        refused.clear()
        found = tf.reduce(robot, "slow", 0.05, 0.99, routes=(route,), n_fresh=20_000)
        assert refused
        assert (found.route, found.program.certificate.states) == (route, 20_000)
        assert found.program is not refused[0]


def test_the_exact_program_wins_where_nothing_may_be_left_out() -> None:
    reduction = tf.reduce(tf.load("two_link"), Profile.fast(2), tolerance=1e-9, n_fresh=10_000)
    assert reduction.route == "exact"
    assert reduction.program.n_operations == reduction.exact.n_operations
    assert reduction.error == 0


def test_reduced_mass_matrices_are_symmetric_positive_definite() -> None:
    robot = tf.load("two_link")
    reduction = tf.reduce(robot, Profile.ranges(2, 1.0, 1.0, 1.0), 0.3, 0.99, function="mass_matrix", n_fresh=20_000)
    assert reduction.program.n_operations < reduction.exact.n_operations
    q = reduction.profile.sample(5000, np.random.default_rng(2))[0]
    assert positive_definite(reduction.compile()(q))


@pytest.fixture(scope="module")
def indefinite() -> tf.Robot:
    """A SCARA whose last axis has a negative inertia, as fits of poor recordings have."""
    robot = tf.load("sr6ia")
    values = robot.parameters.copy()
    values[robot.layout.link(robot.n_bodies - 1)][-1] = -0.05
    return robot.with_parameters(values)


def test_an_indefinite_mass_matrix_is_said_and_not_kept_in_vain(indefinite: tf.Robot) -> None:
    said: list[str] = []
    found = tf.reduce(indefinite, "slow", n_fresh=20_000, progress=said.append)
    assert found.route == "exact"
    assert "its mass matrix is not positive definite" in found.reason
    # nothing that keeps the matrix as it is was made, and nothing that fails was verified again and again
    assert not any("velocity terms of" in words for words in said)
    assert sum("verifying" in words for words in said) <= 1
    free = tf.reduce(indefinite, "slow", n_fresh=20_000, definite=False)
    assert free.program.n_operations < found.program.n_operations


def test_forward_dynamics_keeps_its_promise_in_accelerations() -> None:
    robot = tf.load("sr6ia")
    reduction = tf.reduce(robot, Profile.slow(4), 0.05, 0.99, function="forward_dynamics", n_fresh=20_000)
    q, qd, qdd = reduction.profile.sample(20_000, np.random.default_rng(2))
    found = reduction.compile()(q, qd, tf.inverse_dynamics(robot, q, qd, qdd))
    error = np.linalg.norm(found - qdd, axis=1) / np.linalg.norm(qdd, axis=1)
    assert (error > 0.05).mean() <= 0.01
    assert reduction.program.n_operations < reduction.exact.n_operations


def test_recorded_states_are_all_verified() -> None:
    robot = tf.load("sr6ia")
    t = np.linspace(0, 10, 3000)[:, None]
    w = np.array([1.0, 1.3, 1.7, 2.1])
    profile = Profile.trajectory(0.3 * np.sin(w * t), 0.3 * w * np.cos(w * t), -0.3 * w**2 * np.sin(w * t))
    reduction = tf.reduce(robot, profile, 0.02, 0.999, routes=("operations",))
    assert profile.recorded is not None
    exact = tf.inverse_dynamics(robot, *profile.recorded)
    error = np.linalg.norm(reduction.compile()(*profile.recorded) - exact, axis=1) / np.linalg.norm(exact, axis=1)
    assert (error > 0.02).mean() <= 0.001
    assert reduction.program.n_operations < reduction.exact.n_operations


def test_leaving_out_all_velocities_is_the_torque_at_rest_plus_friction() -> None:
    robot = tf.load("puma260_izaguirre")
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, 10, 6))
    expected = tf.inverse_dynamics(robot, q, 0 * qd, qdd) - tf.friction(robot, 0 * qd) + tf.friction(robot, qd)
    found = without_velocity(robot, Quiet(joints=all_joints(robot)), q, qd, qdd)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("tolerance", [0.0, -0.1, 1.0, 2.0, float("nan")])
def test_a_tolerance_out_of_range_is_refused(tolerance: float) -> None:
    with pytest.raises(ModelError, match="tolerance"):
        tf.reduce(tf.load("two_link"), Profile.slow(2), tolerance)


def test_other_bad_requests_are_refused() -> None:
    robot = tf.load("two_link")
    with pytest.raises(ModelError, match="confidence"):
        tf.reduce(robot, Profile.slow(2), confidence=1.0)
    with pytest.raises(ModelError, match="describes 3 joints"):
        tf.reduce(robot, Profile.slow(3))
    with pytest.raises(UnknownNameError, match="route"):
        tf.reduce(robot, Profile.slow(2), routes=("magic",))
    with pytest.raises(UnknownNameError, match="function"):
        tf.reduce(robot, Profile.slow(2), function="inverse")


def test_velocity_terms_of_links_are_those_of_their_parameters() -> None:
    robot = tf.load("kr6_r700")
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, 20, 6))
    light = robot.parameters.copy()
    light[40:60] = 0.0  # links 5 and 6 without inertia
    bare = robot.with_parameters(light)
    kept = tf.bias_torque(bare, q, qd) - tf.gravity_torque(bare, q)  # velocity torque of links 1 to 4
    expected = tf.inverse_dynamics(robot, q, 0 * qd, qdd) + kept
    found = without_velocity(robot, Quiet(links=frozenset({4, 5})), q, qd, qdd)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("function", representatives(["inverse_dynamics", "forward_dynamics"], "inverse_dynamics"))
def test_programs_without_velocity_terms_of_all_links_are_those_of_still_joints(function: str) -> None:
    robot = tf.load("puma260_izaguirre")
    all_links = recursive(robot, function, Quiet(links=frozenset(range(6))))
    still = recursive(robot, function, Quiet(joints=all_joints(robot)))
    states = np.random.default_rng(0).normal(size=(3, 10, 6))
    np.testing.assert_allclose(all_links(*states), still(*states), rtol=1e-9, atol=1e-9)
    assert all_links.n_operations == still.n_operations < tf.generate(robot, function).n_operations


def test_velocity_terms_can_be_left_out_by_name() -> None:
    robot = tf.load("kr6_r700")
    options = {"routes": ("velocity",), "n_fresh": 10_000}
    found = tf.reduce(robot, Profile.slow(6), still=("all",), **options)
    assert found.remark == "velocity terms of all joints left out"
    assert found.program.n_operations <= 300
    refused = tf.reduce(robot, Profile.fast(6), still=(robot.links[5].name, robot.joint_names[1]), **options)
    tried = refused.candidates[-1]
    assert (refused.route, tried.verification.holds) == ("exact", False)
    assert tried.verification.error > refused.tolerance
    assert f"links {robot.links[5].name}" in tried.remark
    assert "but errs by" in refused.reason
    with pytest.raises(UnknownNameError, match="no joint or link 'elbow'"):
        tf.reduce(robot, Profile.slow(6), still=("elbow",))
    with pytest.raises(ModelError, match="route 'velocity'"):
        tf.reduce(robot, Profile.slow(6), still=("all",), routes=("terms",))


ON_ROUTES = [(function, route) for function in ("inverse_dynamics", "forward_dynamics") for route in module.ROUTES]


@pytest.mark.parametrize(
    "case", representatives(ON_ROUTES, *ON_ROUTES[:4], ("forward_dynamics", "operations")), ids="-".join
)
def test_what_multiplies_accelerations_is_positive_definite_on_every_route(case: tuple[str, str]) -> None:
    function, route = case
    robot = tf.load("sr6ia")
    found = tf.reduce(robot, Profile.slow(4), 0.1, 0.95, function=function, routes=(route,), n_fresh=20_000)
    assert found.candidates[-1].verification.definite is True
    kernel, q = found.compile(), Profile.slow(4).sample(2000, np.random.default_rng(9))[0]
    unit = np.broadcast_to(np.eye(4)[:, None], (4, 2000, 4))
    matrices = np.moveaxis(kernel(q, 0 * q, unit) - kernel(q, 0 * q, 0 * q), 0, -1)
    if route != "operations":  # single operations may go on one side of the diagonal alone
        np.testing.assert_allclose(matrices, np.swapaxes(matrices, 1, 2), atol=1e-9 * np.abs(matrices).max())
    assert np.linalg.eigvalsh(matrices + np.swapaxes(matrices, 1, 2)).min() > 0


def test_without_a_profile_slow_motions_within_the_limits_are_taken() -> None:
    robot = tf.load("two_link")
    joint = robot.joints[1]
    limited = replace(
        robot, joints=(robot.joints[0], replace(joint, limits=replace(joint.limits, upper=1.0, velocity=0.05)))
    )
    profile = tf.reduce(limited, n_fresh=5000, routes=("velocity",)).profile
    np.testing.assert_allclose(profile.upper, [[np.pi, 1.0], [0.1, 0.05], [1.0, 1.0]])
    np.testing.assert_allclose(profile.lower[0], -np.pi)
    profile.check_limits(limited)
    with pytest.raises(ModelError, match="speed"):
        Profile.within(robot, "swift")


def test_blocks_of_a_recording_are_held_out() -> None:
    t = np.linspace(0, 10, 1000)[:, None] * np.ones(2)
    profile = Profile.trajectory(t, t, t)
    seen, unseen = profile.halves()
    assert seen.recorded is not None
    assert unseen.recorded is not None
    assert not set(seen.recorded[0, :, 0]) & set(unseen.recorded[0, :, 0])
    assert seen.recorded.shape[1] + unseen.recorded.shape[1] == 1000
    steps = np.diff(unseen.recorded[0, :, 0])
    assert (steps > 0.1).sum() == 9  # ten blocks, each in one piece
    robot = tf.load("two_link")
    found = tf.reduce(robot, Profile.trajectory(np.sin(t), np.cos(t), -np.sin(t)), 0.1, routes=("operations",))
    assert found.candidates[-1].verification.n_states == 500
    assert "500 held-out states" in str(found)


def test_the_winner_is_verified_on_all_fresh_states_and_gives_way_where_it_fails(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "SCREENED_STATES", 5000)
    robot, options = tf.load("two_link"), {"routes": ("terms", "velocity"), "n_fresh": 40_000}
    found = tf.reduce(robot, Profile.slow(2), 0.02, 0.99, threads=2, **options)
    counts = {c.name: c.verification.n_states for c in found.candidates}
    assert counts == {"exact": 5000, "terms": 5000, found.route: 40_000} | {found.route: 40_000}
    verify = module.Verifier.__call__

    def refusing(self: Verifier, program: tf.Program) -> Verification:
        shown = verify(self, program)
        return replace(shown, holds=shown.holds and self.n_states == 5000)

    monkeypatch.setattr(module.Verifier, "__call__", refusing)
    assert tf.reduce(robot, Profile.slow(2), 0.02, 0.99, **options).route == "exact"


@pytest.mark.parametrize("routes", [("parameters",), ("velocity",), module.ROUTES])
@pytest.mark.parametrize(
    ("gravity", "function"), [((0, 0, 0), "inverse_dynamics"), ((0, -9.81, 0), "forward_dynamics")]
)
def test_a_profile_at_which_a_function_is_zero_is_refused(
    routes: tuple[str, ...], gravity: tuple[float, float, float], function: str
) -> None:
    q = np.linspace(0, 1, 200)[:, None] * [1.0, 0.7]
    at_rest = Profile.trajectory(q, 0 * q, 0 * q)
    with pytest.raises(ModelError, match="zero at all states"):
        tf.reduce(tf.planar_chain(2, gravity=gravity), at_rest, function=function, routes=routes)


def test_states_at_rest_among_others_count_like_any() -> None:
    q = np.linspace(0, 1, 200)[:, None] * [1.0, 0.7]
    qd = np.where(np.arange(200)[:, None] % 2, 1.0, 0.0) * np.ones(2)
    robot = tf.planar_chain(2, gravity=(0, 0, 0))
    reduction = tf.reduce(robot, Profile.trajectory(q, qd, 0 * q))
    found = reduction.compile()(q, 0 * q, 0 * q)
    assert reduction.error <= 0.01
    assert not found.any()


def test_states_whose_results_are_no_numbers_fail_verification() -> None:
    robot, profile = tf.planar_chain(1), Profile.slow(1)
    exact = tf.generate(robot, "inverse_dynamics")
    k = next(k for k, i in enumerate(exact.instructions) if i.op is Op.CONSTANT)
    spoilt = rewritten(exact, {}, {k: np.nan})
    verify = Verifier(exact, Subject.of(robot), profile, None, 0.01, 0.9, 1000, np.random.default_rng(0))
    assert verify(spoilt).share == 0.0
    assert not verify(spoilt).holds


RELATED = {"Iyy_3": "Ixx_3", "my_3": 0}


def of_kind(kind: str, tmp_path: Path) -> tuple[tf.BoundModel, tf.Robot]:
    """A closed form that is no robot's as it was derived, and the robot that has its dynamics otherwise."""
    robot = tf.random_robot("RPR", seed=6)
    parameters = np.array(robot.parameters)
    if kind == "assumed":
        place = {name: k for k, name in enumerate(robot.parameter_names)}
        parameters[place["Iyy_3"]], parameters[place["my_3"]] = parameters[place["Ixx_3"]], 0.0
        robot = robot.with_parameters(parameters)
        return tf.derive(robot, assume=RELATED).bind(robot), robot
    model = tf.derive(robot, fixed={"joint2": 0.3} if kind == "fixed" else None)
    if kind == "read":
        model.save(tmp_path / "model.npz")
        model = tf.load_model(tmp_path / "model.npz")
    return model.bind(robot), robot


FUNCTION_ROUTES = {
    "inverse_dynamics": module.ROUTES,
    "forward_dynamics": ("terms",),
    "mass_matrix": ("operations",),
    "gravity_torque": ("operations",),
}


KINDS = [(kind, function) for kind in ("assumed", "read", "fixed") for function in FUNCTION_ROUTES]
KEPT = [("assumed", "mass_matrix"), ("read", "gravity_torque"), ("fixed", "inverse_dynamics")]


@pytest.mark.parametrize("case", representatives(KINDS, *KEPT), ids="-".join)
def test_any_closed_form_can_be_reduced(case: tuple[str, str], tmp_path: Path) -> None:
    kind, function = case
    bound, robot = of_kind(kind, tmp_path)
    found = bound.reduce("slow", 0.1, 0.99, function=function, routes=FUNCTION_ROUTES[function], n_fresh=20_000)
    q, qd, qdd = states = [x.copy() for x in found.profile.sample(10_000, np.random.default_rng(8))]
    if kind == "fixed":
        q[:, 1], qd[:, 1], qdd[:, 1] = 0.3, 0.0, 0.0
        states = found.profile.sample(10_000, np.random.default_rng(8))  # what is given of it is not read
    tau = tf.inverse_dynamics(robot, q, qd, qdd)
    known = {"q": states[0], "qd": states[1], "qdd": states[2], "tau": tau}
    result = found.compile()(*(known[port.name] for port in found.program.inputs)).reshape(10_000, -1)
    expected = {
        "inverse_dynamics": lambda: tau,
        "forward_dynamics": lambda: qdd,
        "gravity_torque": lambda: tf.gravity_torque(robot, q),
        "mass_matrix": lambda: bound.mass_matrix(q).reshape(10_000, -1),
    }[function]()
    weights = result_weights(function, expected)
    assert (np.linalg.norm((result - expected) * weights, axis=1) > 0.1).mean() <= 0.01
    assert found.program.n_operations < found.exact.n_operations or function == "forward_dynamics"
    assert (found.bound is not None) == (function in ("inverse_dynamics", "forward_dynamics"))
    left_out = {"parameters", "velocity"} if kind == "fixed" else set()
    assert {c.name for c in found.candidates} == {"exact", *FUNCTION_ROUTES[function]} - left_out


def test_a_reduced_closed_form_is_reduced_further_against_itself() -> None:
    robot = tf.load("sr6ia")
    bound = tf.derive(robot).bind(robot)
    first = bound.reduce("slow", 0.2, 0.95, routes=("terms",), n_fresh=5000).bound
    again = first.reduce("slow", 0.2, 0.95, routes=("terms", "operations"), n_fresh=5000)
    assert again.exact.n_operations < tf.generate(bound, "inverse_dynamics").n_operations
    states = again.profile.sample(5000, np.random.default_rng(1))
    np.testing.assert_allclose(again.exact(*states), first.inverse_dynamics(*states), atol=1e-12)
    assert again.program.n_operations < again.exact.n_operations


def test_routes_of_robots_are_refused_by_name_for_models_that_are_none() -> None:
    robot = tf.load("two_link")
    bound = tf.derive(robot, fixed={robot.joint_names[0]: 0.2}).bind(robot)
    for routes in (("parameters",), ("terms", "velocity")):
        with pytest.raises(ModelError, match=r"fixed joints or terms left out; take terms or operations"):
            bound.reduce("slow", routes=routes)


def test_routes_that_a_robot_does_not_have_are_refused_by_name_alone() -> None:
    linkage = tf.load("four_bar")
    for route, words in (("terms", "loops that are not linear in q"), ("velocity", "need loops that are linear in q")):
        with pytest.raises(ModelError, match=words):
            tf.reduce(linkage, "slow", routes=(route,), n_fresh=100)
