"""Terms and base parameters of the papers' arms, and their robustness against units and small misalignment."""

from __future__ import annotations

import numpy as np
import pytest

import tauform as tf
from closedform.arms import first_joints, relative_error, scaled, twisted
from random_robots import random_states, random_tree
from sampling import representatives
from tauform.closedform.expansion.estimate import MOST_JOINTS, estimate_size

RELATIVE = 1e-12
# Table 1(c) of Lloyd2021 prints zeros for these.
SR6IA_ZEROS = (
    *("my_1", "Ixy_1", "Iyz_1", "my_2", "Ixy_2", "Iyz_2"),
    *("mx_3", "my_3", "Ixy_3", "Ixz_3", "Iyz_3", "Izz_3"),
)


def counts(robot: tf.Robot, **options) -> tuple[int, int]:
    model = tf.derive(robot, **options)
    return model.n_terms, model.n_base


def planar_zeros(robot: tf.Robot) -> dict[str, int]:
    """Example 5 keeps m, mx and Izz of each link."""
    links = robot.parameter_names[robot.layout.links]
    return {name: 0 for name in links if name.split("_")[0] not in ("m", "mx", "Izz")}


@pytest.mark.parametrize(
    ("name", "expected"), [("kr6_r700", (6086, 36)), ("lbr7", (21295, 43)), ("sr6ia", (69, 8)), ("two_link", (18, 6))]
)
def test_terms_and_base_parameters_are_those_of_table_2(name, expected):
    assert counts(tf.load(name)) == expected


def test_assumed_zeros_shrink_the_model_as_in_the_paper():
    two_link = tf.load("two_link")
    assert counts(two_link, assume=planar_zeros(two_link)) == (10, 4)
    assert counts(tf.load("sr6ia"), assume=dict.fromkeys(SR6IA_ZEROS, 0)) == (64, 7)


@pytest.mark.parametrize("length", [1e3, 1e-3, 1e-6, 0.37])
@pytest.mark.parametrize("mass", [1.0, 1e-6])
def test_counts_do_not_depend_on_units(length, mass):
    assert counts(scaled(tf.load("kr6_r700"), length, mass)) == (6086, 36)
    assert counts(scaled(tf.load("sr6ia"), length, mass)) == (69, 8)


@pytest.mark.parametrize("length", [1.0, 1e3, 1e-3])
def test_first_four_joints_of_kr6_have_22_base_parameters_in_any_unit(length):
    assert counts(scaled(first_joints(tf.load("kr6_r700"), 4), length))[1] == 22


@pytest.mark.parametrize("angle", [1e-3, 1e-6])
def test_small_twists_do_not_change_the_number_of_base_parameters(angle):
    kr6 = tf.load("kr6_r700")
    assert tf.derive(twisted(first_joints(kr6, 4), angle)).n_base == 22
    assert tf.derive(twisted(first_joints(kr6, 4), angle, only=2)).n_base == 22
    assert tf.derive(twisted(kr6, angle)).n_base == 36


@pytest.mark.parametrize("noise", [1e-17, 6e-17, 2e-16])
def test_rounding_in_the_placements_adds_no_terms(noise):
    # What cos(pi/2) leaves in a rotation that was read from a file.
    robot = tf.load("kr6_r700")
    rng = np.random.default_rng(0)
    joints = []
    for joint in robot.joints:
        placement = joint.parent_from_joint + noise * rng.uniform(-1, 1, (4, 4)) * (np.arange(4) < 3)[:, None]
        joints.append(type(joint)(joint.name, joint.kind, joint.parent, placement))
    assert counts(tf.Robot("noisy", tuple(joints), robot.links, robot.gravity)) == (6086, 36)


@pytest.mark.parametrize("seed", representatives(range(25), *range(8)))
def test_number_of_base_parameters_is_the_rank_of_sampled_regressors(seed):
    robot = random_tree(1 + seed % 6, seed, chain=True, prismatic=0.4)
    include = ("link", "rotor", "viscous", "coulomb", "offset") if seed % 2 else ("link", "rotor")
    Y = tf.regressor(robot, *random_states(robot, 300, seed), include=include)
    W = Y.reshape(-1, Y.shape[-1])
    W = W / np.maximum(np.linalg.norm(W, axis=0), 1e-12)
    model = tf.derive(robot, include=include)
    assert model.n_base == np.linalg.matrix_rank(W, tol=1e-10 * np.sqrt(len(W)))
    # Friction that is not included stands beside theta.
    tau = tf.inverse_dynamics(robot, *random_states(robot, 20, 1))
    assert relative_error(model.bind(robot).inverse_dynamics(*random_states(robot, 20, 1)), tau) < RELATIVE


@pytest.mark.parametrize("name", ["kr6_r700", "lbr7", "sr6ia", "two_link", "puma560_gautier", "puma260_izaguirre"])
def test_theta_means_the_same_as_in_base_parameters(name):
    robot = tf.load(name)
    ours, base = tf.derive(robot).base, tf.base_parameters(robot)
    assert ours.names == base.names
    np.testing.assert_allclose(ours.grouping, base.grouping, rtol=0, atol=1e-12)


