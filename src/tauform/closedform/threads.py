"""Small linear algebra on one thread."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import cache, wraps
from typing import Any, ParamSpec, TypeVar

from threadpoolctl import ThreadpoolController

P = ParamSpec("P")
T = TypeVar("T")


def one_blas_thread() -> AbstractContextManager[Any]:
    """BLAS on one thread: on matrices of a few hundred columns more threads only wait for one another."""
    return _controller().limit(limits=1, user_api="blas")


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
