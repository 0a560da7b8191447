"""A folder that we write: whole or not at all, ours alone, and nothing outside it is touched."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from full_disk import full_disk
from kills import STRIDE, as_nobody, killed_at_step, run_apart
from tauform.errors import DescriptionError, GenerationError
from tauform.files import checks
from tauform.files import folder as folders
from tauform.files.file import write_text
from tauform.files.folder import add_to_folder, write_folder
from tauform.files.manifest import JOURNAL, MANIFEST
from tauform.files.temporaries import scratch_folder

VERSIONS = {
    "a": {"a.c": "first", "sub/a.h": "first", "old.txt": "only here"},
    "b": {"a.c": "second", "sub/a.h": "second", "new/b.txt": "only there"},
}


def filled(version: str) -> Callable[[Path], list[str]]:
    def fill(fresh: Path) -> list[str]:
        for name, text in VERSIONS[version].items():
            (fresh / name).parent.mkdir(exist_ok=True)
            write_text(fresh / name, text, GenerationError)
        return ["product"]

    return fill


def contents(folder: Path) -> dict[str, str]:
    """Files below a folder, hidden ones too, without our list of them."""
    paths = [path for path in folder.rglob("*") if not path.is_dir() and path.name != MANIFEST]
    return {path.relative_to(folder).as_posix(): path.read_text() for path in paths}


@pytest.fixture
def quick_path() -> Iterator[Path]:
    """A folder in memory where there is such, which has no disk to wait for."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None) as folder:
        yield Path(folder)


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """A folder that we wrote."""
    write_folder(tmp_path / "out", filled("a"))
    return tmp_path / "out"


