"""ClosedFormModel and BoundModel against the textbook algorithms and the laws of mechanics; equations; files."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import tauform as tf
from closedform.arms import relative_error
from random_robots import random_states, random_tree
from tauform.closedform.model.storage import VERSION
from tauform.closedform.terms.monomials import TermProducts

ALL = ("link", "rotor", "viscous", "coulomb", "offset")
STEP = 1e-30


@pytest.fixture(scope="module", params=["kr6_r700", "lbr7", "sr6ia", "random"])
def pair(request):
    robot = random_tree(4, 11, chain=True) if request.param == "random" else tf.load(request.param)
    model = tf.derive(robot, include=ALL)
    return robot, model, model.bind(robot)


def states_of_the_paper(robot, n_states, seed=0):
    """q, qd, qdd uniform in +-pi, as Lloyd2021 samples."""
    return np.random.default_rng(seed).uniform(-np.pi, np.pi, (3, n_states, robot.n_joints))


def test_torque_is_that_of_newton_euler(pair):
    robot, _, bound = pair
    states = states_of_the_paper(robot, 2000)
    assert relative_error(bound.inverse_dynamics(*states), tf.inverse_dynamics(robot, *states)) < 1e-12


def test_forward_dynamics_inverts_newton_euler(pair):
    robot, _, bound = pair
    q, qd, qdd = states_of_the_paper(robot, 500)
    tau = tf.inverse_dynamics(robot, q, qd, qdd)
    # Errors of the torques are amplified by the inverse of the mass matrix.
    allowed = 1e-11 * np.abs(qdd).max()
    assert np.abs(bound.forward_dynamics(q, qd, tau) - qdd).max() < allowed


def test_matrices_are_those_of_the_textbook(pair):
    robot, _, bound = pair
    q, qd, _ = states_of_the_paper(robot, 50)
    np.testing.assert_allclose(bound.mass_matrix(q), tf.mass_matrix(robot, q), rtol=0, atol=1e-12)
    # On a slide, theta cannot tell an offset from gravity; their sum is what must agree.
    held = tf.gravity_torque(robot, q) + tf.friction(robot, 0 * q)
    np.testing.assert_allclose(bound.gravity_torque(q) + bound.joint_coefficients[:, 2], held, rtol=0, atol=1e-11)
    velocity = np.einsum("nij,nj->ni", bound.coriolis_matrix(q, qd), qd)
    np.testing.assert_allclose(velocity, tf.bias_torque(robot, q, qd) - tf.gravity_torque(robot, q), rtol=0, atol=1e-10)
    np.testing.assert_allclose(
        bound.induced_torque(q, qd), tf.inverse_dynamics(robot, q, qd, 0 * q), rtol=0, atol=1e-10
    )


def test_rate_of_the_mass_matrix_minus_twice_coriolis_is_skew(pair):
    robot, _, bound = pair
    q, qd, _ = states_of_the_paper(robot, 20)
    rate = np.imag(bound.mass_matrix(q + 1j * STEP * qd)) / STEP
    N = rate - 2 * bound.coriolis_matrix(q, qd)
    np.testing.assert_allclose(N, -N.transpose(0, 2, 1), rtol=0, atol=1e-11)


def test_parts_add_up_and_scale_as_they_should(pair):
    robot, _, bound = pair
    q, qd, qdd = states_of_the_paper(robot, 20)
    parts = bound.breakdown(q, qd, qdd)
    np.testing.assert_allclose(parts.total, bound.inverse_dynamics(q, qd, qdd), rtol=0, atol=1e-10)
    held = tf.gravity_torque(robot, q) + tf.friction(robot, qd)
    np.testing.assert_allclose(parts.gravity + parts.friction, held, rtol=0, atol=1e-11)
    np.testing.assert_allclose(
        parts.inertial, np.einsum("nij,nj->ni", tf.mass_matrix(robot, q), qdd), rtol=0, atol=1e-11
    )
    # With a single joint moving there is no Coriolis torque, only centrifugal.
    alone = bound.breakdown(q, np.eye(robot.n_joints)[0] * qd, qdd)
    assert not alone.coriolis.any()


def test_regressor_is_linear_in_theta(pair):
    robot, model, bound = pair
    states = states_of_the_paper(robot, 30)
    Y = model.regressor(*states)
    assert Y.shape == (30, robot.n_joints, model.n_base)
    assert relative_error(Y @ bound.theta, tf.inverse_dynamics(robot, *states)) < 1e-12
    full = tf.regressor(robot, *states)
    np.testing.assert_allclose(Y @ model.base.grouping, full, rtol=0, atol=1e-10 * np.abs(full).max())


def test_batches_of_any_shape(pair):
    robot, _, bound = pair
    q, qd, qdd = states_of_the_paper(robot, 300)
    tau = bound.inverse_dynamics(q, qd, qdd)
    np.testing.assert_array_equal(bound.inverse_dynamics(q[3], qd[3], qdd[3]).shape, (robot.n_joints,))
    folded = [x.reshape(3, 100, -1) for x in (q, qd, qdd)]
    np.testing.assert_allclose(bound.inverse_dynamics(*folded).reshape(300, -1), tau, rtol=0, atol=1e-11)
    assert bound.inverse_dynamics(q[:0], qd[:0], qdd[:0]).shape == (0, robot.n_joints)
    assert bound.mass_matrix(q[0]).shape == (robot.n_joints, robot.n_joints)


def test_terms_are_products_of_powers():
    model = tf.derive(tf.load("sr6ia"))
    q, qd, qdd = np.random.default_rng(0).uniform(-2, 2, (3, 4, 5))
    generators = np.concatenate([q, np.sin(q), np.cos(q), qd, qdd])
    expected = np.prod(generators[:, None] ** model.exponents[:, :, None], axis=0)
    np.testing.assert_allclose(TermProducts.of(model.exponents).terms(q, qd, qdd), expected, rtol=1e-13)


@pytest.mark.parametrize("source", ["structure", "bound"])
def test_equations_evaluate_to_the_torque(source):
    robot = random_tree(2, 4, chain=True, prismatic=0.5)
    model = tf.derive(robot, include=ALL)
    q, qd, qdd = random_states(robot, 1, 0)[:, 0]
    values: dict[str, object] = {"sign": lambda x: math.copysign(1, x)}
    for i in range(2):
        values |= {f"q{i + 1}": q[i], f"s{i + 1}": math.sin(q[i]), f"c{i + 1}": math.cos(q[i])}
        values |= {f"qd{i + 1}": qd[i], f"qdd{i + 1}": qdd[i]}
    bound = model.bind(robot)
    values |= dict(zip(model.base.names, bound.theta, strict=True))
    lines = model.equations() if source == "structure" else bound.equations()
    tau = [eval(line.split(" = ")[1], {}, values) for line in lines]
    np.testing.assert_allclose(tau, tf.inverse_dynamics(robot, q, qd, qdd), rtol=1e-12)


def test_latex_and_summary_name_terms_and_parameters():
    model = tf.derive(tf.load("two_link"))
    assert r"\tau_{1} &= " in model.to_latex()
    assert r"2.4 m_{x,2} c_{2} \ddot q_{1}" in model.to_latex()
    assert "terms p = 18" in str(model)
    assert "base parameters l = 6 of 20" in str(model)
    assert repr(model) == "ClosedFormModel('two_link', 2 joints, p = 18, l = 6)"


def test_long_equations_are_refused():
    with pytest.raises(tf.errors.ModelError, match="6086 terms"):
        tf.derive(tf.load("kr6_r700")).equations()


def test_model_survives_a_file(pair, tmp_path):
    robot, model, bound = pair
    path = tmp_path / "model.npz"
    model.save(path)
    read = tf.load_model(path)
    assert [file.name for file in tmp_path.iterdir()] == ["model.npz"]
    assert (read.robot_name, read.joint_names, read.base.names) == (
        model.robot_name,
        model.joint_names,
        model.base.names,
    )
    np.testing.assert_array_equal(read.exponents, model.exponents)
    np.testing.assert_array_equal(read.bind(robot).coefficients, bound.coefficients)
    np.testing.assert_array_equal(read.bind(robot).joint_coefficients, bound.joint_coefficients)
    np.testing.assert_array_equal(read.load_grouping, model.load_grouping)


def test_files_that_are_no_models_are_refused(tmp_path):
    model = tf.derive(tf.load("two_link"))
    whole = tmp_path / "whole.npz"
    model.save(whole)
    content = whole.read_bytes()
    for name, data in {"cut": content[: len(content) // 2], "empty": b"", "text": b"name,value\n1,2\n"}.items():
        path = tmp_path / name
        path.write_bytes(data)
        with pytest.raises(tf.errors.ModelError, match="truncated, damaged, or not"):
            tf.load_model(path)
    at = content.index(b"exponents.npy") + 60  # inside that member's compressed bytes
    (tmp_path / "flipped").write_bytes(content[:at] + bytes([content[at] ^ 0xFF]) + content[at + 1 :])
    with pytest.raises(tf.errors.ModelError, match="truncated, damaged, or not"):
        tf.load_model(tmp_path / "flipped")
    np.savez(tmp_path / "foreign.npz", a=np.zeros(3))
    with pytest.raises(tf.errors.ModelError, match="not a closed-form model"):
        tf.load_model(tmp_path / "foreign.npz")
    np.save(tmp_path / "array.npy", np.zeros(3))
    with pytest.raises(tf.errors.ModelError, match="not a closed-form model"):
        tf.load_model(tmp_path / "array.npy")
    with pytest.raises(tf.errors.ModelError, match="no such file"):
        tf.load_model(tmp_path / "absent.npz")
    with pytest.raises(tf.errors.ModelError, match="folder"):
        tf.load_model(tmp_path)


def rewritten(path, change):
    """The saved model with other facts and arrays."""
    with np.load(path) as archive:
        arrays = dict(archive)
    facts = json.loads(arrays["facts"].tobytes())
    change(facts, arrays)
    arrays["facts"] = np.frombuffer(json.dumps(facts).encode(), dtype=np.uint8)
    np.savez(path, **arrays)
    return path


def test_file_of_a_newer_version_is_refused(tmp_path):
    path = tmp_path / "model.npz"
    tf.derive(tf.load("two_link")).save(path)
    rewritten(path, lambda facts, _: facts.update(version=VERSION + 1))
    with pytest.raises(tf.errors.ModelError, match="newer tauform"):
        tf.load_model(path)


def as_version_1(facts, arrays):
    """Kinds of joints as flags, as the first files had them."""
    arrays["revolute"] = np.array([kind == "revolute" for kind in facts.pop("joint_kinds")])
    facts["version"] = 1


def test_files_of_the_first_version_are_read(tmp_path):
    robot, path = tf.load("sr6ia"), tmp_path / "model.npz"
    model = tf.derive(robot)
    model.save(path)
    again = tf.load_model(rewritten(path, as_version_1))
    assert again.geometry.types == model.geometry.types
    assert {own.letter for own in again.geometry.types} == {"R", "P"}
    np.testing.assert_array_equal(again.bind(robot).coefficients, model.bind(robot).coefficients)


@pytest.mark.parametrize(
    "kinds", [["revolute"], ["revolute", "bendy"], ["prismatic", "revolute", "revolute"], 2, [[], []]]
)
def test_kinds_of_joints_that_make_no_sense_are_refused(tmp_path, kinds):
    path = tmp_path / "model.npz"
    tf.derive(tf.load("two_link")).save(path)
    with pytest.raises(tf.errors.ModelError, match="truncated, damaged"):
        tf.load_model(rewritten(path, lambda facts, _: facts.update(joint_kinds=kinds)))


def test_nothing_is_written_where_it_cannot_be(tmp_path):
    model = tf.derive(tf.load("two_link"))
    with pytest.raises(tf.errors.ModelError, match="cannot be written"):
        model.save(tmp_path / "absent" / "model.npz")
    assert not list(tmp_path.iterdir())


def test_theta_of_the_wrong_length_and_another_robot_are_refused():
    model = tf.derive(tf.load("kr6_r700"))
    with pytest.raises(tf.errors.ShapeError, match="theta: expected"):
        model.bind(np.zeros(35))
    with pytest.raises(tf.errors.ModelError, match="another robot"):
        model.bind(tf.load("lbr7"))
    with pytest.raises(tf.errors.ModelError, match="gravity"):
        model.bind(tf.load("kr6_r700").with_gravity((0, 0, 0)))


def test_load_is_refused_where_an_assumption_rules_it_out():
    model = tf.derive(tf.load("two_link"), assume={"my_2": 0})
    with pytest.raises(tf.errors.ModelError, match="tool's link"):
        model.bind(model.base.checked(np.ones(model.n_base)), payload=tf.Inertia.of(1.0, inertia_about="com"))


def test_unphysical_mass_matrix_is_said_to_be_so():
    model = tf.derive(tf.load("two_link"))
    with pytest.raises(tf.errors.SingularMassMatrixError, match="not positive definite: joint 'joint2'"):
        model.bind(-np.ones(model.n_base)).forward_dynamics([0, 0], [0, 0], [1, 1])


def test_a_model_that_may_not_be_read_is_named(tmp_path, monkeypatch):
    path = tmp_path / "model.npz"
    tf.derive(tf.load("two_link")).save(path)

    def denied(self, *arguments):  # permissions would not stop the superuser
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(type(path), "open", denied)
    with pytest.raises(tf.errors.ModelError, match=r"model\.npz: may not be read; change its permissions"):
        tf.load_model(path)


@pytest.mark.parametrize("case", ["whole", "zeros", "relations", "file", "fixed", "friction"])
def test_a_model_is_a_robot_of_virtual_links(case, tmp_path):
    robot = tf.random_robot("RPRR", seed=6)
    zeros = {"my_2": 0, "Ixz_3": 0}
    relations = {"Iyy_4": "Ixx_4", "mx_3": {"my_3": -1.0, "mz_3": 0.5}}
    options = {
        "zeros": {"assume": zeros},
        "relations": {"assume": relations},
        "fixed": {"fixed": {"joint2": 0.3}},
        "friction": {"include": ALL},
    }
    model = tf.derive(robot, **options.get(case, {}))
    if case == "file":
        model.save(tmp_path / "model.npz")
        model = tf.load_model(tmp_path / "model.npz")
    theta = np.random.default_rng(0).normal(size=model.n_base)
    bound = model.bind(theta, friction=np.random.default_rng(1).uniform(size=(4, 3)))
    q, qd, qdd = random_states(robot, 30, 2)
    if case == "fixed":
        q[:, 1], qd[:, 1], qdd[:, 1] = 0.3, 0.0, 0.0
    assert relative_error(tf.inverse_dynamics(bound.as_robot(), q, qd, qdd), bound.inverse_dynamics(q, qd, qdd)) < 1e-12
    assert bound.as_robot().joint_names == robot.joint_names


def test_mat_files_evaluate_as_the_papers_toolbox_does(tmp_path):
    """tau = (prod(gamma .^ E) times g where no rate is) (P Theta)', with the toolbox's own g."""
    import scipy.io

    robot = tf.load("sr6ia")
    bound = tf.derive(robot).bind(robot)
    bound.save_mat(tmp_path / "model.mat")
    file = scipy.io.loadmat(tmp_path / "model.mat")
    E, P, Theta = file["E"], file["P"], file["Theta"]
    n = robot.n_joints
    assert P.shape == (bound.n_terms, len(bound.theta), n)
    assert Theta.shape == (len(bound.theta), 1)
    q, qd, qdd = random_states(robot, 5, 0)
    for state in zip(q, qd, qdd, strict=True):
        gamma = np.concatenate([state[0], np.sin(state[0]), np.cos(state[0]), state[1], state[2]])
        y = np.prod(gamma[:, None] ** E, axis=0)
        y[~E[3 * n :].any(axis=0)] *= 9.806132
        tau = y @ np.einsum("plj,lk->pj", P, Theta)
        np.testing.assert_allclose(tau, bound.inverse_dynamics(*state), rtol=0, atol=1e-10)
    again = tmp_path / "again.mat"
    bound.save_mat(again)
    assert again.read_bytes() == (tmp_path / "model.mat").read_bytes()
    with pytest.raises(tf.errors.ModelError, match=r"must end in \.mat"):
        bound.save_mat(tmp_path / "model.npz")
