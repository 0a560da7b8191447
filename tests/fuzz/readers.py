"""Every reader of files: what it reads, how its files are damaged, and what must hold of whatever it accepts."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import tauform as tf
from fuzz import originals
from fuzz import reader as kinds
from fuzz.fleet_and_studio import FLEET_AND_STUDIO
from fuzz.mutations import Mutation, damaged_binary, damaged_text, damaged_tree, packed
from fuzz.reader import Reader, Rebuilt, damaged_archive, file_named, share
from fuzz.runs import check
from tauform.errors import TauformError

VERBS = ("show", "base", "derive", "linearize")
# One of so many robots that are read is worked with, one of so many recordings identified, looked at, and read in a
# process of its own where users' are.
ROBOTS_PER_VERB, RECORDINGS_PER_FIT, RECORDINGS_PER_LOOK, RECORDINGS_PER_PROCESS = 8, 32, 4, 32


def read_robot(path: Path) -> tf.Robot:
    """A robot is finite, and a verb that works with it ends well or is refused."""
    robot = tf.load(path)
    held = [robot.parameters, robot.gravity, *(joint.parent_from_joint for joint in robot.joints)]
    assert all(np.isfinite(array).all() for array in held), "a value is not finite"
    assert robot.n_joints >= 1
    if share(path, ROBOTS_PER_VERB):
        verb = VERBS[path.stat().st_size % len(VERBS)]
        check([verb, str(path), "--json"], path.parent)
    return robot


def _here(reader: Callable[..., Any], path: Path, arguments: tuple[Any, ...], size: int) -> Iterator[Any]:
    """What `separate` reads in a child, in this process, which is one already."""
    for piece in reader(path, *arguments):
        yield piece if isinstance(piece, np.ndarray) else json.loads(json.dumps(piece))


def read_recording(path: Path) -> tf.Recording:
    """A recording is finite and whole, and a fit of it too; a first look at it ends well or is refused."""
    from tauform.identification.logs.formats import separate

    # To start a process takes as long as some hundred cases; and it would hide what a reader raises. A look starts one
    # for every column. Good files are read here, where they import the libraries.
    if not kinds.ALL and share(path if path.is_file() else path / "metadata.yaml", RECORDINGS_PER_PROCESS):
        return _checked(tf.read_recording(path, originals.robot()))
    kept, separate._pieces = separate._pieces, _here
    try:
        if path.is_file() and share(path, RECORDINGS_PER_LOOK):
            with suppress(TauformError):
                assert tf.inspect_log(path).n_samples >= 0
        recording = _checked(tf.read_recording(path, originals.robot()))
    finally:
        separate._pieces = kept
    if path.is_file() and share(path, RECORDINGS_PER_FIT):
        fit = tf.identify(originals.robot(), recording, friction="plain", couplings=None)
        assert np.isfinite(fit.values).all(), "a fitted value is not finite"
    return recording


def _checked(recording: tf.Recording) -> tf.Recording:
    assert recording.q.shape == recording.tau.shape == (recording.n_samples, 2)
    assert all(np.isfinite(x).all() for x in (recording.t, recording.q, recording.tau)), "a value is not finite"
    return recording


def _same_samples(read: tf.Recording, whole: tf.Recording) -> bool:
    return all(np.array_equal(getattr(read, f), getattr(whole, f)) for f in ("t", "q", "tau"))


def _first_samples(read: tf.Recording, whole: tf.Recording) -> bool:
    """A table may end after any line: what is left is a shorter recording."""
    return all(np.array_equal(getattr(read, f), getattr(whole, f)[: read.n_samples]) for f in ("t", "q", "tau"))


def read_model(path: Path) -> Any:
    """A closed form that can be read can be used."""
    model = tf.load_model(path)
    n = model.n_joints
    torque = model.bind(np.ones(model.n_base)).inverse_dynamics(*np.zeros((3, n)))
    assert np.isfinite(torque).all(), "a torque is not finite"
    return model.joint_names, torque.tolist()


def read_fit(path: Path) -> Any:
    """A fit that can be read predicts, and has a verdict."""
    fit = tf.load_fit(path)
    assert all(np.isfinite(x).all() for x in (fit.values, fit.covariance, fit.sigma)), "a value is not finite"
    torque = fit.predict(*np.zeros((3, 2)))
    assert np.isfinite(torque).all(), "a torque is not finite"
    return fit.verdict.grade, torque.tolist()


def read_motion(path: Path) -> Any:
    """A motion is finite."""
    motion = tf.Trajectory.read_csv(path, originals.robot())
    assert all(np.isfinite(x).all() for x in (motion.t, motion.q, motion.qd, motion.qdd)), "a value is not finite"
    return motion


def _first_of_motion(read: tf.Trajectory, whole: tf.Trajectory) -> bool:
    return np.array_equal(read.q, whole.q[: len(read.t)]) and np.array_equal(read.t, whole.t[: len(read.t)])


def _as_bytes(text: str) -> Any:
    return np.frombuffer(text.encode("utf-8", "surrogatepass"), dtype=np.uint8)


KEY, PAYLOAD = "a kernel", bytes(range(200))


def read_cache(path: Path) -> bytes:
    """What belongs to a key is the payload, or it is built again."""
    from tauform.codegen.runtime.cache import cached

    before = os.environ.get("TAUFORM_CACHE")
    os.environ["TAUFORM_CACHE"] = str(path.parent)
    try:
        found = cached(KEY, lambda: b"built")
    finally:
        os.environ["TAUFORM_CACHE"] = before or ""
    if found == b"built":
        raise Rebuilt("built")
    assert found == PAYLOAD, "another payload"
    return found


def write_cache(folder: Path, data: bytes) -> Path:
    """An entry of a cache of our own."""
    place = folder / "cache"
    place.mkdir(mode=0o700, exist_ok=True)
    path = place / f"{hashlib.sha256(KEY.encode()).hexdigest()}.kernel"
    path.write_bytes(data)
    path.chmod(0o600)
    return path


def _entry() -> bytes:
    of_key = hashlib.sha256(KEY.encode()).digest()
    return hashlib.sha256(of_key + PAYLOAD).digest() + PAYLOAD


def read_program(path: Path) -> str:
    """What is read in place of a search computes what the textbook function does, interpreted and compiled."""
    from tauform.codegen import generate as generation

    def refuse(*arguments: Any) -> Any:
        raise Rebuilt("built")

    before, made = os.environ.get("TAUFORM_CACHE"), generation._generated
    os.environ["TAUFORM_CACHE"], generation._generated = str(path.parent), refuse
    try:
        program = tf.generate(originals.robot(), "gravity_torque")
        q = np.random.default_rng(0).uniform(-3, 3, (20, 2))
        expected = tf.textbook.gravity_torque(originals.robot(), q)
        ways = [program, tf.compile(program)] if share(path, ROBOTS_PER_VERB) else [program]
        assert all(np.abs(run(q) - expected).max() < 1e-9 for run in ways), "another program"
    finally:
        os.environ["TAUFORM_CACHE"], generation._generated = before or "", made
    return str(program)


def write_program(folder: Path, data: bytes) -> Path:
    """An entry whose digest is right, whatever it holds: a forged one, or one of a defect of our own."""
    place = folder / "programs"
    place.mkdir(mode=0o700, exist_ok=True)
    name = originals.program_entry("gravity_torque")[0]
    of_key = bytes.fromhex(name.partition(".")[0])
    (place / name).write_bytes(hashlib.sha256(of_key + data).digest() + data)
    (place / name).chmod(0o600)
    return place / name


def _damaged_program(rng: Random, data: bytes) -> bytes:
    """Damage to the text or the tree, one instruction changed, or the program of something else."""
    how = rng.random()
    if how < 0.15:
        return damaged_text(rng, data)
    if how < 0.2:
        return originals.program_entry(rng.choice(["mass_matrix", "friction", "inverse_dynamics"]))[1]
    tree = json.loads(data)
    if how < 0.5:
        return json.dumps(damaged_tree(rng, tree)).encode()
    listed = tree["instructions"]
    k = rng.randrange(len(listed))
    part = rng.choice(["op", "argument", "number", "place", "order", "result", "any"])
    if part == "op":
        listed[k][0] = rng.choice(["add", "divide", "sqrt", "same", "unit", "lane", "input", "atan2", "x"])
    elif part == "argument":
        listed[k][1] = [rng.choice([-1, k, k + 1, 10**6, 0.0, True, None, "0"]) for _ in range(rng.randrange(4))]
    elif part == "number":
        listed[k][2] = rng.choice([1.0, 0.5, -2.0, 1e308, 10**400, None, "1", []])
    elif part == "place":
        listed[k][3:] = [rng.choice([0, 1, -1, 99, 2**63, None]) for _ in range(rng.choice([1, 2, 2, 2, 3]))]
    elif part == "order":
        listed.insert(rng.randrange(len(listed)), listed.pop(k))
    elif part == "result":
        tree["results"][0] = [rng.choice([0, 1, -1, 10**6, None]) for _ in range(rng.randrange(4))]
    else:
        listed[k] = damaged_tree(rng, listed[k])
    return json.dumps(tree).encode()


OUTSIDE, MINE = "outside.txt", "mine.txt"


def read_manifest(path: Path) -> list[str]:
    """Nothing outside its folder and nothing of the user's goes, whatever a manifest says."""
    out = path.parent
    forced = share(path, 2)
    if forced:
        (out / MINE).write_text("mine", encoding="utf-8")
    try:
        written = tf.write_c(originals.program(), out, force=forced)
    finally:
        assert (out.parent / OUTSIDE).read_text(encoding="utf-8") == "outside", "a file outside is lost"
        assert not forced or (out / MINE).read_text(encoding="utf-8") == "mine", "a file of the user's is lost"
    assert all(file.is_file() and file.resolve().is_relative_to(out.resolve()) for file in written)
    return sorted(file.name for file in written)