@pytest.fixture
def open_place() -> Iterator[Path]:
    """A folder that anybody may write to."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        yield Path(folder)


# Ways in which a list that somebody else wrote may lead out of its folder.
OUTSIDE = ["../victim.txt", "../../outside/victim.txt", "sub/../../victim.txt", "{absolute}", "link/victim.txt", "link"]


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("key", ["files", "products"])
@pytest.mark.parametrize("name", OUTSIDE)
def test_a_forged_list_reaches_nothing_outside(tmp_path: Path, name: str, key: str, force: bool) -> None:
    place = tmp_path / "here"
    target, outside = place / "out", tmp_path / "outside"
    outside.mkdir()
    victims = [outside / "victim.txt", place / "victim.txt"]
    write_folder(target, filled("a"))
    for victim in victims:
        victim.write_text("precious")
    (target / "link").symlink_to(outside)
    manifest = json.loads((target / MANIFEST).read_text())
    named = name.format(absolute=victims[0])
    manifest[key] = {**manifest["files"], named: "0" * 64} if key == "files" else [named]
    (target / MANIFEST).write_text(json.dumps(manifest))
    try:
        write_folder(target, filled("b"), force)
    except GenerationError:
        assert not force
    assert [victim.read_text() for victim in victims] == ["precious"] * 2


@pytest.mark.parametrize(
    "text",
    [
        *("", "[]", "{}", "null", "3", '{"files": 1, "products": 2}', '{"files": {"a.c": 1}}', "[" * 100_000),
        *('{"files": ["a.c"], "products": []}', '{"files": {"\\u0000": "x"}, "products": [null, {}]}', "\udcff"),
    ],
)
def test_a_damaged_list_makes_the_folder_somebody_elses(target: Path, text: str) -> None:
    (target / MANIFEST).write_text(text, errors="surrogateescape")
    before = contents(target)
    with pytest.raises(GenerationError, match=r"force"):
        write_folder(target, filled("b"))
    assert contents(target) == before
    write_folder(target, filled("b"), force=True)
    assert contents(target) == {**before, **VERSIONS["b"]}


def test_a_file_that_was_edited_is_not_replaced_unless_asked(target: Path) -> None:
    (target / "sub" / "a.h").write_text("edited by hand")
    with pytest.raises(GenerationError, match=r"sub/a\.h changed since tauform wrote it.*force=True"):
        write_folder(target, filled("b"))
    assert contents(target) == {**VERSIONS["a"], "sub/a.h": "edited by hand"}
    write_folder(target, filled("b"), force=True)
    assert contents(target) == VERSIONS["b"]


def test_an_edited_file_that_is_no_longer_written_stays(target: Path) -> None:
    (target / "old.txt").write_text("edited by hand")
    write_folder(target, filled("b"), force=True)
    assert contents(target) == {**VERSIONS["b"], "old.txt": "edited by hand"}


def test_a_file_edited_while_we_work_is_not_replaced(target: Path) -> None:
    def fill(fresh: Path) -> list[str]:
        (target / "a.c").write_text("edited meanwhile")
        return filled("b")(fresh)

    with pytest.raises(GenerationError, match="changed since"):
        write_folder(target, fill)
    assert contents(target)["a.c"] == "edited meanwhile"


def test_a_file_written_at_the_very_moment_of_the_exchange_stays(target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    swap = folders.exchange

    def late(one: Path, other: Path) -> bool:
        if not (target / "late.txt").exists():
            (target / "late.txt").write_text("mine")
        return swap(one, other)

    monkeypatch.setattr(folders, "exchange", late)
    with pytest.raises(GenerationError, match=r"late\.txt"):
        write_folder(target, filled("b"))
    assert contents(target) == {**VERSIONS["a"], "late.txt": "mine"}


def test_links_are_not_followed_out(target: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.h").write_text("precious")
    shutil.rmtree(target / "sub")
    (target / "sub").symlink_to(outside)
    (target / "a.c").unlink()
    (target / "a.c").symlink_to(outside / "a.h")
    for force, message in ((False, r"did not write \(a\.c, sub\)"), (True, "a link on the way leads elsewhere")):
        with pytest.raises(GenerationError, match=message):
            write_folder(target, filled("b"), force)
    (target / "sub").unlink()
    write_folder(target, filled("b"), force=True)
    assert (target / "a.c").read_text() == "second"
    assert not (target / "a.c").is_symlink()
    assert (outside / "a.h").read_text() == "precious"


def test_a_folder_in_the_way_of_a_file_is_refused_before_anything_moves(target: Path) -> None:
    (target / "a.c").unlink()
    (target / "a.c").mkdir()
    (target / "a.c" / "notes.txt").write_text("mine")
    before = contents(target)
    with pytest.raises(GenerationError, match=r"a\.c: stands in the way"):
        write_folder(target, filled("b"), force=True)
    assert contents(target) == before


@pytest.mark.parametrize("foreign", [False, True])
def test_modes_are_kept(target: Path, foreign: bool) -> None:
    modes = {"": 0o2750, "sub": 0o700, "a.c": 0o640}
    for name, mode in modes.items():
        (target / name).chmod(mode)
    if foreign:
        (target / "notes.txt").write_text("mine")
    write_folder(target, filled("b"), force=foreign)
    assert {name: stat.S_IMODE((target / name).stat().st_mode) & 0o777 for name in modes} == {
        name: mode & 0o777 for name, mode in modes.items()
    }


@pytest.mark.parametrize("how", ["exchange", "no exchange", "beside others", "adding"])
def test_killed_at_any_step_the_next_run_makes_it_whole(
    quick_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """Nothing is missing or damaged at any moment, and the next run leaves nothing behind."""
    target, foreign, write = quick_path / "out", how == "beside others", write_folder
    if how == "no exchange":
        monkeypatch.setattr(folders, "exchange", lambda one, other: False)
    if how == "adding":
        write = add_to_folder
    others = {"notes.txt": "mine"} if foreign else {}

    def start() -> None:
        shutil.rmtree(target, ignore_errors=True)
        write_folder(target, filled("a"))
        for name, text in others.items():
            (target / name).write_text(text)

    start()
    step = 1
    while killed_at_step(step, lambda: write(target, filled("b"), foreign)):
        _check_moment(target, others, atomic=how == "exchange")
        write(target, filled("b"), foreign)
        kept = VERSIONS["a"] if how == "adding" else {}
        assert contents(target) == {**kept, **VERSIONS["b"], **others}, step
        assert os.listdir(quick_path) == ["out"], step
        start()
        step += STRIDE
    assert step > 20


def _check_moment(target: Path, others: dict[str, str], atomic: bool) -> None:
    """What a killed process left: each file old or new, together with what is on its way."""
    found = {name: text for name, text in contents(target).items() if not name.startswith(".tauform-")}
    if atomic:
        assert found in VERSIONS.values()
    assert others.items() <= found.items()
    for name, text in found.items():
        assert text in (VERSIONS["a"].get(name), VERSIONS["b"].get(name), others.get(name))
    on_the_way = contents(target / JOURNAL) if (target / JOURNAL).exists() else {}
    for version in VERSIONS.values():
        for name in set(VERSIONS["a"]) & set(VERSIONS["b"]):
            assert name in found or name in on_the_way, version


def test_what_was_edited_after_a_kill_is_not_replaced_by_the_journal(quick_path: Path) -> None:
    target = quick_path / "out"
    write_folder(target, filled("a"))
    (target / "notes.txt").write_text("mine")
    step = 1
    while not (target / JOURNAL).exists():
        assert killed_at_step(step, lambda: write_folder(target, filled("b"), force=True))
        step += STRIDE
    (target / "a.c").write_text("edited by hand")
    (target / "notes.txt").unlink()
    with pytest.raises(GenerationError, match=r"a\.c changed since"):
        write_folder(target, filled("b"))
    assert contents(target) == {**VERSIONS["b"], "a.c": "edited by hand"}


def test_many_processes_at_once_leave_one_whole_folder(quick_path: Path) -> None:
    target = quick_path / "out"
    for foreign in (False, True):
        if foreign:
            (target / "notes.txt").write_text("mine")

        def often(version: str, foreign: bool = foreign) -> None:
            for _ in range(15):
                write_folder(target, filled(version), foreign)

        assert run_apart(*(lambda v=v: often(v) for v in "abab")) == [0] * 4
        found = contents(target)
        assert (found.pop("notes.txt", None) == "mine") is foreign
        assert found in VERSIONS.values()
        assert os.listdir(quick_path) == ["out"]


def test_a_full_disk_keeps_the_folder_and_is_said_of_it(target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "LEAST_SPACE", 1)
    for error in (GenerationError, DescriptionError):

        def fill(fresh: Path, error: Any = error) -> list[str]:
            write_text(fresh / "large.c", "x" * 10_000, error)
            return []

        with (
            full_disk(3000),
            pytest.raises(GenerationError, match=r"out: cannot .* \(File too large\); nothing"),
        ):
            write_folder(target, fill)
    assert contents(target) == VERSIONS["a"]
    assert os.listdir(target.parent) == ["out"]


def test_a_failure_leaves_no_folders_on_the_way(tmp_path: Path) -> None:
    def fill(fresh: Path) -> list[str]:
        raise GenerationError("no C")

    with pytest.raises(GenerationError, match="no C"):
        write_folder(tmp_path / "deep" / "out", fill)
    assert os.listdir(tmp_path) == []


def test_a_temporary_folder_can_be_written_to_like_any_other() -> None:
    with scratch_folder() as folder:
        write_folder(folder, filled("a"))
        write_folder(folder, filled("b"))
        assert contents(folder) == VERSIONS["b"]
    assert not folder.parent.exists()


def test_a_parent_that_is_read_only_does_not_matter(open_place: Path) -> None:
    target = open_place / "parent" / "out"
    target.mkdir(parents=True)
    target.chmod(0o777)
    target.parent.chmod(0o555)

    def write() -> None:
        write_folder(target, filled("a"))
        write_folder(target, filled("b"))

    assert as_nobody(write) == 0
    assert contents(target) == VERSIONS["b"]


MOUNTED = """
set -e
mount -t tmpfs tmpfs "$1"
"$2" - "$1" <<'END'
import sys
from pathlib import Path
from files.test_folder import VERSIONS, contents, filled
from tauform.files.checks import is_mount_point
from tauform.files.folder import write_folder
target = Path(sys.argv[1])
assert is_mount_point(target) and not is_mount_point(target.parent)
for version in "aba":
    write_folder(target, filled(version))
    assert contents(target) == VERSIONS[version], contents(target)
END
"""


def test_a_mounted_folder_is_written_inside(tmp_path: Path) -> None:
    """The volume of a container cannot be renamed."""
    target = tmp_path / "a volume"
    target.mkdir()
    apart = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--mount", "--map-root-user"]
    if shutil.which("unshare") is None or subprocess.run([*apart, "true"], capture_output=True).returncode:
        pytest.skip("mounting is not allowed here")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    command = [*apart, "sh", "-c", MOUNTED, "sh", str(target), sys.executable]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
