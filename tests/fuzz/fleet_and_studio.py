"""Readers of fleets and of the studio: checkpoints, settings of data sets, files that are dropped onto the page."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import tauform as tf
from fuzz import originals
from fuzz.mutations import Mutation, damaged_binary, damaged_text, packed
from fuzz.reader import Reader, Rebuilt, damaged_archive, share
from tauform.errors import TauformError

UNIT = "A7"
# What a browser may call a file: paths of any system, nothing, names that a disk cannot hold.
NAMES = (
    "", ".", "..", "/", "../../out", "C:\\a\\..\\b", "a\0b", "\n", "x" * 300, "-rf", ".tauform-0123456789abcdef",
    "\udcff", "ä ö", "CON", "~", "a/b/", "$(id)", "%2e%2e%2fx",
)  # fmt: skip


@cache
def plan() -> Any:
    """What workers of a fleet of two-link arms are given, and a unit's logs as they condense them."""
    from tauform.fleet.evidence.condense import condense
    from tauform.fleet.evidence.condensed import Plan
    from tauform.fleet.sources.dataset import Dataset

    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        _write_logs(root)
        (root / "broken.csv").write_text("t,q1\n", encoding="utf-8")
        robot, logs = originals.robot(), Dataset.of(root)
        recording = tf.read_recording(root / UNIT / "0.csv", robot)
        fit = tf.identify(robot, recording, friction="plain", couplings=None, method="weighted")
        made = Plan.of(fit, robot, logs.reading)
        files = [file for listed in logs.units.values() for file in listed]
        return made, condense(UNIT, files, made)


def _write_logs(root: Path) -> None:
    (root / UNIT).mkdir()
    for k in range(2):
        held = originals.swing(200)
        table = np.column_stack([held["t"] + 100 * k, held["q"], held["tau"]])
        np.savetxt(root / UNIT / f"{k}.csv", table, delimiter=",", header="t,q1,q2,tau1,tau2", comments="")


@cache
def checkpoint() -> dict[str, Any]:
    """Arrays of a checkpoint."""
    from tauform.fleet.evidence.condensed import arrays_of

    return arrays_of(plan()[1])


def write_checkpoint(folder: Path, data: bytes) -> Path:
    """Under the name that the store looks for."""
    from tauform.fleet.evidence.store import Store

    path = Store(folder, plan()[0])._path(UNIT)
    path.write_bytes(data)
    return path


def read_checkpoint(path: Path) -> Any:
    """What a checkpoint says of a unit is finite, or the logs are read again."""
    from tauform.fleet.evidence.store import Store
    from tauform.fleet.evidence.summary import summarize

    found = Store(path.parent, plan()[0]).read(UNIT)
    if found is None:
        raise Rebuilt("read again")
    summary = summarize(found, plan()[0])
    if summary is None:
        return None
    held = (summary.values, summary.covariance, summary.triangle, summary.table, summary.seconds)
    assert all(np.isfinite(x).all() for x in held), "a value is not finite"
    return summary.n_windows, summary.values.tolist(), found.excluded


SETTINGS = b"""# how the logs of this fleet are read
[read]
gains = [1.0, -2.0]
degrees = false
time_unit = "s"
between = [0.1, 1.5]
columns = { q = ["q1", "q2"], tau = ["tau1", "tau2"], t = "t" }
units = { q = "rad", tau = "N m" }
"""


def write_settings(folder: Path, data: bytes) -> Path:
    """Settings beside logs."""
    root = folder / "fleet"
    if not root.is_dir():
        root.mkdir()
        _write_logs(root)
    (root / "fleet.toml").write_bytes(data)
    return root


def read_settings(path: Path) -> Any:
    """Settings that pass read a log, or the log is refused."""
    from tauform.fleet.sources.dataset import Dataset

    logs = Dataset.of(path)
    with suppress(TauformError):
        recording = logs.reading.read(originals.robot(), UNIT, logs.units[UNIT][0])
        assert np.isfinite(recording.tau).all(), "a value is not finite"
    return repr(logs.reading)


def _dropped(suffixes: Sequence[str]) -> Callable[[Path, bytes], Path]:
    """Uploads under a name of their own; some first come under one that no folder takes."""

    def write(folder: Path, data: bytes) -> Path:
        from tauform.studio.project import Project

        session = folder / "session"
        session.mkdir(exist_ok=True)
        project = Project(session)
        rng = Random(data)
        with suppress(TauformError):
            odd = project.keep(rng.choice(NAMES), data)
            assert odd.parent == session, "a file outside the session"
        assert sorted(path.name for path in folder.iterdir()) == ["session"], "a file outside the session"
        return project.keep(f"dropped{rng.choice(suffixes)}", data)

    return write


def read_dropped_robot(path: Path) -> Any:
    """A robot that the page opens has finite torques, whatever is dropped; else it stays as it was."""
    from tauform.studio.project import Project

    project = Project(path.parent)
    project.open_robot("two_link")
    try:
        project.open_robot(path)
    except TauformError:
        assert project.source == "two_link", "the project changed"
        raise
    assert all(np.isfinite(mesh.vertices).all() for mesh in project.meshes), "a corner is not finite"
    assert np.isfinite(tf.gravity_torque(project.robot, project.q)).all(), "a torque is not finite"
    return project.robot


