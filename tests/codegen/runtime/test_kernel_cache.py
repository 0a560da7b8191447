"""The kernel cache: used, rebuilt when damaged, safe for two processes, never needed."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

from tauform.codegen.runtime import cache, kernel, scan
from tauform.codegen.runtime.cache import cached
from tauform.codegen.runtime.kernel import compile_program
from traced_programs import elementwise


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TAUFORM_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_built_once_for_each_key(folder: Path) -> None:
    built: list[str] = []

    def build(text: str) -> bytes:
        built.append(text)
        return text.encode()

    for key in ("a", "b", "a", "b"):
        assert cached(key, lambda key=key: build(key)) == key.encode()
    assert built == ["a", "b"]
    assert len(list(folder.iterdir())) == 2


@pytest.mark.parametrize(
    "damage", [lambda data: data[:-3], lambda data: b"", lambda data: data[:40] + b"?" + data[41:]]
)
def test_a_damaged_entry_is_built_again(folder: Path, damage: object) -> None:
    program = elementwise(lambda x: x * x, 2)
    expected = compile_program(program)(np.array([2.0, 3.0]))
    (entry,) = folder.iterdir()
    whole = entry.read_bytes()
    entry.write_bytes(damage(whole))  # type: ignore[operator]
    np.testing.assert_array_equal(compile_program(program)(np.array([2.0, 3.0])), expected)
    assert entry.read_bytes() == whole


def test_another_kernel_under_that_name_is_never_loaded(folder: Path) -> None:
    """Exchanged or renamed by whatever means, whole and with an intact payload."""
    square, double = elementwise(lambda x: x * x, 2), elementwise(lambda x: x + x, 2)
    compile_program(square)
    (of_square,) = folder.iterdir()
    compile_program(double)
    (of_double,) = set(folder.iterdir()) - {of_square}
    whole = of_square.read_bytes()
    shutil.copy(of_double, of_square)
    np.testing.assert_array_equal(compile_program(square)(np.array([3.0, 5.0])), [9.0, 25.0])
    assert of_square.read_bytes() == whole


def _planted(folder: Path, key: str) -> Path:
    """An entry that is right but for the payload: what somebody who knows the format would put there."""
    assert cached(key, lambda: b"planted") == b"planted"
    (entry,) = folder.glob("*.kernel")
    return entry


OTHER_USER = 12345
needs_root = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away")


@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666, 0o722])
def test_an_entry_that_others_can_write_is_built_again(folder: Path, mode: int) -> None:
    entry = _planted(folder, "a")
    entry.chmod(mode)
    assert cached("a", lambda: b"ours") == b"ours"
    assert stat.S_IMODE(entry.stat().st_mode) == 0o600
    assert cached("a", lambda: b"never built") == b"ours"


@pytest.mark.parametrize("mode", [0o720, 0o702, 0o777, 0o1777])
def test_a_folder_that_others_can_write_is_not_used(folder: Path, mode: int) -> None:
    entry = _planted(folder, "a")
    before = entry.read_bytes()
    folder.chmod(mode)
    with pytest.warns(UserWarning, match=r"can be written by others.*chmod 700.*TAUFORM_CACHE"):
        assert cached("a", lambda: b"ours") == b"ours"
    assert entry.read_bytes() == before  # nothing is written there either
    assert len(list(folder.iterdir())) == 1


@needs_root
def test_a_file_of_another_user_is_built_again(folder: Path) -> None:
    entry = _planted(folder, "a")
    os.chown(entry, OTHER_USER, -1)
    assert cached("a", lambda: b"ours") == b"ours"
    assert entry.stat().st_uid == os.geteuid()
    assert cached("a", lambda: b"never built") == b"ours"


@needs_root
def test_a_folder_of_another_user_is_not_used(folder: Path) -> None:
    """Root does not use it either: its rights are worth more than the user's."""
    _planted(folder, "a")
    os.chown(folder, OTHER_USER, -1)
    with pytest.warns(UserWarning, match="belongs to another user"):
        assert cached("a", lambda: b"ours") == b"ours"
    with pytest.warns(UserWarning, match="belongs to another user"):
        assert cached("b", lambda: b"ours") == b"ours"
    assert len(list(folder.iterdir())) == 1


def test_links_are_not_followed(folder: Path, tmp_path: Path) -> None:
    """Neither an entry that is one, which is replaced, nor the folder."""
    entry = _planted(folder, "a")
    elsewhere = entry.rename(tmp_path / "planted")
    entry.symlink_to(elsewhere)
    assert cached("a", lambda: b"ours") == b"ours"
    assert not entry.is_symlink()
    assert elsewhere.read_bytes().endswith(b"planted")
    folder.rename(tmp_path / "real")
    folder.symlink_to(tmp_path / "real")
    with pytest.warns(UserWarning, match="is a link"):
        assert cached("a", lambda: b"again") == b"again"


def test_a_folder_or_a_pipe_in_the_place_of_an_entry_is_no_obstacle(folder: Path) -> None:
    entry = _planted(folder, "a")
    entry.unlink()
    entry.mkdir()
    assert cached("a", lambda: b"ours") == b"ours"
    entry.rmdir()
    os.mkfifo(entry, 0o600)
    assert cached("a", lambda: b"ours") == b"ours"  # and nobody waits for the pipe
    assert cached("a", lambda: b"never built") == b"ours"


