"""What tauform generates, searches, selects and saves, as digests: run by processes that stand for other machines.

python tests/machines/artefacts.py NAME...    prints one JSON object, name of an artefact -> digest of its bytes
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

import tauform as tf
from tauform.codegen.backends.llvm import module
from tauform.codegen.backends.registry import TARGETS
from tauform.identification.motion.trajectory import Basis, Trajectory
from tauform.realtime.online.programs import NAMES
from tools.arms import ARMS
from tools.arms import arm as bare_arm
from tools.real_robots import urdf

# Name and bytes of an artefact.
Artefact = tuple[str, bytes]
SNAP = 1e-5
FUNCTIONS = ("inverse_dynamics", "mass_matrix", "forward_dynamics", "gravity_torque", "base_regressor")


def xarm7_as_written() -> Iterator[Artefact]:
    """Axes that are off by microradians, friction and all: where the last bits decided most."""
    robot = tf.load(urdf("xarm7"), tip="link7")
    yield from folder("inverse dynamics", lambda path: tf.write_c(tf.generate(robot), path))
    yield "base", str(tf.base_parameters(robot)).encode()


def descriptions() -> Iterator[Artefact]:
    """Robot files, written anew: frames as roll, pitch and yaw, inertias moved between frames."""
    for robot in (tf.load(urdf("panda"), snap=SNAP), tf.load("kr6_r700"), tf.random_robot("RPRRR", 5, branching=0.5)):
        yield from folder(f"{robot.name} toml", lambda path, robot=robot: robot.save(made(path) / "robot.toml"))
        yield from folder(f"{robot.name} urdf", lambda path, robot=robot: robot.save(made(path) / "robot.urdf"))


def base_parameters() -> Iterator[Artefact]:
    """Selections of base parameters, by each method and source."""
    for robot in (tf.load("sr6ia"), tf.random_robot("RRPR", 3), parallelogram()):
        for method in ("qr", "qr_pivoted", "svd"):
            base = tf.base_parameters(robot, method=method)
            yield f"{robot.name} {method}", str(base).encode() + base.grouping.tobytes()
        for source in ("velocity_free", "energy"):
            yield f"{robot.name} {source}", tf.base_parameters(robot, source=source).grouping.tobytes()


def closed_forms() -> Iterator[Artefact]:
    """Saved models, bound numbers, equations."""
    for robot in (tf.load("kr6_r700"), tf.random_robot("RPR", 1)):
        model = tf.derive(robot)
        yield from folder(f"{robot.name} saved", lambda path, model=model: model.save(made(path) / "model.npz"))
        bound = model.bind(robot)
        yield f"{robot.name} bound", bound.coefficients.tobytes() + bound.theta.tobytes()
        yield (
            f"{robot.name} fixed",
            tf.derive(robot, fixed={robot.joint_names[1]: 0.7}).bind(robot).coefficients.tobytes(),
        )
    planar = tf.derive(tf.load("two_link"))
    yield "equations", "\n".join(planar.equations() + planar.bind(tf.load("two_link")).equations()).encode()
    yield "echelon", planar.echelon().P.tobytes() + planar.echelon().B.tobytes()


def programs() -> Iterator[Artefact]:
    """C of a chain, a tree and a loop, of run-time parameters, and of a factored closed form."""
    made_of = {
        "chain": tf.generate(tf.load("sr6ia"), "forward_dynamics"),
        "tree": tf.generate(tf.random_robot("RRP", 2, branching=0.6), "mass_matrix"),
        "loop": tf.generate(parallelogram(), "gravity_torque"),
        "run-time parameters": tf.generate(tf.load("two_link"), parameters="runtime", payload="runtime"),
        "factored": tf.generate(tf.load("two_link"), algorithm="factored"),
    }
    for name, program in made_of.items():
        yield from folder(name, lambda path, program=program: tf.write_c(program, path))


def targets() -> Iterator[Artefact]:
    """One arm with friction that bends, in every language, and what it learns on line."""
    robot = tf.load("two_link")
    robot = robot.with_drives([*robot.drives, tf.Drive.of("stribeck", joints=0, coefficient=0.7, width=0.03)])
    calls = ("mass_matrix", "velocity_torque", "gravity_torque", "friction", "forward_dynamics", "inverse_dynamics")
    arm = [tf.generate(robot, function) for function in calls]
    for target in TARGETS:
        yield from folder(target, lambda path, target=target: tf.write(arm, path, target=target, name="arm"))
    learning = [tf.online_program(robot, name) for name in NAMES]
    yield from folder("on line", lambda path: tf.write_c(learning, path, name="arm"))


def reduced() -> Iterator[Artefact]:
    """Programs with less in them, by each route, on any number of threads."""
    yield from _reduced(tf.load("two_link"), ("inverse_dynamics",), 20_000)


def multirate() -> Iterator[Artefact]:
    """Both tasks and what is predicted of them."""
    robot = tf.load("sr6ia")
    for friction in ("background", "synchronous"):
        split = tf.multirate(robot, friction)
        yield from folder(f"{friction} tasks", split.write_c)
    profile = tf.Profile.harmonic(np.zeros(4), np.ones(4), np.full(4, 5.0), n_states=500)
    prediction = split.predict(profile, tf.Rates(control=1e-3, background=1e-2))
    yield "prediction", str(prediction).encode()


def fits() -> Iterator[Artefact]:
    """Decisions of an identification; its numbers, to six digits."""
    robot = tf.random_robot("RRR", 7)
    basis = Basis.fourier(8.0, 5, 100.0)
    amplitudes = np.random.default_rng(0).uniform(-0.4, 0.4, (3, basis.n))
    states = [(amplitudes @ values).T for values in (basis.values, basis.rates, basis.accelerations)]
    motion = Trajectory(basis.t, *states, robot.joint_names)
    recording = tf.simulated_recording(robot, motion, np.random.default_rng(0), torque_noise=0.05)
    fit = tf.identify(robot, recording)
    for name, found in (("all", fit), ("reduced", fit.reduced())):
        numbers = [f"{label} {value:.6g}" for label, value in zip(found.names, found.theta, strict=True)]
        yield name, "\n".join(numbers).encode()


def arms() -> Iterator[Artefact]:
    """Every arm of the benchmarks, frames snapped and as written."""
    for name in ARMS:
        for snap in (SNAP, None):
            robot = bare_arm(name, snap)
            place = f"{name} {'as written' if snap is None else 'snapped'}"
            for function in FUNCTIONS:
                program = tf.generate(robot, function)
                yield from folder(f"{place} {function}", lambda path, program=program: tf.write_c(program, path))
            yield f"{place} base", str(tf.base_parameters(robot)).encode()
            yield f"{place} closed form", tf.derive(robot).bind(robot).coefficients.tobytes()


def reduced_arms() -> Iterator[Artefact]:
    """Every function that can be reduced, of an arm of the paper each."""
    yield from _reduced(tf.load("kr6_r700"), ("inverse_dynamics", "gravity_torque"), 100_000)
    yield from _reduced(tf.load("sr6ia"), ("mass_matrix", "forward_dynamics"), 100_000)


def _reduced(robot: tf.Robot, functions: tuple[str, ...], n_fresh: int) -> Iterator[Artefact]:
    threads = int(os.environ.get("OMP_NUM_THREADS", "1"))
    for function in functions:
        reduction = tf.reduce(robot, "slow", 0.02, function=function, n_fresh=n_fresh, threads=threads)
        yield f"{robot.name} {function} routes", str(reduction).encode()
        program = reduction.program
        yield from folder(f"{robot.name} {function}", lambda path, program=program: tf.write_c(program, path))


def arithmetic() -> Iterator[Artefact]:
    """What differs between machines: products of BLAS, and sines of the C library."""
    A = np.random.default_rng(0).normal(size=(60, 60))
    yield "BLAS", (A @ A).tobytes()
    yield "C library", np.array([math.sin(x) for x in np.linspace(0, 50, 30_000).tolist()]).tobytes()
    yield "hash", str(hash("joint1")).encode()


def parallelogram() -> tf.Robot:
    """A loop: the third joint of four follows the second."""
    robot = tf.random_robot("RRRR", 11, industrial=True)
    return robot.with_relations({"joint3": {"joint2": -1.0}})


def made(path: Path) -> Path:
    """The folder, made."""
    path.mkdir(parents=True, exist_ok=True)
    return path


def folder(name: str, write: Callable[[Path], object]) -> Iterator[Artefact]:
    """Every file that is written into a folder."""
    with tempfile.TemporaryDirectory() as place:
        write(Path(place) / "out")
        for path in sorted((Path(place) / "out").rglob("*")):
            if path.is_file():
                yield f"{name}: {path.name}", path.read_bytes()


SETS: dict[str, Callable[[], Iterator[Artefact]]] = {
    made_by.__name__: made_by
    for made_by in (
        *(
            arithmetic,
            xarm7_as_written,
            descriptions,
            base_parameters,
            closed_forms,
            programs,
            targets,
            reduced,
            multirate,
        ),
        *(fits, arms, reduced_arms),
    )
}


def main(names: list[str]) -> None:
    """Print the digests of some sets; KERNELS_FOR names the processor that kernels are compiled for, as LLVM does."""
    if processor := os.environ.get("KERNELS_FOR"):
        module.host()  # LLVM gets ready
        module.host = lambda: (processor, "")  # none of the features that this one may have beyond
    digests = {
        f"{name}: {what}": hashlib.sha256(content).hexdigest()[:16] for name in names for what, content in SETS[name]()
    }
    json.dump(digests, sys.stdout, indent=1)


if __name__ == "__main__":
    main(sys.argv[1:] or list(SETS))
