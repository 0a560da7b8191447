"""Every public function and method refuses values of another type in one sentence that names the argument."""

from __future__ import annotations

import inspect
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

import numpy as np
import pytest

import tauform as tf
from tauform.annotations import fits
from tauform.arguments import hints_of
from tauform.errors import ArgumentError, TauformError, UnknownNameError
from tools.public_names import homes

WRONG = [None, 3, "x", [1], object()]
FUNCTIONS = {name: getattr(tf, name) for name in homes() if inspect.isfunction(getattr(tf, name))}
# A whole number is what these take.
RIGHT_BY_CHANCE = {("planar_chain", 3), ("random_robot", 3)}
ROBOT = tf.load("two_link")
CLASSES = (
    *(tf.Robot, tf.Inertia, tf.ClosedFormModel, tf.BoundModel, tf.BaseParameters, tf.Profile),
    *(tf.Recording, tf.Fit, tf.MultiRate, tf.RobotModel),
)


def required(function: Callable[..., Any]) -> list[str]:
    parameters = inspect.signature(function).parameters.values()
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return [p.name for p in parameters if p.default is p.empty and p.kind in named]


def methods() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Public methods that take more than themselves, as plain functions."""
    for kind in CLASSES:
        for name, value in vars(kind).items():
            function = value.__func__ if isinstance(value, classmethod) else value
            if name.startswith("_") or not inspect.isfunction(function):
                continue
            if len(inspect.signature(function).parameters) > 1:
                yield f"{kind.__name__}.{name}", function


def is_one_sentence(error: TauformError) -> bool:
    return len(str(error).splitlines()) == 1 and len(str(error)) < 400


@pytest.mark.parametrize("wrong", WRONG, ids=lambda value: type(value).__name__)
@pytest.mark.parametrize("name", [name for name in FUNCTIONS if required(FUNCTIONS[name])])
def test_a_function_refuses_wrong_types(name: str, wrong: Any) -> None:
    if not isinstance(wrong, list) and (name, wrong) in RIGHT_BY_CHANCE:
        return
    with pytest.raises(TauformError) as caught:
        FUNCTIONS[name](**dict.fromkeys(required(FUNCTIONS[name]), wrong))
    assert is_one_sentence(caught.value)


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_a_robots_name_in_place_of_the_robot_says_what_to_write(name: str) -> None:
    parameters = required(FUNCTIONS[name])
    if not parameters or not fits(ROBOT, hints_of(FUNCTIONS[name].__wrapped__)[parameters[0]]) or name == "load":
        return
    with pytest.raises(ArgumentError, match=r"tf\.load\('arm\.urdf'\)"):
        FUNCTIONS[name](*["arm.urdf"] * len(parameters))


@pytest.mark.parametrize(
    ("title", "function"), list(methods()), ids=lambda value: value if isinstance(value, str) else ""
)
def test_a_method_refuses_what_its_annotations_do_not_name(title: str, function: Callable[..., Any]) -> None:
    """One argument after the other is an object of no use; arrays are checked by their shape."""
    hints = hints_of(function.__wrapped__)  # type: ignore[attr-defined]
    for name in list(hints)[1:]:
        if not fits(object(), hints[name]):
            with pytest.raises(ArgumentError, match=name):
                function(None, **{name: object()})


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: tf.inverse_dynamics("kr6_r700", 0, 0, 0),
            "robot must be a Robot, not 'kr6_r700'; load it with tf.load",
        ),
        (lambda: tf.derive(Path("x.urdf")), "tf.load('x.urdf')"),
        (lambda: tf.write_c(ROBOT, "out"), "not a Robot; make one with tf.generate(robot, 'inverse_dynamics')"),
        (lambda: tf.load(123), "source must be a text or a path, not 123"),
        (lambda: tf.identify(ROBOT, "log.csv"), "read it with tf.read_recording('log.csv', robot)"),
        (lambda: tf.identify(ROBOT, ["log.csv"]), "a list that holds 'log.csv'; read it"),
        (lambda: tf.reduce(ROBOT, 3), "tf.Profile.within(robot)"),
        (
            lambda: tf.load("two_link", lock={"joint1": None}),
            "each value a number or a text or None, not a dict that holds None",
        ),
        (lambda: tf.regressor(ROBOT, *np.zeros((3, 2)), include="link"), "put it into a list: ['link']"),
        (lambda: tf.regressor(ROBOT, *np.zeros((4, 5, 2))), "include must be a list"),
        (lambda: tf.jacobian(ROBOT, np.zeros(2), axes=3), "one of 'world', 'local', not 3"),
        (lambda: tf.mass_matrix(ROBOT, None), "q: expected numbers of shape (..., 2), got None"),
        (lambda: tf.mass_matrix(ROBOT, np.zeros((2, 5))), "got (2, 5); pass q.T"),
        (lambda: tf.Rates("fast", 1), "Rates: control must be a number, not 'fast'"),
        (lambda: tf.Robot("arm", [1], []), "joints must be a list, each item a Joint, not a list that holds 1"),
        (lambda: ROBOT.locked("joint1"), "Robot.locked: positions must be a dict"),
        (lambda: ROBOT.with_payload(2.0), "tf.Inertia.of(mass, com=[x, y, z])"),
    ],
)
def test_the_sentence_says_what_to_do(call: Callable[[], Any], words: str) -> None:
    with pytest.raises(TauformError) as caught:
        call()
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("value", "annotation"),
    [
        (np.float32(1), float),
        (np.array(1.0), float),
        (2, float),
        (np.int64(1), int),
        (np.bool_(True), bool),
        ("a.csv", Path),
        ((1, 2), list[int]),
        (np.zeros(2), tuple[float, ...]),
        (None, float | None),
        (len, Callable[[Any], int]),
    ],
)
def test_what_serves_is_let_through(value: Any, annotation: Any) -> None:
    assert fits(value, annotation)


def test_public_functions_can_be_pickled() -> None:
    assert pickle.loads(pickle.dumps(tf.inverse_dynamics)) is tf.inverse_dynamics
    assert pickle.loads(pickle.dumps(ROBOT.locked))({"joint1": 0.0}).n_joints == 1


@pytest.mark.parametrize("name", ["inverse_dynamics", "load", "excite", "reduce", "identify"])
def test_an_argument_that_no_function_takes_is_named(name: str) -> None:
    with pytest.raises(ArgumentError, match=f"^{name}: no argument 'zzz'; it takes "):
        FUNCTIONS[name](zzz=1)


def test_threads_of_a_kernel_belong_in_its_call() -> None:
    for source in (ROBOT, tf.generate(ROBOT, "gravity_torque")):
        with pytest.raises(ArgumentError, match=r"threads belongs in the call, kernel\(q, qd, qdd, threads=\.\.\.\)"):
            tf.compile(source, threads=2)
    with pytest.raises(ArgumentError, match="no argument 'fishes'; options are algorithm, parameters, payload"):
        tf.compile(ROBOT, fishes=2)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: tf.identify(ROBOT, (), couplings="atuo"), "couplings: no 'atuo'; choose from 'auto', or give a list"),
        (lambda: tf.identify(ROBOT, (), filters="atuo"), "filters: no 'atuo'; choose from 'auto', or give a Filters"),
        (lambda: tf.generate(ROBOT, parameters="runtme"), "parameters: no 'runtme'; choose from 'baked', 'runtime'"),
        (lambda: tf.mass_matrix(ROBOT, [0, 0], method="abc"), "method: no 'abc'; choose from 'auto', 'crba', 'gdahj'"),
        (lambda: tf.Robot.from_dh([], "khalil"), "convention: no 'khalil'; choose from 'standard', 'modified'"),
    ],
)
def test_a_misspelt_choice_is_refused_with_the_choices(call: Callable[[], Any], words: str) -> None:
    with pytest.raises(UnknownNameError) as caught:
        call()
    assert words in str(caught.value)
    assert is_one_sentence(caught.value)


def test_every_choice_of_a_public_function_is_checked_at_the_door() -> None:
    """A text that is no choice does not get past, whatever else a function takes."""
    n_checked = 0
    for name, function in FUNCTIONS.items():
        for parameter, hint in hints_of(function.__wrapped__).items():
            members = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
            if any(get_origin(m) is Literal for m in members) and str not in members:
                n_checked += 1
                with pytest.raises(TauformError, match=f"{name}: {parameter}"):
                    function(**{parameter: "no such choice"})
    assert n_checked > 15


@pytest.mark.parametrize(
    "call",
    [
        lambda: tf.reduce(ROBOT, seed=-1),
        lambda: tf.base_parameters(ROBOT, seed=-1),
        lambda: tf.random_robot("R", -1),
    ],
)
def test_seeds_are_whole_numbers_from_0_on(call: Callable[[], Any]) -> None:
    with pytest.raises(ArgumentError, match="seed must be a whole number from 0 on, not -1"):
        call()
