"""Log files that the tests write: a good log of a robot, and what can be changed about it."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io

import tauform as tf

ROBOT = "two_link"
# Options that keep the fits of these logs quick.
PLAIN = ("--friction", "plain", "--no-couplings")


@cache
def log() -> dict[str, np.ndarray]:
    """A good log: t, q, tau and qd of ten seconds."""
    t = np.arange(0, 10, 0.01)
    w = np.array([[1.3, 2.1], [3.7, 4.9], [6.1, 7.3]])
    phase = np.multiply.outer(t, w)
    q, qd, qdd = (x.sum(axis=1) for x in (np.sin(phase) / w, np.cos(phase), -w * np.sin(phase)))
    noise = 0.05 * np.random.default_rng(0).normal(size=q.shape)
    return {"t": t, "q": q, "tau": tf.inverse_dynamics(tf.load(ROBOT), q, qd, qdd) + noise, "qd": qd}


def table(path: Path, *, header: str | None = None, sep: str = ",", velocities: bool = False, **changed: Any) -> Path:
    """A CSV of the log with some of its arrays replaced."""
    columns = {**log(), **changed}
    names, values = ["t"], [columns["t"]]
    for field in ("q", "tau", "qd") if velocities else ("q", "tau"):
        names += [f"{field}{k + 1}" for k in range(columns[field].shape[1])]
        values += list(columns[field].T)
    np.savetxt(path, np.column_stack(values), delimiter=sep, header=header or sep.join(names), comments="", fmt="%.12g")
    return path


def edited(path: Path, line: int, text: str) -> Path:
    lines = table(path).read_text().splitlines()
    path.write_text("\n".join([*lines[: line - 1], text, *lines[line:]]))
    return path


def put(values: np.ndarray, place: Any, value: float) -> np.ndarray:
    changed = values.copy()
    changed[place] = value
    return changed


def later(seconds: float) -> np.ndarray:
    t = log()["t"]
    return np.column_stack([np.interp(t - seconds, t, column) for column in log()["tau"].T])


def arrays(path: Path, writer: Callable[..., Any] = np.savez, **changed: Any) -> Path:
    content = {name: log()[name] for name in ("t", "q", "tau")} | changed
    writer(path, content) if writer is scipy.io.savemat else writer(path, **content)
    return path


def cut(path: Path, count: int) -> Path:
    path.write_bytes(path.read_bytes()[:count])
    return path


def endless_line(path: Path) -> Path:
    """Gigabytes of zeros that take no room on the disk."""
    path.touch()
    os.truncate(path, 4 << 30)
    return path


def raw(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def parquet(path: Path, **changed: Any) -> Path:
    pyarrow = pytest.importorskip("pyarrow")
    columns = {"t": log()["t"], "q1": log()["q"][:, 0], "q2": log()["q"][:, 1]}
    columns |= {"tau1": log()["tau"][:, 0], "tau2": log()["tau"][:, 1]}
    pytest.importorskip("pyarrow.parquet").write_table(pyarrow.table(columns | changed), path)
    return path
