"""Promotion: counted, in the background, safe with threads and forks, and never waited for."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tauform as tf
from tauform.errors import GenerationError
from tauform.fast import dispatch

Q, QD, QDD = np.random.default_rng(0).uniform(-1, 1, (3, 3))


@pytest.fixture(autouse=True)
def automatic(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """The policy of users, with a cache of our own."""
    monkeypatch.delenv("TAUFORM_TIER")
    monkeypatch.setenv("TAUFORM_CACHE", str(tmp_path_factory.mktemp("kernels")))


@pytest.fixture
def robot() -> tf.Robot:
    return tf.random_robot("RRR", 8)


def is_compiled(robot: tf.Robot, name: str = "inverse_dynamics") -> bool:
    return f"_fast_{name}" in vars(robot)


def until(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "no promotion"
        time.sleep(0.01)


def test_work_promotes_in_the_background(robot: tf.Robot, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = tf.textbook.inverse_dynamics(robot, Q, QD, QDD)
    np.testing.assert_array_equal(tf.inverse_dynamics(robot, Q, QD, QDD), expected)  # NumPy, to the bit
    monkeypatch.setattr(dispatch, "PAYS_FOR_KERNEL", 0.0)
    tf.inverse_dynamics(robot, Q, QD, QDD)
    until(lambda: is_compiled(robot))
    np.testing.assert_allclose(tf.inverse_dynamics(robot, Q, QD, QDD), expected, atol=1e-12)
    batch = np.tile(Q, (2, 5, 1))
    np.testing.assert_allclose(
        tf.inverse_dynamics(robot, batch, QD, QDD), np.broadcast_to(expected, (2, 5, 3)), atol=1e-12
    )


def test_kernel_time_pays_for_a_search(robot: tf.Robot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch, "PAYS_FOR_SEARCH", 0.0)
    tf.gravity_torque(robot, Q, tier=2)
    (entry,) = vars(robot)["_fast_entries"].values()
    assert entry.tier == 2
    tf.gravity_torque(robot, np.zeros((10, 3)))
    until(lambda: entry.tier == 3)


def test_a_call_that_computed_little_compiles_nothing(robot: tf.Robot) -> None:
    tf.inverse_dynamics(robot, Q, QD, QDD)
    assert not any(entry.asked for entry in vars(robot)["_fast_entries"].values())


def test_compile_hands_its_kernel_to_the_function(robot: tf.Robot) -> None:
    kernel = tf.compile(robot, "gravity_torque")
    assert not is_compiled(robot, "gravity_torque")
    tf.gravity_torque(robot, Q)
    assert is_compiled(robot, "gravity_torque")
    np.testing.assert_array_equal(tf.gravity_torque(robot, Q), kernel(Q))


@pytest.mark.parametrize(
    "q",
    [
        list(Q),
        Q.astype(np.float32),
        np.arange(3),
        np.asfortranarray(np.tile(Q, (4, 1))),
        np.tile(Q, (4, 2))[::2, ::2],
        Q[::-1],
        np.ma.array(Q),
        np.zeros((0, 3)),
        Q + 0j,
    ],
    ids=["list", "float32", "integers", "Fortran", "strided", "reversed", "masked", "empty", "complex"],
)
def test_any_array_is_taken_as_the_textbook_takes_it(robot: tf.Robot, q: Any) -> None:
    expected = tf.textbook.mass_matrix(robot, q)
    found = tf.mass_matrix(robot, q, tier=2)
    for result in (found, tf.mass_matrix(robot, q)):
        assert type(result) is np.ndarray
        assert result.dtype == expected.dtype
        np.testing.assert_allclose(result, expected, atol=1e-12)


def test_an_explicit_method_is_the_textbooks_to_the_bit(robot: tf.Robot) -> None:
    tf.mass_matrix(robot, Q, tier=2)
    for method in ("crba", "gdahj"):
        np.testing.assert_array_equal(tf.mass_matrix(robot, Q, method), tf.textbook.mass_matrix(robot, Q, method))


def test_wrenches_are_part_of_the_answer_once_there_is_a_kernel(robot: tf.Robot) -> None:
    tf.inverse_dynamics(robot, Q, QD, QDD, tier=2)
    pushed = {robot.links[2].name: np.arange(6.0)}
    expected = tf.textbook.inverse_dynamics(robot, Q, QD, QDD, wrenches=pushed)
    np.testing.assert_array_equal(tf.inverse_dynamics(robot, Q, QD, QDD, None, True, pushed), expected)


def test_a_robot_with_kernels_pickles_without_them(robot: tf.Robot) -> None:
    tf.inverse_dynamics(robot, Q, QD, QDD, tier=2)
    again = pickle.loads(pickle.dumps(robot))
    assert again == robot
    assert not is_compiled(again)


def test_robots_with_kernels_are_freed(robot: tf.Robot) -> None:
    import gc
    import weakref

    local = tf.random_robot("RR", 3)
    tf.gravity_torque(local, Q[:2], tier=2)
    freed = weakref.ref(local)
    del local
    gc.collect()
    assert freed() is None


def test_threads_share_a_robot(robot: tf.Robot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatch, "PAYS_FOR_KERNEL", 0.0)
    expected = tf.textbook.inverse_dynamics(robot, Q, QD, QDD)
    wrong: list[object] = []

    def work() -> None:
        for _ in range(300):
            found = tf.inverse_dynamics(robot, Q, QD, QDD)
            if not np.allclose(found, expected, atol=1e-12):
                wrong.append(found)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    until(lambda: is_compiled(robot))
    assert not wrong


def finished(code: str) -> subprocess.CompletedProcess[str]:
    """A process that ran this."""
    paths = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True, env=paths
    )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_fork_in_the_midst_of_promotion_goes_on() -> None:
    """A forked child computes, promotes itself and ends; in a process of its own."""
    code = """
