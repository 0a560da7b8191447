"""Python that is started by Python finds no modules in the folder that the user stands in: it may be a stranger's."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest

from sampling import representatives
from source_trees import parsed

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "tauform"
# Modules that a child imports before its first line of ours, and ours.
SHADOWED = ("json", "multiprocessing", "numpy", "pickle", "random", "struct", "tauform")
WAYS = {
    "a kernel": """
import tauform as tf
from tauform.fast.aside import made_aside
list(made_aside(tf.load("two_link"), "gravity_torque", {}, 2, False))
""",
    "a log": """
import sys
from pathlib import Path
import tauform as tf
for name in ("a.mat", "b.mat"):
    try:
        tf.read_recording(Path(sys.argv[1]) / name, tf.load("two_link"))
    except tf.errors.RecordingError:
        pass
""",
    "a job of the studio": """
from tauform.studio.jobs import Job
if __name__ == "__main__":
    job = Job.start("x", repr)
    while job.poll():
        job._process.join(0.05)
    assert job.state == "done", job.error
""",
    "workers": """
from tauform.scheduler import cluster
if __name__ == "__main__":
    with cluster(None, 1) as client:
        assert client.submit(sum, [1, 2]).result() == 3
""",
}


@pytest.mark.parametrize("way", representatives(WAYS, "a kernel", "a log", "a job of the studio"))
def test_modules_of_the_folder_one_stands_in_are_not_imported(way: str, tmp_path: Path) -> None:
    if way == "workers":
        pytest.importorskip("distributed")
    stranger, own = tmp_path / "stranger", tmp_path / "own"
    stranger.mkdir()
    own.mkdir()
    for name in SHADOWED:
        (stranger / f"{name}.py").write_text("open('ran', 'a').write(__name__)\nraise ImportError\n", encoding="utf-8")
    (own / "main.py").write_text(WAYS[way], encoding="utf-8")
    (own / "a.mat").write_bytes(b"hello")
    (own / "b.mat").write_bytes(b"\x89HDF\r\n\x1a\n")
    environment = {**os.environ, "PYTHONPATH": str(PACKAGE.parent), "TAUFORM_CACHE": str(tmp_path / "cache")}
    subprocess.run(
        [sys.executable, str(own / "main.py"), str(own)], cwd=stranger, env=environment, check=True, timeout=120
    )
    assert not (stranger / "ran").exists()


def test_every_child_is_started_without_the_folder_one_stands_in() -> None:
    commands = [
        (path.name, node.elts[1])
        for path in sorted(PACKAGE.rglob("*.py"))
        for node in ast.walk(parsed(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.List) and node.elts and ast.unparse(node.elts[0]) == "sys.executable"
    ]
    assert len(commands) >= 3
    assert [name for name, option in commands if ast.unparse(option) != "'-P'"] == []