@pytest.mark.parametrize("gravity", [(9.81, 0, 0), (0, 0, 0), (1.0, -2.0, 3.0)])
def test_any_gravity(gravity):
    robot = tf.load("kr6_r700").with_gravity(gravity)
    states = random_states(robot, 50, 0)
    model = tf.derive(robot)
    Y = tf.regressor(robot, *random_states(robot, 100, 1), include=("link",))
    assert model.n_base == np.linalg.matrix_rank(Y.reshape(-1, 60))
    assert relative_error(model.bind(robot).inverse_dynamics(*states), tf.inverse_dynamics(robot, *states)) < RELATIVE


def test_one_joint():
    robot = first_joints(tf.load("kr6_r700"), 1)
    assert counts(robot) == (1, 1)
    assert counts(robot.with_gravity((1, 2, 3))) == (3, 3)


def test_reversed_joint_and_prismatic_first_joint():
    rows = [
        {"joint": "prismatic", "a": 0.1, "alpha": 0.3, "theta": 0.2, "mass": 1.0, "com": (0.1, 0.2, 0.3)},
        {"joint": "revolute", "a": 0.3, "alpha": 1.0, "d": 0.2, "sign": -1, "mass": 2.0, "com": (0.1, 0, 0.1)},
        {
            "joint": "revolute",
            "a": 0.3,
            "alpha": 0.0,
            "d": 0.2,
            "mass": 1.0,
            "com": (0.2, 0.1, 0),
            "rotor_inertia": 0.1,
        },
    ]
    robot = tf.Robot.from_dh(rows, "standard", gravity=(1.0, 2.0, -9.0))
    states = random_states(robot, 50, 0)
    bound = tf.derive(robot).bind(robot)
    assert relative_error(bound.inverse_dynamics(*states), tf.inverse_dynamics(robot, *states)) < RELATIVE


def test_fixed_joint_gives_the_same_torques_at_that_position():
    robot = random_tree(4, 5, chain=True, prismatic=0.3, friction=False)
    q, qd, qdd = random_states(robot, 50, 0)
    q[:, 1], qd[:, 1], qdd[:, 1] = 0.7, 0.0, 0.0
    model = tf.derive(robot, fixed={"joint2": 0.7})
    whole = tf.derive(robot)
    assert model.n_terms < whole.n_terms
    assert model.n_base <= whole.n_base
    assert not model.exponents[[1, 5, 9, 13, 17]].any()
    bound = model.bind(robot)
    assert relative_error(bound.inverse_dynamics(q, qd, qdd), tf.inverse_dynamics(robot, q, qd, qdd)) < RELATIVE


def test_related_parameters_merge():
    robot = tf.load("kr6_r700")
    model = tf.derive(robot, assume={"Iyy_6": "Ixx_6", "mx_5": {"my_5": 2.0}, "Ixz_6": 0})
    parameters = np.array(robot.parameters)
    index = robot.parameter_names.index
    parameters[index("Iyy_6")] = parameters[index("Ixx_6")]
    parameters[index("mx_5")] = 2 * parameters[index("my_5")]
    parameters[index("Ixz_6")] = 0
    related = robot.with_parameters(parameters)
    states = random_states(robot, 20, 0)
    assert model.n_base < 36
    assert model.n_terms < 6086
    error = relative_error(model.bind(related).inverse_dynamics(*states), tf.inverse_dynamics(related, *states))
    assert error < RELATIVE


def test_mask_is_the_same_as_zeros():
    robot = tf.load("two_link")
    mask = [name not in planar_zeros(robot) for name in robot.parameter_names]
    assert counts(robot, assume=mask) == (10, 4)


def test_binding_a_robot_that_breaks_an_assumption_warns():
    robot = tf.load("kr6_r700")
    with pytest.warns(UserWarning, match="breaks 1 of the assumptions"):
        tf.derive(robot, assume={"mx_2": 0}).bind(robot)


def test_load_changes_without_deriving_again():
    robot = tf.load("lbr7")
    load = tf.Inertia.of(2.0, (0.01, -0.02, 0.1), (0.02, 0.03, 0.01, 0.001, 0, 0), inertia_about="com")
    model = tf.derive(robot)
    states = random_states(robot, 20, 0)
    expected = tf.inverse_dynamics(robot.with_payload(load), *states)
    assert relative_error(model.bind(robot, payload=load).inverse_dynamics(*states), expected) < RELATIVE
    assert relative_error(model.bind(robot.with_payload(load)).inverse_dynamics(*states), expected) < RELATIVE
    by_regressor = model.load_regressor(*states) @ load.parameters + tf.inverse_dynamics(robot, *states)
    assert relative_error(by_regressor, expected) < RELATIVE


