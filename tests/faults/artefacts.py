"""Everything that tauform writes, each in two versions, and how to tell a whole one from a damaged one."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

import tauform as tf
from fleet.simulated_fleet import arm, samples
from fleet.simulated_fleet import write as write_log
from tauform.cli.verbs.equations import linearize
from tauform.codegen.backends.registry import TARGETS, backend
from tauform.codegen.minimal.problem import has_friction
from tauform.codegen.runtime.cache import cached
from tauform.files.checks import check_folder
from tauform.files.manifest import JOURNAL, foreign_files, read_manifest
from tauform.fleet.evidence.condensed import Plan, UnitLogs, Window
from tauform.fleet.evidence.store import Store
from tauform.fleet.progress import Progress
from tauform.identification.motion.trajectory import Trajectory
from tauform.identification.regression.evidence import Evidence
from tauform.report.figures import reduction
from tauform.studio.project import Project

KERNEL = f"{sha256(b'key').hexdigest()}.kernel"
GRAVITY = (0.0, -9.81, 0.0)  # a URDF has no place for it
# Figures name the time at which they were made, and draw random numbers, unless these are set.
os.environ["SOURCE_DATE_EPOCH"] = "0"
matplotlib.rcParams["svg.hashsalt"] = "tauform"

Write = Callable[[Path, int], Any]


@dataclass(frozen=True)
class Artefact:
    """A file or folder that is written.

    Attributes:
        name: what it is.
        path: where, in the folder that `write` is given.
        write: writes one of two versions, over what is there.
        notes: whether a file of somebody else stands in the folder, so that it cannot be exchanged as a whole.
        appears: whether it may be absent, for it is not there before.
        takes_long: whether most of the time is spent before the first byte is written.
    """

    name: str
    path: str
    write: Write
    notes: bool = False
    appears: bool = False
    takes_long: bool = False

    @property
    def is_folder(self) -> bool:
        """Whether it is a folder with a list of its files."""
        return "." not in self.path

    def prepare(self, place: Path) -> None:
        """Write the first version, and what others put beside it."""
        if not self.appears:
            self.write(place, 0)
        if self.notes:
            (place / self.path / "notes.txt").write_text("mine")

    def fault(self, place: Path, versions: list[bytes]) -> str:
        """What is wrong with it, as a killed process left it: "missing", "damaged", or nothing.

        Args:
            versions: of a file, those that are whole.
        """
        target = place / self.path
        if not target.exists():
            return "" if self.appears else "missing"
        if not self.is_folder:
            return "" if target.read_bytes() in versions else "damaged"
        if self.notes and (target / "notes.txt").read_text() != "mine":
            return "damaged"
        if (target / JOURNAL).exists():  # what is not there yet is on its way
            check_folder(target, force=True)
        return "" if _is_whole(target, {"notes.txt"} if self.notes else set()) else "damaged"

    def strays(self, place: Path) -> list[str]:
        """Hidden files that were left there."""
        return [str(path) for path in place.rglob(".tauform-*")]


def _is_whole(folder: Path, others: set[str]) -> bool:
    manifest = read_manifest(folder)
    return (
        manifest is not None
        and set(foreign_files(folder)) == others
        and all((folder / name).is_file() for name in manifest.files)
    )


def artefacts() -> list[Artefact]:
    """All of them."""
    return [
        Artefact("robot.toml", "robot.toml", lambda place, v: robot(v).save(place / "robot.toml")),
        Artefact("robot.urdf", "robot.urdf", lambda place, v: robot(v).save(place / "robot.urdf")),
        Artefact("URDF of a fit, over its source", "source.urdf", _write_urdf),
        Artefact("closed form .npz", "model.npz", lambda place, v: closed_form(v).save(place / "model.npz")),
        Artefact("fit .npz", "fit.npz", lambda place, v: fit(v).save(place / "fit.npz")),
        Artefact("fit .json", "fit.json", lambda place, v: fit(v).save(place / "fit.json")),
        Artefact("fit report", "fit.html", lambda place, v: fit(v).report(place / "fit.html")),
        Artefact("motion .csv", "motion.csv", lambda place, v: motion(v).save_csv(place / "motion.csv")),
        Artefact("simulated .csv", "rollout.csv", lambda place, v: rollout(v).save_csv(place / "rollout.csv")),
        *(_motion_figure(ending) for ending in ("html", "png", "svg", "pdf")),
        Artefact("linear model .npz", "linear.npz", _write_linear),
        Artefact("kernel", KERNEL, _write_kernel, appears=True),
        Artefact("folder of C", "c", _write_c),
        Artefact("folder of C, new", "c", _write_c, appears=True),
        Artefact("folder of C with notes", "c", _write_c, notes=True),
        Artefact("folder of C of a fit", "fit_c", lambda place, v: fit(v).write_code(place / "fit_c"), takes_long=True),
        Artefact("folder of C of two tasks", "split_c", lambda place, v: split(v).write_c(place / "split_c")),
        Artefact("folder of C as loops", "loops_c", _write_loops),
        *(_folder_of(target) for target in sorted(set(TARGETS) - {"c"})),
        Artefact("folder of figures", "figures", _add_figures),
        Artefact("folder of a fleet", "fleet", lambda place, v: fleet(v).save(place / "fleet")),
        Artefact("checkpoint of a fleet", "checkpoint.npz", _write_checkpoint),
        Artefact("counters of a fleet", "fleet.prom", _write_counters),
        Artefact("file dropped onto the studio", "arm.urdf", _write_dropped),
        Artefact("folder of a model", "out", lambda place, v: whole(v).write(place / "out")),
    ]


@cache
def robot(version: int) -> tf.Robot:
    """The same arm with links of another mass."""
    arm = tf.load("two_link", gravity=GRAVITY)
    return arm.with_parameters(np.asarray(arm.parameters) * (1 + version))


@cache
def motion(version: int) -> Trajectory:
    """A swing of both joints."""
    t, rate = np.arange(0.0, 5.0, 0.01), np.array([2.0, 3.1]) * (1 + 0.1 * version)
    phase = np.outer(t, rate)
    return Trajectory(t, np.sin(phase), rate * np.cos(phase), -(rate**2) * np.sin(phase), robot(version).joint_names)


@cache
def rollout(version: int) -> tf.Motion:
    """A fall of both joints."""
    return tf.simulate(robot(version), [0.3, 0.2 + 0.1 * version], None, None, 0.5)


@cache
def fit(version: int) -> tf.Fit:
    """A fit of physically consistent links, so that it can be written as a URDF at once."""
    measured = tf.simulated_recording(robot(version), motion(version), np.random.default_rng(0), torque_noise=0.1)
    return tf.identify(robot(version), measured, friction="plain", couplings=None).physically_consistent()


@cache
def closed_form(version: int) -> tf.ClosedFormModel:
    """The arm's closed form, with friction and without."""
    return tf.derive(robot(version), include=("link",) if version else ("link", "viscous"))


