"""Searches on workers: the same result as here, whoever finishes first."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tauform as tf


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """A scheduler with two workers, threads of this process: tasks are pickled as for any other."""
    distributed = pytest.importorskip("distributed")
    options = {"threads_per_worker": 1, "dashboard_address": "127.0.0.1:0", "silence_logs": 50}
    with (
        distributed.LocalCluster(n_workers=2, processes=False, protocol="tcp://", **options) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def test_reductions_from_many_starts(client: Any) -> None:
    options: dict[str, Any] = {"tolerance": 0.02, "n_fresh": 20_000, "routes": ("velocity", "operations")}
    robot = tf.load("two_link")
    alone = [tf.reduce(robot, seed=seed, **options).program.n_operations for seed in (3, 4, 5)]
    here = tf.reduce(robot, seed=3, n_starts=3, **options)
    there = tf.reduce(robot, seed=3, n_starts=3, client=client, **options)
    assert there.program.n_operations == here.program.n_operations
    assert there.program.instructions == here.program.instructions
    assert here.program.n_operations in alone
    # What holds on fresh states is no dearer than the dearest search.
    assert min(alone) <= here.program.n_operations <= max(alone)
    with pytest.raises(tf.errors.ModelError, match="n_starts"):
        tf.reduce(robot, n_starts=0)


def test_motions_from_many_starts(client: Any) -> None:
    options: dict[str, Any] = {"harmonics": 3, "duration": 4.0, "n_starts": 4, "max_seconds": math.inf, "seed": 2}
    options |= {"velocity": 2.0, "acceleration": 6.0, "position": ([-2, -2], [2, 2])}
    here = tf.excite(tf.load("two_link"), **options)
    told: list[float] = []
    there = tf.excite(tf.load("two_link"), client=client, progress=told.append, **options)
    np.testing.assert_array_equal(there.q, here.q)
    assert there.condition == here.condition
    assert told[-1] == 1.0
