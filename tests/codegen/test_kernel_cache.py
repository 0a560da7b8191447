"""The kernel cache: used, rebuilt when damaged, safe for two processes, never needed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tauform.codegen.runtime import cache
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


def test_a_folder_that_cannot_be_written_is_no_obstacle(folder: Path) -> None:
    folder.write_text("a file in the way")
    assert compile_program(elementwise(lambda x: x + x))(np.array([2.0])) == 4.0


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