def write_manifest(folder: Path, data: bytes) -> Path:
    """A folder that we wrote, with another list of what stands in it."""
    shutil.rmtree(folder / "out", ignore_errors=True)
    (folder / OUTSIDE).write_text("outside", encoding="utf-8")
    tf.write_c(originals.program(), folder / "out")
    (folder / "out" / ".tauform.json").write_bytes(data)
    return folder / "out" / ".tauform.json"


def _damaged_fit(rng: Random, data: bytes) -> bytes:
    """Damage to the text, most of which are packed arrays, or to what it says."""
    if rng.random() < 0.3:
        return damaged_text(rng, data)
    return json.dumps(damaged_tree(rng, json.loads(data))).encode()


def _damaged_manifest(rng: Random, data: bytes) -> bytes:
    if rng.random() < 0.4:
        return damaged_text(rng, data)
    tree = json.loads(data)
    ways = (f"../{OUTSIDE}", f"a/../../{OUTSIDE}", MINE, f"./{MINE}", "/etc/hostname", "..", "", "\0", 5, None, [], {})
    tree["files"] = {str(rng.choice(ways)): text for text in tree["files"].values()} | (
        tree["files"] if rng.random() < 0.5 else {}
    )
    tree["products"] = [rng.choice(ways) for _ in range(3)]
    return json.dumps(tree if rng.random() < 0.5 else damaged_tree(rng, tree)).encode()


