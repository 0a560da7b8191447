"""Figures of the papers that show times, as ratios measured side by side: Lloyd2021 4 to 6, Safeea2018 4."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import tauform as tf
from benchmarks import c_candidates
from tools.measuring.c_timing import time_c
from tools.measuring.timing import Row, side_by_side
from tools.paper_figures import CHAIN_SIZES, random_chain

TITLE = (
    "Lloyd2021 Figure 4: derivation of the first n joints, beside the paper's own search (`tf.derive_from`; to three "
    "joints) and its time in Table 2. Figures 5 and 6: one call of inverse dynamics in C, closed form and recursive "
    "program, beside Pinocchio's Newton-Euler in C++. Safeea2018 Figure 4: the mass matrix of random chains in NumPy, "
    "64 states, GDAHJ beside CRBA, kinematics counted on both sides."
)
PAPER_SECONDS = {"kr6_r700": 5.3, "lbr7": 88.0}
MANIPULATORS = ("kr6_r700", "lbr7", "sr6ia", "two_link")
MOST_SEARCHED = 3
N_STATES = 64


def rows() -> Iterator[Row]:
    """One figure after the other."""
    for name in PAPER_SECONDS:
        yield from derivations(name)
    for name in MANIPULATORS:
        yield from evaluations(f"Lloyd2021 5, {name}", tf.load(name))
    for n in range(2, 7):
        yield from evaluations(f"Lloyd2021 6, first {n} joints of lbr7", first_joints("lbr7", n))
    for n in CHAIN_SIZES:
        yield mass_matrices(n)


def first_joints(name: str, n: int) -> tf.Robot:
    """The chain of the first n links."""
    robot = tf.load(name)
    return robot.up_to(robot.links[n - 1].name)


def derivations(name: str) -> Iterator[Row]:
    """Lloyd2021, Figure 4."""
    whole = tf.load(name).n_joints
    for n in range(2, whole + 1):
        robot = first_joints(name, n)
        functions = {"ours": partial(tf.derive, robot)}
        if n <= MOST_SEARCHED:
            functions["theirs"] = partial(_searched, robot)
        seconds = side_by_side(functions, repeats=3, least_sample=0.001, clock=time.process_time)
        peer, words = seconds.get("theirs"), "the paper's search, in NumPy" if n <= MOST_SEARCHED else "-"
        if n == whole:
            peer, words = PAPER_SECONDS[name], "Lloyd2021 Table 2 (MATLAB, i7 3.2 GHz)"
        model = tf.derive(robot)
        note = f"{model.n_terms} terms, {model.n_base} base parameters"
        yield Row(f"Lloyd2021 4, first {n} joints of {name}", seconds["ours"], peer, words, note=note)


def _searched(robot: tf.Robot) -> object:
    links = list(robot.layout.columns_of("link"))

    def torque(q: object, qd: object, qdd: object, x: object) -> object:
        return tf.textbook.regressor(robot, q, qd, qdd, include=["link"]) @ x  # type: ignore[arg-type]

    return tf.derive_from(torque, robot, len(links))


def evaluations(what: str, robot: tf.Robot) -> Iterator[Row]:
    """Lloyd2021, Figures 5 and 6: closed form and recursion, one call in C."""
    # The arm without drives: Pinocchio's is.
    robot = robot.rigid
    for algorithm in ("factored", "auto"):
        source = tf.derive(robot).bind(robot) if algorithm == "factored" else robot
        program = tf.generate(source, "inverse_dynamics", algorithm=algorithm)
        with TemporaryDirectory() as folder:
            tf.write_c(program, Path(folder) / "ours", name="ours")
            candidates = [c_candidates.ours(program, Path(folder) / "ours"), c_candidates.pinocchio(robot, program)]
            timed = time_c(candidates, c_candidates.states(program, N_STATES), robot.n_joints, rounds=2000)
        ours, theirs = timed["ours"], timed["Pinocchio C++"]
        kind = "closed form" if algorithm == "factored" else "recursive program"
        note = (
            f"{program.n_operations} operations; agree to {c_candidates.disagreement(ours.outputs, theirs.outputs):.0e}"
        )
        yield Row(f"{what}, {kind}", ours.seconds, theirs.seconds, "Pinocchio C++", note=note)


def mass_matrices(n: int) -> Row:
    """Safeea2018, Figure 4."""
    robot, q = random_chain(n), np.random.default_rng(n).uniform(-np.pi, np.pi, (N_STATES, n))
    functions = {m: partial(tf.textbook.mass_matrix, robot, q, method=m) for m in ("gdahj", "crba")}
    # Time of this process: work in Python outlasts the gaps that other work leaves.
    seconds = side_by_side(functions, repeats=30, least_sample=0.005, clock=time.process_time)
    return Row(f"Safeea2018 4, {n} joints", seconds["gdahj"], seconds["crba"], "CRBA, in link frames")