def test_progress_rises_to_one():
    seen: list[float] = []
    tf.derive(tf.load("sr6ia"), progress=seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == 1.0


def test_size_is_foreseen_within_a_factor_of_two():
    for robot in (tf.load("lbr7"), random_tree(7, 0, chain=True, prismatic=0.3)):
        terms = tf.derive(robot).n_terms
        assert terms / 2 < estimate_size(robot).n_terms < 2 * terms


def test_generic_nine_joints_are_refused_before_they_are_derived():
    robot = random_tree(9, 0, chain=True, prismatic=0.0)
    with pytest.raises(tf.errors.ModelError, match=r"terms, .* GB .*tf\.generate"):
        tf.derive(robot)
    with pytest.raises(tf.errors.ModelError, match=r"terms, .* GB"):
        tf.base_parameters(robot, source="closed_form")


@pytest.mark.parametrize("seed", [1, 2])
def test_trees_have_closed_forms(seed):
    robot = random_tree(3 + seed, 20 + seed, prismatic=0.3)
    assert not robot.is_chain
    model = tf.derive(robot)
    bound, states = model.bind(robot), random_states(robot, 30, seed)
    assert model.n_base == tf.base_parameters(robot).n
    assert relative_error(bound.inverse_dynamics(*states), tf.inverse_dynamics(robot, *states)) < RELATIVE
    assert relative_error(bound.forward_dynamics(*states), tf.forward_dynamics(robot, *states)) < 1e-9
    assert relative_error(bound.mass_matrix(states[0]), tf.mass_matrix(robot, states[0])) < RELATIVE


def test_the_closed_form_of_a_tree_is_saved_with_its_branches(tmp_path):
    robot = random_tree(4, 21)
    model = tf.derive(robot)
    model.save(tmp_path / "tree.npz")
    again = tf.load_model(tmp_path / "tree.npz")
    states = random_states(robot, 10, 0)
    assert np.array_equal(again.bind(robot).inverse_dynamics(*states), model.bind(robot).inverse_dynamics(*states))
    with pytest.raises(tf.errors.ModelError, match="differs in"):
        again.bind(random_tree(4, 21, chain=True))


def test_loops_are_refused_with_what_to_call_instead():
    with pytest.raises(tf.errors.ModelError, match=r"loops.*tf\.base_parameters"):
        tf.derive(tf.load("four_bar"))


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"assume": {"mq_2": 0}}, tf.errors.UnknownNameError, "mq_2"),
        ({"assume": {"mx_2": {"mz": 1}}}, tf.errors.UnknownNameError, "'mz'"),
        ({"assume": {"mx_2": 0.5}}, tf.errors.ModelError, "cannot be assumed"),
        ({"assume": {"mx_2": "mx_2"}}, tf.errors.ModelError, "itself"),
        ({"assume": {"mx_2": "my_2", "my_2": "mx_2"}}, tf.errors.ModelError, "circle"),
        ({"assume": [True, False]}, tf.errors.ModelError, "mask needs"),
        ({"assume": {"mx_2": {"my_2": np.nan}}}, tf.errors.DescriptionError, "mx_2: my_2: expected a finite number"),
        ({"assume": {"mx_2": "Fv_1"}}, tf.errors.ModelError, "Fv_1, which takes no part"),
        ({"assume": [False] * 28}, tf.errors.ModelError, "no parameter is left"),
        ({"include": ()}, tf.errors.ModelError, "no parameter is left"),
        ({"fixed": {"elbow": 0.0}}, tf.errors.UnknownNameError, "elbow"),
        ({"fixed": {"joint2": np.nan}}, tf.errors.DescriptionError, "fixed: joint2: expected a finite number"),
        ({"include": ("links",)}, tf.errors.UnknownNameError, "links"),
        ({"order": ("foo",)}, tf.errors.UnknownNameError, "foo"),
    ],
)
def test_bad_input_is_named(options, error, message):
    with pytest.raises(error, match=message):
        tf.derive(tf.load("two_link"), **options)


@pytest.mark.parametrize("kinds", ["P" * MOST_JOINTS, "R" + "P" * 14, "P" * 12 + "RR"])
def test_long_chains_of_few_terms_are_derived(kinds):
    """Their exponents do not fit into one integer."""
    robot = tf.random_robot(kinds, 0, drives=False, industrial=True)
    states = random_states(robot, 4, 0)
    found = tf.derive(robot).bind(robot).inverse_dynamics(*states)
    assert relative_error(found, tf.inverse_dynamics(robot, *states)) < RELATIVE


def test_longer_chains_are_refused_with_what_to_call_instead():
    robot = tf.random_robot("P" * (MOST_JOINTS + 1), 0)
    for call in (tf.derive, lambda robot: tf.base_parameters(robot, source="closed_form")):
        with pytest.raises(tf.errors.ModelError, match=r"has 21 joints, .* 20 at most; call tf\.generate"):
            call(robot)


def test_slides_that_come_first_do_not_hide_the_size():
    robot = tf.random_robot("PPPPPP" + "R" * 9, 0)
    assert estimate_size(robot).n_bytes > 5e9
    with pytest.raises(tf.errors.ModelError, match=r"terms, .* GB"):
        tf.derive(robot)
    shorter = tf.random_robot("PPPPPPRRR", 0)
    terms = tf.derive(shorter).n_terms
    assert terms / 2 < estimate_size(shorter).n_terms < 2 * terms