def _robots(name: str, files: Sequence[bytes], suffix: str) -> Reader:
    return Reader(name, files, read_robot, file_named(f"arm{suffix}"))


def _logs(name: str, files: Sequence[bytes], suffix: str, damage: Mutation = damaged_binary) -> Reader:
    return Reader(name, files, read_recording, file_named(f"log{suffix}"), damage, _same_samples)


def _saved(name: str, arrays: dict[str, Any], texts: dict[str, Callable[[str], Any]], read: Any) -> Reader:
    return Reader(name, [packed(arrays)], read, file_named(f"{name}.npz"), damaged_archive(arrays, texts))


def _bag_folder() -> Reader:
    files = originals.bag("db3")

    def write(folder: Path, data: bytes) -> Path:
        (folder / "bag").mkdir(exist_ok=True)
        for name, content in files.items():
            (folder / "bag" / name).write_bytes(data if name == "metadata.yaml" else content)
        return folder / "bag"

    metadata = [files["metadata.yaml"]]
    return Reader("bag_metadata", metadata, read_recording, write, damaged_text, _same_samples)


def _bag(storage: str) -> Reader:
    content = next(data for name, data in originals.bag(storage).items() if name.endswith(storage))
    return _logs(f"bag_{storage}", [content], f".{storage}")


