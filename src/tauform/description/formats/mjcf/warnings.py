"""Warnings of MuJoCo, which it would print and write to MUJOCO_LOG.TXT in the user's folder."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_warnings() -> Iterator[None]:
    """Let MuJoCo keep silent, if it is imported: what matters of its warnings we find and say ourselves."""
    mujoco = sys.modules.get("mujoco")
    if mujoco is None:
        yield
        return
    handler = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(lambda _: None)
    try:
        yield
    finally:
        mujoco.set_mju_user_warning(handler)
