"""Kernels: any layout of arrays gives the interpreter's results; bad input is refused in words."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import sys
import tracemalloc
from collections.abc import Iterator

import numpy as np
import pytest

import tauform as tf
from tauform.codegen.runtime.kernel import Kernel, compile_program
from tauform.errors import ShapeError
from traced_programs import elementwise, every_kind, inverse_dynamics, long_sum, sines

TOLERANCE = 1e-14


@pytest.fixture(scope="module", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TAUFORM_CACHE", str(tmp_path_factory.mktemp("kernels")))
        yield


@pytest.fixture(scope="module")
def kernel() -> Kernel:
    return compile_program(inverse_dynamics(tf.load("lbr7")))


def _states(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).uniform(-3, 3, (3, *shape))


def _agree(found: np.ndarray, expected: np.ndarray) -> None:
    assert found.shape == expected.shape
    assert np.abs(found - expected).max() <= TOLERANCE * np.abs(expected).max()


@pytest.mark.parametrize("shape", [(), (0,), (1,), *((n,) for n in range(2, 19)), (3, 4), (2, 3, 5), (1001,)])
def test_any_leading_shape(kernel: Kernel, shape: tuple[int, ...]) -> None:
    states = _states(*shape, 7)
    if 0 in shape:
        assert kernel(*states).shape == (0, 7)
    else:
        _agree(kernel(*states), kernel.program(*states))


def test_equals_the_textbook_algorithm(kernel: Kernel) -> None:
    states = _states(500, 7)
    _agree(kernel(*states), tf.inverse_dynamics(tf.load("lbr7"), *states))


def test_a_result_does_not_depend_on_its_place_in_the_batch(kernel: Kernel) -> None:
    states = _states(21, 7)
    batch = kernel(*states)
    for k in range(21):
        np.testing.assert_array_equal(kernel(*states[:, k]), batch[k])


def test_a_kernel_for_batches_alone_has_the_same_bits(kernel: Kernel) -> None:
    for_batches = compile_program(kernel.program, single=False)
    x = _states(37, 7)
    np.testing.assert_array_equal(for_batches(*x), kernel(*x))
    np.testing.assert_allclose(for_batches(*(a[0] for a in x)), kernel(*x)[0], rtol=1e-12)
    assert for_batches.answering(for_batches) is None
    again = pickle.loads(pickle.dumps(for_batches))
    np.testing.assert_array_equal(again(*x), kernel(*x))


def test_one_state_however_it_is_given(kernel: Kernel) -> None:
    """Plain arrays of one state take a way of their own; everything else that holds one state must agree with it."""
    state = _states(7)
    expected = kernel(*state)
    assert type(expected) is np.ndarray
    assert expected.flags.owndata
    wide = np.repeat(state, 2, axis=1)[:, ::2]
    unaligned = np.frombuffer(b"?" + state[0].tobytes(), dtype=np.float64, offset=1)
    swapped = state[1].astype(">f8")
    for arrays in (
        [a.tolist() for a in state],
        list(wide),
        [unaligned, swapped, state[2]],
        [state[0][::-1].copy()[::-1], *state[1:]],
        [a.view(np.recarray) for a in state],
        [state[0], state[1], state[2][None]],
    ):
        np.testing.assert_array_equal(np.reshape(kernel(*arrays), 7), expected)


def test_single_calls_leak_nothing(kernel: Kernel) -> None:
    state = list(_states(7))
    before = [sys.getrefcount(array) for array in state]
    tracemalloc.start()
    for _ in range(100):
        kernel(*state)
    first = tracemalloc.get_traced_memory()[0]
    for _ in range(2000):
        kernel(*state)
    grown = tracemalloc.get_traced_memory()[0] - first
    tracemalloc.stop()
    assert grown < 2000
    assert [sys.getrefcount(array) for array in state] == before


@pytest.mark.parametrize("n", [3, 8, 29])
def test_layouts_that_are_not_contiguous(kernel: Kernel, n: int) -> None:
    states = _states(n, 7)
    expected = kernel(*states)
    _agree(kernel(*(np.asfortranarray(a) for a in states)), expected)
    padded = np.zeros((3, n, 9))
    padded[..., 1:8] = states
    _agree(kernel(*padded[..., 1:8]), expected)
    _agree(kernel(*(a[::-1] for a in states)), expected[::-1])
    _agree(kernel(*(a[:, ::-1][:, ::-1] for a in states)), expected)
    out = np.full((n, 14), np.nan)[:, ::2]
    assert kernel(*states, out=out) is out
    np.testing.assert_array_equal(out, expected)


def test_broadcast_and_conversion(kernel: Kernel) -> None:
    q, qd, qdd = _states(12, 7)
    _agree(kernel(q, qd[0], 0 * qdd[0]), kernel.program(q, qd[0], 0 * qdd[0]))
    _agree(kernel([1] * 7, [0] * 7, [2] * 7), kernel(np.ones(7), np.zeros(7), np.full(7, 2.0)))
    single = q.astype(np.float32)
    _agree(kernel(single, single, single), kernel(*[single.astype(float)] * 3))


def test_results_may_overwrite_the_inputs(kernel: Kernel) -> None:
    q, qd, qdd = _states(13, 7)
    expected = kernel(q, qd, qdd)
    kernel(q, qd, qdd, out=qdd)
    np.testing.assert_array_equal(qdd, expected)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_threads_give_the_same_results(kernel: Kernel, threads: int) -> None:
    states = _states(3, 4001, 7)
    expected = kernel(*states)
    np.testing.assert_array_equal(kernel(*states, threads=threads), expected)
    out = np.empty_like(expected)
    assert kernel(*states, out=out, threads=threads) is out
    np.testing.assert_array_equal(out, expected)
    mixed = states[0], states[1, 0, 0], states[2, :, :1]
    np.testing.assert_array_equal(kernel(*mixed, threads=threads), kernel(*mixed))


@pytest.mark.parametrize("name", ["turned", "flat", "listed", "whole", "frozen", "two"])
def test_threads_refuse_what_one_thread_refuses(kernel: Kernel, name: str) -> None:
    states = _states(8000, 7)
    out = {
        "turned": np.zeros((7, 8000)),
        "flat": np.zeros(8000 * 7),
        "listed": [[0.0] * 7] * 8000,
        "whole": np.zeros((8000, 7), dtype=int),
        "frozen": np.broadcast_to(0.0, (8000, 7)),
        "two": (np.zeros((8000, 7)), np.zeros((8000, 7))),
    }[name]
    for threads in (1, 2):
        with pytest.raises(ShapeError):
            kernel(*states, out=out, threads=threads)


@pytest.mark.parametrize("kind", [complex, str, object])
def test_threads_refuse_other_types_than_numbers(kernel: Kernel, kind: type) -> None:
    q, qd, qdd = _states(8000, 7)
    for threads in (1, 2):
        with pytest.raises(ShapeError):
            kernel(q.astype(kind), qd, qdd, threads=threads)


@pytest.mark.parametrize("threads", [0, -1, 2.5, "2"])
def test_a_number_of_threads_that_is_none_is_refused(kernel: Kernel, threads: object) -> None:
    with pytest.raises(ShapeError, match="threads: expected a positive whole number"):
        kernel(*_states(7), threads=threads)


def test_threads_may_overwrite_the_inputs(kernel: Kernel) -> None:
    """Backwards over itself, where slices would read what others wrote."""
    q, qd, qdd = _states(8000, 7)
    expected = kernel(q[::-1].copy(), qd, qdd)
    np.testing.assert_array_equal(kernel(q[::-1], qd, qdd, out=q, threads=2), expected)


def test_threads_keep_subclasses_and_the_state_of_floating_point(kernel: Kernel) -> None:
    q, qd, qdd = _states(8000, 7)
    assert type(kernel(q.view(np.recarray), qd, qdd, threads=2)) is np.recarray
    q[5000] = np.inf
    for threads in (1, 2):
        with np.errstate(invalid="raise"), pytest.raises(FloatingPointError):
            kernel(q, qd, qdd, threads=threads)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_threads_work_in_forked_processes(kernel: Kernel) -> None:
    states = _states(8000, 7)
    expected = kernel(*states, threads=2)  # which makes the pool of this process

    def compare() -> None:
        np.testing.assert_array_equal(kernel(*states, threads=2), expected)

    child = multiprocessing.get_context("fork").Process(target=compare)
    child.start()
    child.join(60)
    hangs = child.is_alive()
    if hangs:
        child.kill()
    assert not hangs
    assert child.exitcode == 0


@pytest.mark.filterwarnings("ignore:invalid value")
def test_nan_stays_in_its_own_state(kernel: Kernel) -> None:
    states = _states(40, 7)
    expected = kernel(*states)
    states[0, 5, 2] = np.nan
    states[1, 20, 0] = np.inf
    found = kernel(*states)
    spoilt = np.zeros(40, dtype=bool)
    spoilt[[5, 20]] = True
    assert np.isnan(found[5]).any()
    assert not np.isfinite(found[20]).all()
    np.testing.assert_array_equal(found[~spoilt], expected[~spoilt])


def test_huge_angles(kernel: Kernel) -> None:
    q, qd, qdd = _states(30, 7)
    q[::3] *= 1e9
    _agree(kernel(q, qd, qdd), kernel.program(q, qd, qdd))


def test_every_operation_and_kind_of_port() -> None:
    program = every_kind()
    kernel = compile_program(program)
    rng = np.random.default_rng(2)
    p = rng.uniform(0.5, 1.5, 3)
    for n in (1, 5, 8, 19):
        x, y, z = rng.uniform(-2, 2, (n, 3)), rng.uniform(-2, 2, (n, 2, 2)), rng.uniform(-2, 2, n)
        x[0, 1] = 0.0
        for arrays in ((x, y, z), (x[::-1], y[:, ::-1], z[::-1]), (np.asfortranarray(x), y.transpose(0, 2, 1), z)):
            for found, expected in zip(kernel(*arrays, p), program(*arrays, p), strict=True):
                _agree(found, expected)

    np.testing.assert_array_equal(kernel(x, y, z, np.repeat(p, 2)[::2])[0], kernel(x, y, z, p)[0])
    for found, expected in zip(kernel(x[0], y[0], z[0], p), program(x[0], y[0], z[0], p), strict=True):
        _agree(found, expected)


def test_several_outputs_of_one_state() -> None:
    program = sines(3)
    kernel = compile_program(program)
    x = np.array([0.1, 2.0, -3.0])
    found = kernel(x)
    assert type(found) is tuple
    np.testing.assert_allclose(found, program(x), rtol=1e-15)


def test_many_entries_are_stored_in_a_loop() -> None:
    for n in (49, 50, 63):
        kernel = compile_program(elementwise(lambda x: x * 2.0 + x[::-1], n))
        x = np.random.default_rng(0).normal(size=(11, n))
        np.testing.assert_allclose(kernel(x), 2 * x + x[:, ::-1], rtol=1e-15)


def test_constant_results() -> None:
    kernel = compile_program(elementwise(lambda x: np.array([x[0] - x[0], x[0] - x[0] + 2.5], dtype=object)))
    np.testing.assert_array_equal(kernel(np.ones((9, 1))), np.tile([0.0, 2.5], (9, 1)))


def test_long_programs_are_split() -> None:
    program = long_sum(6_000)
    kernel = compile_program(program)
    x = np.random.default_rng(0).uniform(-1, 1, (9, 5))
    for found, expected in zip(kernel(x), program(x), strict=True):
        _agree(found, expected)


def test_pickled_kernels_work(kernel: Kernel) -> None:
    states = _states(5, 7)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(kernel))(*states), kernel(*states))


def test_wrong_input_is_named(kernel: Kernel) -> None:
    q = np.zeros(7)
    with pytest.raises(ShapeError, match=r"qd: expected shape \(..., 7\), got \(6,\)"):
        kernel(q, np.zeros(6), q)
    with pytest.raises(ShapeError, match=r"expected 3 arrays \(q, qd, qdd\), got 2"):
        kernel(q, q)
    with pytest.raises(ShapeError, match="leading dimensions"):
        kernel(np.zeros((3, 7)), np.zeros((4, 7)), q)
    with pytest.raises(ShapeError, match="real numbers"):
        kernel(q + 1j, q, q)
    with pytest.raises(ShapeError, match="threads"):
        kernel(q, q, q, threads=-1)
    with pytest.raises(ShapeError, match=r"p: expected shape \(3,\), the same for all states"):
        compile_program(every_kind())(np.zeros((2, 3)), np.zeros((2, 2, 2)), np.zeros(2), np.zeros((2, 3)))


def test_masked_entries_are_refused() -> None:
    """What a mask hides is no number: neither kernels nor any tier compute with it."""
    robot, states = tf.load("two_link"), [np.ma.masked_array(np.zeros(2), [False, True]), np.zeros(2), np.zeros(2)]
    with pytest.raises(ShapeError, match="q: expected numbers"):
        tf.compile(robot)(*states)
    for tier in (1, 2):
        with pytest.raises(ShapeError, match="q: expected numbers"):
            tf.inverse_dynamics(robot, *states, tier=tier)
        with pytest.raises(ShapeError, match="q: expected numbers"):
            tf.inverse_dynamics(robot, ["0", "1"], *states[1:], tier=tier)
    with pytest.raises(ShapeError, match="gravity: expected numbers"):
        robot.with_gravity(np.ma.masked_array(np.zeros(3), [False, False, True]))