READERS: dict[str, Callable[[], Reader]] = {
    "urdf": lambda: _robots("urdf", [originals.URDF], ".urdf"),
    "xacro": lambda: _robots("xacro", [originals.XACRO], ".xacro"),
    "mjcf": lambda: _robots("mjcf", [originals.MJCF], ".xml"),
    "toml_saved": lambda: _robots("toml_saved", originals.toml_saved(), ".toml"),
    "toml_by_hand": lambda: Reader(
        "toml_by_hand", originals.toml_by_hand(), read_robot, file_named("arm.toml"),
        may_be_cut=lambda read, whole: True,
    ),
    "csv": lambda: Reader(
        "csv", originals.logs(), read_recording, file_named("log.csv"), damaged_text, _first_samples
    ),
    "npz": lambda: _logs("npz", [originals.npz(), originals.npz(np.savez_compressed)], ".npz"),
    "npz_arrays": lambda: Reader(
        "npz_arrays", [originals.npz()], read_recording, file_named("log.npz"),
        damaged_archive(originals.swing(), {"t": lambda text: np.array(text)}), _same_samples,
    ),
    "mat": lambda: _logs("mat", [originals.mat(False), originals.mat(True)], ".mat"),
    "hdf5": lambda: _logs("hdf5", [originals.hdf5(None), originals.hdf5("gzip")], ".mat"),
    "parquet": lambda: _logs("parquet", [originals.parquet("none"), originals.parquet("snappy")], ".parquet"),
    "bag_db3": lambda: _bag("db3"),
    "bag_mcap": lambda: _bag("mcap"),
    "bag_metadata": _bag_folder,
    "bag_ros1": lambda: _logs("bag_ros1", [originals.bag_ros1(how) for how in (None, "BZ2", "LZ4")], ".bag"),
    "model": lambda: _saved("model", originals.model(), {"facts": _as_bytes}, read_model),
    "fit": lambda: _saved("fit", originals.fit(), {"summary": np.array, "robot": np.array}, read_fit),
    "fit_json": lambda: Reader("fit_json", [originals.fit_json()], read_fit, file_named("fit.json"), _damaged_fit),
    "motion": lambda: Reader(
        "motion", [originals.motion()], read_motion, file_named("motion.csv"), may_be_cut=_first_of_motion
    ),
    "manifest": lambda: Reader(
        "manifest", [originals.manifest()], read_manifest, write_manifest, _damaged_manifest
    ),
    "program": lambda: Reader(
        "program", [originals.program_entry("gravity_torque")[1]], read_program, write_program, _damaged_program
    ),
    "cache": lambda: Reader("cache", [_entry()], read_cache, write_cache, damaged_binary),
    **FLEET_AND_STUDIO,
}  # fmt: skip