def read_dropped_log(path: Path) -> Any:
    """A log is looked at and read by the functions that the page calls."""
    from tauform.studio.work import read_logs

    if share(path, 4):
        with suppress(TauformError):
            assert tf.inspect_log(path).n_samples >= 0
    recording = read_logs(originals.robot(), {path: {}}, lambda words: None)[path.name]
    assert all(np.isfinite(x).all() for x in (recording.t, recording.q, recording.tau)), "a value is not finite"
    return recording


def _first_samples(read: tf.Recording, whole: tf.Recording) -> bool:
    return all(np.array_equal(getattr(read, f), getattr(whole, f)[: read.n_samples]) for f in ("t", "q", "tau"))


MESHES = ("stl", "obj", "dae", "ply", "glb", "off")
WITH_MESH = """<robot name="arm"><link name="base"/>
<link name="upper"><inertial><mass value="2"/>
<inertia ixx="0.01" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.02"/></inertial>
<visual><geometry><mesh filename="part.{kind}"/></geometry></visual></link>
<joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 0 1"/>
<limit lower="-2" upper="2" effort="10" velocity="3"/></joint></robot>
"""


@cache
def mesh(kind: str) -> bytes:
    """A ball of eighty triangles."""
    import trimesh

    stream = io.BytesIO()
    ball = trimesh.creation.icosphere(1, 0.1)
    written = ball.export(file_type=kind)
    stream.write(written if isinstance(written, bytes) else written.encode())
    return stream.getvalue()


def _kind(data: bytes) -> str:
    """A kind that suits the content, by the good file that it shares most of its beginning with."""
    return max(MESHES, key=lambda kind: sum(a == b for a, b in zip(mesh(kind), data, strict=False)))


def write_mesh(folder: Path, data: bytes) -> Path:
    """A mesh beside the robot that shows it."""
    kind = _kind(data)
    (folder / "arm.urdf").write_text(WITH_MESH.format(kind=kind), encoding="utf-8")
    (folder / f"part.{kind}").write_bytes(data)
    return folder / f"part.{kind}"


def read_mesh(path: Path) -> Any:
    """Triangles are finite and few, or the link is named as one without its shape."""
    from tauform.description.shapes import Mesh
    from tauform.identification.motion.solids import _hull_of_mesh
    from tauform.report.html import meshes

    robot = tf.load(path.parent / "arm.urdf")
    if find_spec("coal") and share(path, 2):
        solid = robot.visuals[0].solid
        assert isinstance(solid, Mesh)
        with suppress(TauformError):
            hull = _hull_of_mesh(solid, "upper")
            assert np.isfinite(hull.aabb_radius), "a hull without size"
    meshes.LEAST_TRIANGLES = 20
    found, missing = meshes.link_meshes(robot, most=30)
    if missing:
        assert len(missing[0].splitlines()) == 1, "not one line"
        raise Rebuilt("shown without its shape")
    for part in found:
        assert np.isfinite(part.vertices).all(), "a corner is not finite"
        assert part.faces.min(initial=0) >= 0, "no such corner"
        assert part.faces.max(initial=0) < max(1, len(part.vertices)), "no such corner"
        part.packed()
    return None


def _damaged_mesh(rng: Random, data: bytes) -> bytes:
    is_text = data[:4] in (b"# ht", b"OFF\n", b"<?xm") or b"\n" in data[:40]
    return (damaged_text if is_text and rng.random() < 0.7 else damaged_binary)(rng, data)


def _of_studio(
    name: str, files: Sequence[bytes], suffixes: Sequence[str], read: Any, damage: Mutation, cut: Any
) -> Reader:
    return Reader(name, files, read, _dropped(suffixes), damage, cut)


FLEET_AND_STUDIO: dict[str, Callable[[], Reader]] = {
    "fleet_checkpoint": lambda: Reader(
        "fleet_checkpoint", [packed(checkpoint())], read_checkpoint, write_checkpoint,
        damaged_archive(checkpoint(), {"0_files": lambda text: np.array([text.replace("\0", "")])}),
    ),
    # A table may end after any line: fewer settings are settings.
    "fleet_settings": lambda: Reader(
        "fleet_settings", [SETTINGS], read_settings, write_settings, may_be_cut=lambda read, whole: True
    ),
    "studio_robot": lambda: _of_studio(
        "studio_robot", [originals.URDF], (".urdf", ".xacro", ".xml"), read_dropped_robot, damaged_text,
        lambda read, whole: read == whole,
    ),
    "studio_log": lambda: _of_studio(
        "studio_log", originals.logs(), (".csv",), read_dropped_log, damaged_text, _first_samples
    ),
    # A picture of a part that was cut is no wrong torque.
    "mesh": lambda: Reader(
        "mesh", [mesh(kind) for kind in MESHES], read_mesh, write_mesh, _damaged_mesh, lambda read, whole: True
    ),
}  # fmt: skip