import os, time
import numpy as np
import tauform as tf
from tauform.fast import dispatch
dispatch.PAYS_FOR_KERNEL = 0.0
robot = tf.random_robot("RRR", 9)
q = np.full(3, 0.3)
tf.inverse_dynamics(robot, q, q, q)   # the workshop begins
children = []
for pause in (0.0, 0.1, 0.2):
    time.sleep(pause)
    child = os.fork()
    if child == 0:
        end = time.monotonic() + 60
        while "_fast_inverse_dynamics" not in vars(robot) and time.monotonic() < end:
            tf.inverse_dynamics(robot, q, q, q)
        os._exit(0 if "_fast_inverse_dynamics" in vars(robot) else 1)
    children.append(child)
codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
print(codes)
"""
    done = finished(code)
    assert done.stdout.strip() == "[0, 0, 0]"
    assert not done.stderr


def test_a_process_ends_while_the_workshop_is_at_work() -> None:
    code = (
        "import numpy as np, tauform as tf\nfrom tauform.fast import dispatch\ndispatch.PAYS_FOR_KERNEL = 0.0\n"
        "robot = tf.random_robot('RRR', 9)\nq = np.full(3, 0.3)\n"
        "tf.linearize_forward(robot, q, q, q); tf.inverse_dynamics(robot, q, q, q)\nprint('done')"
    )
    done = finished(code)
    assert (done.stdout, done.stderr) == ("done\n", "")


def test_a_robot_too_long_for_programs_stays_with_numpy(robot: tf.Robot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tauform.codegen.candidates.MAX_OPERATIONS", 10)
    monkeypatch.setenv("TAUFORM_TIER", "2")
    np.testing.assert_array_equal(tf.coriolis_matrix(robot, Q, QD), tf.textbook.coriolis_matrix(robot, Q, QD))
    with pytest.raises(GenerationError, match=r"has no kernel.*more than 10 for one straight line"):
        tf.coriolis_matrix(robot, Q, QD, tier=2)
