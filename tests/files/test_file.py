"""A file is there as a whole or not at all, whatever stood in its place."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from full_disk import full_disk
from kills import as_nobody, killed_at_step, run_apart
from tauform.errors import ModelError
from tauform.files import temporaries
from tauform.files.file import fresh_file, write_text
from tauform.files.temporaries import sweep, temporary_file, temporary_folder


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that anybody may write to."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        yield Path(folder)


def write(path: Path, text: str) -> None:
    write_text(path, text, ModelError)


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755])
def test_the_mode_is_kept(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "a.txt"
    path.write_text("before")
    path.chmod(mode)
    write(path, "after")
    assert (path.read_text(), mode_of(path)) == ("after", mode)


def test_a_new_file_has_the_usual_mode(tmp_path: Path) -> None:
    (tmp_path / "usual").write_text("")
    write(tmp_path / "ours", "")
    assert mode_of(tmp_path / "ours") == mode_of(tmp_path / "usual")


def test_text_is_utf8_with_unix_line_ends_in_any_locale(tmp_path: Path) -> None:
    code = (
        "from pathlib import Path; from tauform.files.file import write_text; from tauform.errors import ModelError\n"
        f"write_text(Path({str(tmp_path / 'a.txt')!r}), '\\u00e4\\u65e5\\n', ModelError)"
    )
    environment = {**os.environ, "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
    assert (tmp_path / "a.txt").read_bytes() == "ä日\n".encode()


def test_a_read_only_file_stays(open_folder: Path) -> None:
    path = open_folder / "a.txt"
    path.write_text("before")
    path.chmod(0o444)

    def refused() -> None:
        with pytest.raises(ModelError, match=r"a\.txt: cannot be written \(it is read-only\)"):
            write(path, "after")

    assert as_nobody(refused) == 0
    assert path.read_text() == "before"


def test_links_that_point_at_each_other_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(ModelError, match="a: cannot be written"):
        write(tmp_path / "a", "text")


@pytest.mark.parametrize("name", ["x" * 300, "a\0b", "absent/a.txt"])
def test_a_name_that_cannot_be_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ModelError, match="cannot be written"):
        write(tmp_path / name, "text")
    assert os.listdir(tmp_path) == []


def test_a_full_disk_keeps_the_file_before(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    write(path, "before")
    with full_disk(1000), pytest.raises(ModelError, match="File too large"):
        write(path, "after" * 1000)
    assert path.read_text() == "before"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_a_writer_that_fails_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(TypeError), fresh_file(tmp_path / "a.txt", ModelError) as file:
        file.writelines([b"half", 2])  # type: ignore[list-item]
    assert os.listdir(tmp_path) == []


def test_what_the_shell_opened_is_written_in_place(tmp_path: Path) -> None:
    code = (
        "from pathlib import Path; from tauform.files.file import write_text; from tauform.errors import ModelError\n"
        "write_text(Path('/dev/stdout'), 'first ', ModelError); print('second')"
    )
    for target in (tmp_path / "out.txt", None):
        out = target.open("wb") if target else subprocess.PIPE
        done = subprocess.run([sys.executable, "-c", code], check=True, stdout=out)
        text = target.read_text() if target else done.stdout.decode()
        assert "second" in text
        assert target or "first" in text


def test_killed_at_any_step_the_file_is_old_or_new_and_nothing_stays(tmp_path: Path) -> None:
    path, versions = tmp_path / "a.txt", ("before" * 100, "after" * 100)
    write(path, versions[0])
    step = 1
    while killed_at_step(step, lambda: write(path, versions[1])):
        assert path.read_text() in versions
        write(path, versions[0])
        assert os.listdir(tmp_path) == ["a.txt"], step
        step += 1
    assert step > 4
    assert path.read_text() == versions[1]


def test_temporaries_of_processes_that_live_stay(tmp_path: Path) -> None:
    with temporary_file(tmp_path) as (own, file), temporary_folder(tmp_path) as folder:
        (folder / "inside").write_text("")
        run_apart(lambda: sweep(tmp_path))
        sweep(tmp_path)
        assert own.exists()
        assert (folder / "inside").exists()
        file.write(b"still open")
    assert os.listdir(tmp_path) == []


def test_what_looks_like_a_temporary_but_is_none_stays(tmp_path: Path) -> None:
    names = [".tauform-notes", ".tauform-0123456789abcdef.txt", "x.tauform-0123456789abcdef"]
    for name in names:
        (tmp_path / name).write_text("mine")
    (tmp_path / "kept").write_text("mine")
    (tmp_path / ".tauform-0123456789abcdef").symlink_to(tmp_path / "kept")
    os.mkfifo(tmp_path / ".tauform-0123456789abcdee")
    sweep(tmp_path)
    assert {*names, "kept"} <= set(os.listdir(tmp_path))


def test_temporaries_of_other_users_stay(open_folder: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can leave a file that another user may not remove")
    (open_folder / ".tauform-0123456789abcdef").write_text("")
    assert as_nobody(lambda: sweep(open_folder)) == 0
    assert os.listdir(open_folder) == [".tauform-0123456789abcdef"]


def test_without_locks_age_decides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(temporaries, "lock", lambda handle: None)
    old, young = tmp_path / ".tauform-0123456789abcdef", tmp_path / ".tauform-fedcba9876543210"
    for path in (old, young):
        path.write_text("")
    os.utime(old, (0, 0))
    sweep(tmp_path)
    assert os.listdir(tmp_path) == [young.name]