def _as_a_user(folder: Path, *keys: str) -> str:
    """What a process that modes bind, which root's is not, is answered for each key."""
    code = (
        "import os, sys, warnings; from tauform.codegen.runtime.cache import cached\n"
        "os.geteuid() or os.setuid(int(sys.argv[1]))\n"
        "with warnings.catch_warnings(record=True) as said:\n"
        "    warnings.simplefilter('always')\n"
        "    print([cached(key, lambda: b'built') for key in sys.argv[2:]])\n"
        "print(len(said), *(['cannot be written' in str(words.message) for words in said]))\n"
    )
    path = os.pathsep.join(p for p in sys.path if p)
    environment = {**os.environ, "PYTHONPATH": path, "TAUFORM_CACHE": str(folder)}
    command = [sys.executable, "-c", code, str(OTHER_USER), *keys]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_a_folder_that_is_read_only_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """A read-only folder is read, and one below a read-only home is done without."""
    with tempfile.TemporaryDirectory() as name:
        home, folder = Path(name), Path(name, "cache")
        monkeypatch.setenv("TAUFORM_CACHE", str(folder))
        entry = _planted(folder, "a")
        entry.chmod(0o400)
        folder.chmod(0o500)
        home.chmod(0o555)
        if os.geteuid() == 0:
            for path in (folder, entry):
                os.chown(path, OTHER_USER, -1)
        try:
            assert _as_a_user(folder, "a", "b", "c") == "[b'planted', b'built', b'built']\n1 True"  # said once
            assert _as_a_user(home / "another" / "cache", "a") == "[b'built']\n1 True"
            assert os.listdir(home) == ["cache"]
        finally:
            home.chmod(0o700)
            folder.chmod(0o700)


def test_a_folder_that_cannot_be_written_is_no_obstacle(folder: Path) -> None:
    folder.write_text("a file in the way")
    with pytest.warns(UserWarning, match="cannot be written"):
        assert compile_program(elementwise(lambda x: x + x))(np.array([2.0])) == 4.0


def test_a_cache_that_is_off_keeps_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TAUFORM_CACHE", "off")
    assert [cached("a", lambda text=text: text) for text in (b"one", b"two")] == [b"one", b"two"]
    assert not folder.exists()
    assert not Path("off").exists()


def test_what_was_not_used_for_longest_goes_first(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "MAX_CACHE_BYTES", 3 * (100 + 32))
    for age, key in enumerate(("a", "b", "c")):
        cached(key, lambda: bytes(100))
        (new,) = (path for _, _, path in cache.entries(folder) if path.stat().st_mtime > 1e6)
        os.utime(new, (age + 1, age + 1))
    assert cached("a", lambda: b"never built") == bytes(100)  # used just now
    cached("d", lambda: bytes(100), "program")
    built: list[str] = []
    for key in ("a", "c"):
        cached(key, lambda key=key: built.append(key) or b"")
    assert cached("d", lambda: b"never built", "program") == bytes(100)
    assert not built
    assert cached("b", lambda: b"again") == b"again"


def test_without_a_home_folder_kernels_are_compiled_all_the_same() -> None:
    """Users of some containers have no entry in the list of users."""
    code = (
        "import os, pwd; [os.environ.pop(name, None) for name in ('HOME', 'XDG_CACHE_HOME', 'TAUFORM_CACHE')]\n"
        "def unknown(uid): raise KeyError(uid)\n"
        "pwd.getpwuid = unknown\n"
        "import numpy as np; from traced_programs import elementwise\n"
        "from tauform.codegen.runtime.kernel import compile_program\n"
        "print(compile_program(elementwise(lambda x: x + x))(np.array([2.0])))"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment)
    assert run.stdout.strip() == "[4.]", run.stderr


def test_default_folder_follows_the_platform(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("TAUFORM_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(sys, "platform", "linux")
    assert cache.folder() == tmp_path / "tauform"


def test_two_processes_at_once(folder: Path) -> None:
    code = (
        "import numpy as np; from traced_programs import elementwise; "
        "from tauform.codegen.runtime.kernel import compile_program; "
        "print(compile_program(elementwise(lambda x: x * x + 1.0, 3))(np.arange(3.0)))"
    )
    path = os.pathsep.join(p for p in sys.path if p)
    environment = {**os.environ, "PYTHONPATH": path}
    runs = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=environment)
        for _ in range(2)
    ]
    assert [run.communicate(timeout=60)[0].strip() for run in runs] == ["[1. 2. 5.]"] * 2
    assert [entry.suffix for entry in folder.iterdir()] == [".kernel"]


def test_machine_code_of_edited_code_is_built_anew(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels and scans are built anew: passes may change while the text that they are given stays the same."""
    program = elementwise(lambda x: x * x)
    for module, build in ((kernel, compile_program), (scan, scan.Scan)):
        before = len(list(folder.glob("*"))) if folder.exists() else 0
        for version in ("one", "two", "two"):
            monkeypatch.setattr(module, "package", lambda version=version: version)
            build(program)
        assert len(list(folder.glob("*"))) == before + 2
