"""KUKA LBR7: generate C, self-test it, and call it from a C main that runs at 1 kHz.

The main (`examples/05_lbr7_in_c.c`) computes the torques of a moving reference in every cycle and prints how long the
slowest one took; its torques are then compared with ours. Without a C compiler the files are only written.
Run with `python examples/05_lbr7_in_c.py [--plot FILE]`.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import tauform as tf
from tauform.arrays import Array

CYCLES = 200  # of 1 ms
MAIN = Path(__file__).with_suffix(".c")


def run(folder: Path, compiler: str) -> Array:
    """Compile our files with the main, run it, and return what it printed: (cycles, 1 + 7), seconds and torques."""
    subprocess.run(["make", "-s", "-C", str(folder), "check", f"CC={compiler}"], check=True)
    flags = ["-std=c99", "-O3", "-Wall", "-Wextra", "-Werror", f"-I{folder}"]
    program = folder / "loop"
    subprocess.run([compiler, *flags, str(MAIN), str(folder / "lbr7.c"), "-o", str(program), "-lm"], check=True)
    done = subprocess.run([str(program), str(CYCLES)], check=True, capture_output=True, text=True)
    return np.array([line.split() for line in done.stdout.splitlines()], dtype=float)


def reference(t: Array) -> tuple[Array, Array, Array]:
    """The same sines as in the main."""
    w = 1 + 0.25 * np.arange(7)
    phase = 4 * t[:, None] * w
    return np.sin(phase), 4 * w * np.cos(phase), -((4 * w) ** 2) * np.sin(phase)


def plot(path: str, seconds: Array, torques: Array) -> None:
    """Torques over time, and how long their computation took."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 3), layout="constrained")
    torque, duration = figure.subplots(1, 2)
    torque.plot(1e-3 * np.arange(len(torques)), torques)
    torque.set(xlabel="t [s]", title="feed-forward torque [N m]")
    duration.semilogy(1e6 * seconds, ".")
    duration.set(xlabel="cycle", title="computation [µs] of 1000 µs")
    figure.savefig(path, metadata={"Date": None})


def main(plot_file: str | None = None) -> int:
    """Write, test and run the C; the exit code says whether its torques are those of Newton-Euler."""
    robot = tf.load("lbr7")
    program = tf.generate(robot, "inverse_dynamics")
    print(program)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "lbr7"
        files = tf.write_c(program, folder)
        print("wrote", ", ".join(file.name for file in files))
        compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
        if compiler is None or shutil.which("make") is None:
            print("no C compiler and make here: the files are written, not run")
            return 0
        printed = run(folder, compiler)
    expected = tf.inverse_dynamics(robot, *reference(1e-3 * np.arange(CYCLES)))
    error = np.abs(printed[:, 1:] - expected).max() / np.abs(expected).max()
    middle, slowest = 1e6 * np.median(printed[:, 0]), 1e6 * printed[:, 0].max()
    print(f"{CYCLES} cycles: {middle:.2f} µs in the middle, {slowest:.2f} µs at most, torques to {error:.1e}")
    if plot_file:
        plot(plot_file, printed[:, 0], printed[:, 1:])
    return 0 if error < 1e-12 else 1


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plot", metavar="FILE")
    sys.exit(main(parser.parse_args().plot))
