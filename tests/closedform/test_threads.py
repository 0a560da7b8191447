"""The limit of BLAS threads: it belongs to the process, so whoever leaves first must not decide for the others."""

from __future__ import annotations

from threading import Barrier, Thread

import scipy.linalg  # noqa: F401  it brings a BLAS of its own
from threadpoolctl import threadpool_info, threadpool_limits

import tauform as tf
from tauform.closedform.threads import one_blas_thread


def blas_threads() -> dict[str, int]:
    """Threads of each library; some that other packages bring know one thread only."""
    return {lib["filepath"]: lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"}


def test_threads_of_blas_are_given_back_whoever_leaves_first() -> None:
    with threadpool_limits(2, "blas"):
        before = blas_threads()
        first, second = one_blas_thread(), one_blas_thread()
        first.__enter__()
        limited = blas_threads()
        assert limited != before
        second.__enter__()
        first.__exit__(None, None, None)
        assert blas_threads() == limited
        second.__exit__(None, None, None)
        assert blas_threads() == before


def test_derivations_at_once_give_back_the_threads_of_blas() -> None:
    robot, barrier = tf.planar_chain(3), Barrier(3)

    def work() -> None:
        barrier.wait()
        for _ in range(10):
            tf.derive(robot)

    with threadpool_limits(2, "blas"):
        before = blas_threads()
        assert 2 in before.values()
        workers = [Thread(target=work) for _ in range(3)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        assert blas_threads() == before
