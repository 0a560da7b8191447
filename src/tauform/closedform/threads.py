"""Small linear algebra on one thread."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, wraps
from threading import Lock
from typing import Any, ParamSpec, TypeVar

from threadpoolctl import ThreadpoolController

P = ParamSpec("P")
T = TypeVar("T")


class _Limit:
    """The limit belongs to the process: the first who enters sets it, the last who leaves lifts it."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.depth = 0
        self.limiter: Any = None

    def enter(self) -> None:
        with self.lock:
            if self.depth == 0:
                self.limiter = _controller().limit(limits=1, user_api="blas")
            self.depth += 1

    def leave(self) -> None:
        with self.lock:
            self.depth -= 1
            if self.depth == 0:
                self.limiter.restore_original_limits()


_LIMIT = _Limit()
if hasattr(os, "register_at_fork"):
    # not while another thread is between both lines: nobody would release the lock in the new process
    os.register_at_fork(
        before=_LIMIT.lock.acquire, after_in_parent=_LIMIT.lock.release, after_in_child=_LIMIT.lock.release
    )


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """BLAS on one thread: on matrices of a few hundred columns more threads only wait for one another."""
    _LIMIT.enter()
    try:
        yield
    finally:
        _LIMIT.leave()


def on_one_thread(function: Callable[P, T]) -> Callable[P, T]:
    """The function with BLAS on one thread."""

    @wraps(function)
    def run(*args: P.args, **options: P.kwargs) -> T:
        with one_blas_thread():
            return function(*args, **options)

    return run


@cache
def _controller() -> ThreadpoolController:
    """Made once: it looks through all loaded libraries, which takes longer than a small derivation."""
    return ThreadpoolController()
