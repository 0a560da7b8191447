"""All tiers of a public function give the same results, and refuse the same inputs with the same words."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.spatial.transform import Rotation

import tauform as tf
from closed_linkages import four_bar
from random_drives import random_temperatures, with_random_drives
from random_robots import random_tree
from sampling import in_turns
from tauform.errors import TauformError

N_STATES = 24
# Of each output's peak; accelerations also by the condition of the mass matrix.
AGREEMENT = 1e-12


def robots() -> dict[str, tf.Robot]:
    """One of each kind; small, as each function of each is compiled."""
    tree = random_tree(4, 3)
    names = random_tree(4, 5, prismatic=0.0).joint_names
    loop = random_tree(4, 5, prismatic=0.0).with_relations({names[3]: {names[1]: -0.7, names[2]: 0.4, "": 0.2}})
    return {
        "chain": tf.random_robot("RRR", 1),
        "prismatic": tf.random_robot("RPR", 2),
        "tree": tree,
        "loop": loop,
        "drives": with_random_drives(tf.random_robot("RRR", 3), 1, ("load", "thermal", "stiffness", "quadratic")),
    }


ROBOTS = robots()
# Arguments of each function that has tiers: states in order, and options that change what is computed.
FUNCTIONS: dict[str, tuple[tuple[str, ...], tuple[dict[str, Any], ...]]] = {
    "inverse_dynamics": (("q", "qd", "qdd"), ({"drives": False},)),
    "forward_dynamics": (("q", "qd", "tau"), ({"drives": False},)),
    "bias_torque": (("q", "qd"), ()),
    "gravity_torque": (("q",), ()),
    "friction": (("qd", "q", "qdd"), ()),
    "generalized_momentum": (("q", "qd"), ()),
    "mass_matrix": (("q",), ()),
    "coriolis_matrix": (("q", "qd"), ()),
    "regressor": (("q", "qd", "qdd"), ({"include": ["link"]},)),
    "slotine_li_regressor": (("q", "qd", "qd_r", "qdd_r"), ()),
    "base_regressor": (("q", "qd", "qdd"), ()),
    "kinetic_energy": (("q", "qd"), ()),
    "potential_energy": (("q",), ({"drives": False},)),
    "energy_regressor": (("q", "qd"), ({"energy": "kinetic"},)),
    "forward_kinematics": (("q",), ({"frame": "link2"},)),
    "link_placements": (("q",), ()),
    "jacobian": (("q",), ({"axes": "local"}, {"frame": "link2"})),
    "linearize_inverse": (("q", "qd", "qdd"), ()),
    "linearize_inverse_vector": (("q", "qd", "qdd", "dq", "dqd", "dqdd"), ()),
    "linearize_forward": (("q", "qd", "tau"), ()),
    "linearize_forward_vector": (("q", "qd", "tau", "dq", "dqd", "dtau"), ()),
}
DIVIDING = {name for name in FUNCTIONS if "forward" in name} - {"forward_kinematics"}
WARM = {name for name in FUNCTIONS if "temperature" in inspect.signature(getattr(tf, name)).parameters}


@pytest.fixture(scope="module", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TAUFORM_CACHE", str(tmp_path_factory.mktemp("kernels")))
        yield


def states_of(robot: tf.Robot, name: str) -> list[np.ndarray]:
    vectors = np.random.default_rng(7).uniform(-2, 2, (len(FUNCTIONS[name][0]), N_STATES, robot.n_joints))
    return list(vectors)


def temperatures_of(robot: tf.Robot, name: str) -> dict[str, np.ndarray]:
    return {"temperature": random_temperatures(robot, N_STATES, 3)} if name in WARM else {}


def arrays_of(result: Any) -> list[np.ndarray]:
    return [result] if isinstance(result, np.ndarray) else list(vars(result).values())


def compare(found: Any, expected: Any, share: float) -> None:
    assert type(found) is type(expected)
    for ours, theirs in zip(arrays_of(found), arrays_of(expected), strict=True):
        assert ours.shape == theirs.shape
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=share * max(np.abs(theirs).max(), 1e-3))


def share_of(robot: tf.Robot, name: str, q: np.ndarray) -> float:
    return AGREEMENT * np.linalg.cond(tf.textbook.mass_matrix(robot, q)).max() if name in DIVIDING else AGREEMENT


def check(kind: str, name: str, tier: int) -> None:
    """A batch, its first state alone, and every option, against the textbook."""
    robot, states, warm = ROBOTS[kind], states_of(ROBOTS[kind], name), temperatures_of(ROBOTS[kind], name)
    public, textbook = getattr(tf, name), getattr(tf.textbook, name)
    share = share_of(robot, name, states[FUNCTIONS[name][0].index("q")])
    first = {key: value[0] for key, value in warm.items()}
    for options in ({}, *FUNCTIONS[name][1]):
        if "frame" in options:
            options = {"frame": robot.links[1].name}
        compare(
            public(robot, *states, **warm, **options, tier=tier), textbook(robot, *states, **warm, **options), share
        )
        alone = [state[0].copy() for state in states]
        expected = textbook(robot, *alone, **first, **options)
        compare(public(robot, *alone, **first, **options, tier=tier), expected, share)


def test_every_function_with_tiers_is_here() -> None:
    tiered = {name for name in tf.__all__ if "tier" in getattr(getattr(tf, name), "__annotations__", {})}
    assert tiered == set(FUNCTIONS)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_public_function_takes_what_its_textbook_function_does(name: str) -> None:
    """The same arguments in the same order, and a tier; a method is what the caller leaves open."""
    own = inspect.signature(getattr(tf, name)).parameters
    textbook = inspect.signature(getattr(tf.textbook, name)).parameters
    assert [*textbook, "tier"] == list(own)
    for parameter in textbook.values():
        if parameter.name != "method":
            assert own[parameter.name].default == parameter.default
            assert own[parameter.name].annotation == parameter.annotation
    assert "tier: 1 computes" in str(inspect.getdoc(getattr(tf, name)))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_plain_kernel_agrees_with_the_textbook(name: str) -> None:
    check("chain", name, 2)


@pytest.mark.parametrize(
    ("name", "kind"),
    in_turns(
        ["inverse_dynamics", "forward_dynamics", "mass_matrix", "regressor", "jacobian"],
        ["prismatic", "tree", "loop", "drives"],
    ),
)
def test_a_plain_kernel_agrees_with_the_textbook_of_any_robot(kind: str, name: str) -> None:
    check(kind, name, 2)


@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics", "jacobian"])
def test_a_searched_kernel_agrees_with_the_textbook(name: str) -> None:
    check("chain", name, 3)


@pytest.mark.nightly
@pytest.mark.parametrize("tier", [2, 3])
@pytest.mark.parametrize("kind", ROBOTS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_all_tiers_agree_with_the_textbook(kind: str, name: str, tier: int) -> None:
    check(kind, name, tier)


FEELING = ("inverse_dynamics", "forward_dynamics", "bias_torque")


def pushed(robot: tf.Robot) -> dict[str, np.ndarray]:
    """A wrench for each state at the tool, and the same for all at a link."""
    rng = np.random.default_rng(8)
    return {robot.tool.name: rng.uniform(-9, 9, (N_STATES, 6)), robot.links[1].name: rng.uniform(-9, 9, 6)}


def check_pushed(kind: str, name: str, tier: int) -> None:
    robot = ROBOTS[kind]
    states, warm, wrenches = states_of(robot, name), temperatures_of(robot, name), pushed(robot)
    expected = getattr(tf.textbook, name)(robot, *states, **warm, wrenches=wrenches)
    share = share_of(robot, name, states[0])
    compare(getattr(tf, name)(robot, *states, **warm, wrenches=wrenches, tier=tier), expected, share)
    swapped = dict(reversed(wrenches.items()))
    compare(getattr(tf, name)(robot, *states, **warm, wrenches=swapped, tier=tier), expected, share)


@pytest.mark.parametrize(
    ("kind", "name", "tier"),
    [*(("chain", name, 2) for name in FEELING), ("chain", "inverse_dynamics", 3), ("loop", "forward_dynamics", 2)],
)
def test_kernels_feel_external_wrenches(kind: str, name: str, tier: int) -> None:
    check_pushed(kind, name, tier)


@pytest.mark.nightly
@pytest.mark.parametrize("tier", [2, 3])
@pytest.mark.parametrize("kind", ROBOTS)
@pytest.mark.parametrize("name", FEELING)
def test_kernels_of_any_robot_feel_external_wrenches(kind: str, name: str, tier: int) -> None:
    check_pushed(kind, name, tier)


WRONG_WRENCHES: dict[str, Any] = {
    "a NaN": {"link1": [1, 2, 3, 4, 5, np.nan]},
    "three numbers": {"link1": [1, 2, 3]},
    "no such frame": {"elsewhere": np.zeros(6)},
    "no dict": [1, 2, 3, 4, 5, 6],
    "another batch": {"link1": np.zeros((5, 6))},
    "a text": {"link1": "abc"},
    "None": {"link1": None},
    "a number for a name": {3: np.zeros(6)},
}


@pytest.mark.parametrize("wrong", WRONG_WRENCHES)
def test_every_tier_refuses_the_same_wrenches(wrong: str) -> None:
    robot = tf.load("two_link")
    q = np.zeros((3, 2))
    assert robot.links[0].name == "link1"
    words = said(lambda: tf.textbook.inverse_dynamics(robot, q, q, q, wrenches=WRONG_WRENCHES[wrong]))
    assert said(lambda: tf.inverse_dynamics(robot, q, q, q, wrenches=WRONG_WRENCHES[wrong], tier=2)) == words


def test_no_wrench_is_none() -> None:
    robot = ROBOTS["chain"]
    states = states_of(robot, "inverse_dynamics")
    expected = tf.textbook.inverse_dynamics(robot, *states)
    compare(tf.inverse_dynamics(robot, *states, wrenches={}, tier=2), expected, AGREEMENT)


def said(call: Callable[[], Any]) -> tuple[type, str]:
    with pytest.raises(TauformError) as caught:
        call()
    return type(caught.value), str(caught.value)


WRONG: dict[str, Callable[[np.ndarray], Any]] = {
    "a NaN": lambda q: np.where(np.arange(q.size).reshape(q.shape) == 0, np.nan, q),
    "an infinity": lambda q: np.where(np.arange(q.size).reshape(q.shape) == q.size - 1, np.inf, q),
    "one joint too many": lambda q: np.concatenate([q, q[..., :1]], axis=-1),
    "turned round": lambda q: np.swapaxes(q, -1, 0),
    "a number": lambda q: 3.0,
    "None": lambda q: None,
    "a text": lambda q: "abc",
    "rows of different lengths": lambda q: [[1.0, 2.0], [1.0]],
    "another batch": lambda q: np.zeros((5, q.shape[-1])),
}


@pytest.mark.parametrize(
    ("name", "wrong", "tier"), in_turns(["inverse_dynamics", "forward_dynamics", "jacobian"], WRONG, [2, 3])
)
def test_every_tier_refuses_the_same_with_the_same_words(name: str, wrong: str, tier: int) -> None:
    """Faults are refused in every argument, also where the result does not depend on it."""
    robot = ROBOTS["chain"]
    for k in range(len(FUNCTIONS[name][0])):
        states: list[Any] = states_of(robot, name)
        states[k] = WRONG[wrong](states[k])
        if wrong == "another batch" and len(states) == 1:
            continue
        words = said(lambda states=states: getattr(tf.textbook, name)(robot, *states))
        assert said(lambda states=states: getattr(tf, name)(robot, *states, tier=tier)) == words


@pytest.mark.parametrize("kind", [*ROBOTS, "four_bar"])
def test_batches_that_do_not_fit_are_refused_whatever_the_algorithm(kind: str) -> None:
    """Loops, shafts and friction by load take other ways through the textbook functions; a batch may be empty."""
    robot = four_bar() if kind == "four_bar" else ROBOTS[kind]
    for name, (arguments, _) in FUNCTIONS.items():
        textbook, still = getattr(tf.textbook, name), np.zeros((4, robot.n_joints))
        warm = {"temperature": np.full(robot.n_joints, 20.0)} if name in WARM else {}
        for result in arrays_of(textbook(robot, *[still[:0]] * len(arguments), **warm)):
            assert result.shape[0] == 0
        # Friction alone asks for no more than its laws read.
        for k in range(len(arguments)) if len(arguments) > 1 and name != "friction" else ():
            states = [np.zeros((5, robot.n_joints)) if i == k else still for i in range(len(arguments))]
            _, words = said(lambda textbook=textbook, states=states, warm=warm: textbook(robot, *states, **warm))
            assert words.startswith("batch dimensions do not broadcast"), name


@pytest.mark.parametrize("tier", [2, 3])
def test_kernels_keep_what_axes_move_that_are_almost_aligned(tier: int) -> None:
    """Axes off by 1e-11 rad, as where a file says 1.57079632679: the torque is small, and no rounding."""
    rng, joints = np.random.default_rng(1), []
    for joint in tf.load("kr6_r700").joints:
        parent_from_joint = np.array(joint.parent_from_joint)
        parent_from_joint[:3, :3] @= Rotation.from_rotvec(1e-11 * rng.uniform(-1, 1, 3)).as_matrix()
        joints.append(replace(joint, parent_from_joint=parent_from_joint))
    robot = replace(tf.load("kr6_r700"), joints=tuple(joints))
    states = states_of(robot, "inverse_dynamics")
    expected = tf.textbook.inverse_dynamics(robot, *states)
    compare(tf.inverse_dynamics(robot, *states, tier=tier), expected, AGREEMENT)


@pytest.mark.parametrize("value", [-300.0, None])
def test_every_tier_refuses_the_same_temperatures(value: float | None) -> None:
    robot = ROBOTS["drives"]
    q = np.zeros(robot.n_joints)
    warm = {"temperature": None if value is None else q + value}
    words = said(lambda: tf.textbook.inverse_dynamics(robot, q, q, q, **warm))
    assert said(lambda: tf.inverse_dynamics(robot, q, q, q, **warm, tier=2)) == words


@pytest.mark.parametrize("name", ["forward_dynamics", "linearize_forward"])
def test_every_tier_refuses_a_mass_matrix_that_is_not_positive_definite(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A link that no body could be: the mass matrix is positive definite but for a stretched arm."""
    monkeypatch.delenv("TAUFORM_TIER")  # single states by compiled code too
    bare = tf.load("two_link")
    stretched = np.array([0.3, 0.0])

    def changed(factor: float) -> tf.Robot:
        values = np.array(bare.parameters)
        values[bare.layout.link(1)][1:4] *= factor  # a centre of mass outside the body that has the tensor
        return bare.with_parameters(values)

    def least(factor: float) -> float:
        return float(np.linalg.eigvalsh(tf.textbook.mass_matrix(changed(factor), stretched))[0])

    robot = changed(brentq(least, 1.0, 10.0) * (1 + 1e-7))
    good = np.random.default_rng(1).uniform(0.5, 1.5, (8, 2))
    public, textbook = getattr(tf, name), getattr(tf.textbook, name)
    for q in (good[0], good):
        share = share_of(robot, name, q)
        compare(public(robot, q, q, q, tier=2), textbook(robot, q, q, q), share)
        compare(public(robot, q, q, q), textbook(robot, q, q, q), share)
    assert f"_fast_{name}" in vars(robot)
    for q in (stretched, np.array([good[0], stretched])):
        words = said(lambda q=q: textbook(robot, q, q, q))
        assert said(lambda q=q: public(robot, q, q, q, tier=2)) == words
        assert said(lambda q=q: public(robot, q, q, q)) == words


@pytest.mark.parametrize("tier", [0, 4, "2", True, 2.5])
def test_an_unknown_tier_is_one_sentence(tier: Any) -> None:
    q = np.zeros(ROBOTS["chain"].n_joints)
    _, words = said(lambda: tf.gravity_torque(ROBOTS["chain"], q, tier=tier))
    assert "tier" in words
    assert len(words.splitlines()) == 1


def test_an_unknown_tier_in_the_environment_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAUFORM_TIER", "fast")
    _, words = said(lambda: tf.gravity_torque(ROBOTS["chain"], np.zeros(3)))
    assert words == "TAUFORM_TIER: no tier 'fast'; choose 1 (NumPy), 2 (compiled) or 3 (searched and compiled)"
