"""Whether a place can be written to is known before the work, to root and to others alike."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from kills import as_nobody
from tauform.errors import GenerationError
from tauform.files.checks import check_file, check_folder


@pytest.fixture
def open_place() -> Iterator[Path]:
    """A folder that anybody may write to."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        yield Path(folder)


def test_a_folder_without_permission_is_refused(open_place: Path) -> None:
    closed = open_place / "closed"
    (closed / "old").mkdir(parents=True)
    closed.chmod(0o555)

    def refused() -> None:
        for check, place in ((check_folder, "new"), (check_folder, "old"), (check_file, "a.txt")):
            with pytest.raises(GenerationError, match="Permission denied"):
                check(closed / place)

    assert as_nobody(refused) == 0
    assert os.listdir(closed) == ["old"]


def test_a_read_only_file_is_refused_even_with_force(open_place: Path) -> None:
    path = open_place / "a.txt"
    path.write_text("mine")
    path.chmod(0o444)

    def refused() -> None:
        with pytest.raises(GenerationError, match="it is read-only"):
            check_file(path, force=True)

    assert as_nobody(refused) == 0


def test_a_link_to_nothing_counts_as_a_file(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "absent")
    with pytest.raises(GenerationError, match="exists"):
        check_file(tmp_path / "link")
    check_file(tmp_path / "link", force=True)


def test_asking_leaves_nothing(tmp_path: Path) -> None:
    check_file(tmp_path / "a.txt")
    assert check_folder(tmp_path / "deep" / "out") == tmp_path / "deep" / "out"
    assert os.listdir(tmp_path) == []


MOUNTED = """
set -e
mount -t tmpfs -o size=200k tmpfs "$1/small"
mount -t tmpfs -o ro tmpfs "$1/read only"
mount --bind "$1/bound" "$1/file"
"$2" - "$1" <<'END'
import sys
from pathlib import Path
from tauform.errors import GenerationError
from tauform.files.checks import check_file, check_folder
place = Path(sys.argv[1])
def reason(check, path):
    try:
        check(path, force=True)
    except GenerationError as error:
        return str(error)
for check, path, words in (
    (check_file, place / "small" / "a", "No space left on device"),
    (check_folder, place / "small", "No space left on device"),
    (check_file, place / "read only" / "a", "Read-only file system"),
    (check_folder, place / "read only" / "a" / "b", "Read-only file system"),
    (check_file, place / "file", "is mounted by itself"),
):
    assert words in (reason(check, path) or ""), (path, reason(check, path))
END
"""


def test_disks_that_are_full_read_only_or_a_single_file(tmp_path: Path) -> None:
    for name in ("small", "read only"):
        (tmp_path / name).mkdir()
    for name in ("bound", "file"):
        (tmp_path / name).write_text("")
    apart = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--mount", "--map-root-user"]
    if shutil.which("unshare") is None or subprocess.run([*apart, "true"], capture_output=True).returncode:
        pytest.skip("mounting is not allowed here")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    command = [*apart, "sh", "-c", MOUNTED, "sh", str(tmp_path), sys.executable]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
