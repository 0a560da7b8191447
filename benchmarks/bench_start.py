"""How long a program waits before it can compute: imports, the command line, and the first robot."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec

from tools.measuring.timing import Row

TITLE = "Processor seconds of a fresh Python, less those of one that does nothing; least of several."
PEERS = ("pinocchio", "casadi", "mujoco", "roboticstoolbox", "frax", "adam.jax")
REPEATS = 5
ALLOWED = 0.3  # seconds
FIRST = "import tauform as tf; robot = tf.load('kr6_r700'); tf.inverse_dynamics(robot, *[[0.1] * 6] * 3)"
KERNEL = "import tauform as tf; tf.compile(tf.load('kr6_r700'), 'inverse_dynamics')(*[[0.1] * 6] * 3)"


def rows() -> Iterator[Row]:
    """Ours, then what other tools take to import."""
    nothing = _seconds("pass")
    ours = _seconds("import tauform") - nothing
    yield Row("import tauform", ours, ALLOWED, "allowed")
    for peer in PEERS:
        if find_spec(peer.split(".")[0]) is None:
            yield Row("import tauform", ours, None, f"import {peer}", note="not installed")
        else:
            yield Row("import tauform", ours, _seconds(f"import {peer}", repeats=2) - nothing, f"import {peer}")
    yield Row("import, load the KR6, torques of one state", _seconds(FIRST) - nothing, None, "-")
    yield Row("the same by a kernel, its machine code kept from before", _seconds(KERNEL) - nothing, None, "-")
    command = "import sys; from tauform.cli import main; sys.exit(main(['show', 'kr6_r700']))"
    yield Row("tauform show kr6_r700", _seconds(command) - nothing, None, "-")


def _seconds(code: str, repeats: int = REPEATS) -> float:
    """Least processor seconds of a process, its own and the system's."""
    report = (
        "import atexit, resource\natexit.register(lambda: print(sum(resource.getrusage(resource.RUSAGE_SELF)[:2])))\n"
    )
    least = float("inf")
    for _ in range(repeats):
        done = subprocess.run([sys.executable, "-c", report + code], capture_output=True, text=True, check=True)
        least = min(least, float(done.stdout.split()[-1]))
    return least