@cache
def programs(version: int, target: str = "c") -> list[tf.Program]:
    """Two functions of the arm, or those that the target's interface calls."""
    names = [name for name in backend(target).functions if name != "friction" or has_friction(robot(version))]
    return [tf.generate(robot(version), name) for name in names or ("inverse_dynamics", "gravity_torque")]


@cache
def split(version: int) -> tf.MultiRate:
    """Two tasks."""
    return tf.multirate(robot(version))


@cache
def fleet(version: int) -> tf.FleetFit:
    """Two units; those of the second version carry a payload."""
    with tempfile.TemporaryDirectory() as folder:
        for k in range(2):
            unit = arm(k, payload=1.0) if version else arm(k)
            write_log(Path(folder) / f"unit{k}.csv", samples(unit, k, seconds=6.0))
        return tf.identify_fleet(robot(0), folder, workers=0, sample=1)


@cache
def unit_logs(version: int) -> tuple[Plan, UnitLogs]:
    """What a store keeps of a unit."""
    plan = Plan.of(fleet(0).pooled, robot(0), {})
    window = Window(0.0, 6.0, 0.02, 300, _evidence(plan, version), ("1|1|a.csv",), (1,))
    return plan, UnitLogs("unit", (window,) * (1 + version), ())


def _evidence(plan: Plan, version: int) -> Evidence:
    n, p = plan.shape
    triangles = np.full((1, n, p + 1, p + 1), 1.0 + version)
    return Evidence(triangles, np.array([300]), (0,), np.ones((n, p)), np.ones(n))


@cache
def whole(version: int) -> tf.RobotModel:
    """What `tauform model` makes."""
    return tf.model_robot(robot(version), functions=("gravity_torque",), tolerance=None)


def _write_c(place: Path, version: int) -> None:
    tf.write_c(programs(version), place / "c", force=(place / "c" / "notes.txt").exists())


def _write_loops(place: Path, version: int) -> None:
    tf.write_c([looped(version)], place / "loops_c")


@cache
def looped(version: int) -> tf.LoopedProgram:
    """Loops over bodies in place of a straight line."""
    return tf.generate_loops(robot(version), "inverse_dynamics")


def _write_counters(place: Path, version: int) -> None:
    counts = Progress(10 + version, print, place / "fleet.prom")
    # The same whenever it is written.
    counts.write({f"more_{k}": k for k in range(2000)} | {"elapsed_seconds": version})


def _write_urdf(place: Path, version: int) -> None:
    source = place / "source.urdf"
    if not source.exists():
        robot(version).save(source)
    # The comment of the copy before would stand in this one too.
    (place / "plain.urdf").exists() or robot(0).save(place / "plain.urdf")
    fit(version).write_urdf(place / "plain.urdf", source)


def _write_checkpoint(place: Path, version: int) -> None:
    plan, logs = unit_logs(version)
    store = Store(place, plan)
    # One name for both versions, which a store of another model would not have.
    store._path = lambda unit: place / "checkpoint.npz"  # type: ignore[method-assign]
    store.write(logs)


def _write_dropped(place: Path, version: int) -> None:
    Project(place).keep("..\\arm.urdf", b"<robot/>" * (100_000 + version))


def _write_linear(place: Path, version: int) -> None:
    linearize.write_matrices(place / "linear.npz", {"A": np.full((20, 20), float(version)), "B": np.ones((20, 2))})


def _write_kernel(place: Path, version: int) -> None:
    os.environ["TAUFORM_CACHE"] = str(place)
    cached("key", lambda: b"code" * 50_000)


def _folder_of(target: str) -> Artefact:
    def write(place: Path, version: int) -> None:
        tf.write(programs(version, target), place / target, target=target)

    return Artefact(f"folder of {target}", target, write)


def _motion_figure(ending: str) -> Artefact:
    path = f"motion.{ending}"

    def write(place: Path, version: int) -> None:
        motion(version).plot(place / path, robot(version))

    return Artefact(f"figure .{ending}", path, write, takes_long=ending != "html")  # matplotlib draws the others


def _add_figures(place: Path, version: int) -> None:
    parts = {"table.csv": f"version {version}\n" * 1000, f"only_{version}.csv": "once\n"}
    reduction.add_parts(closed_form(version).bind(robot(version)), place / "figures", parts, force=False)
