"""Readers whose library a file can crash, hang or fill the memory of: run in a process of their own, within bounds.

A reader is a generator of this package, (path, *arguments) -> first what JSON can hold, then blocks of numbers. A child
runs it and sends what it yields through a pipe, block by block, so that logs larger than memory pass too. It ends with
the process that asked, whose end closes its standard input.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import IO, Any

import numpy as np

from tauform.archives import HARMLESS_BYTES, MOST_COMPRESSION
from tauform.errors import MissingExtraError, RecordingError, TauformError
from tauform.files.temporaries import scratch_folder
from tauform.identification.logs.formats.log import check_packing

Reader = Callable[..., Iterator[Any]]
# Seconds until the next block, at all and per megabyte, and bytes of memory, at all and per byte of the file.
SECONDS, SECONDS_PER_MB = 60.0, 0.5
BYTES, BYTES_PER_BYTE = 2 << 30, 8
_CHILD = "from tauform.identification.logs.formats.separate import work; work()"
_RAISED = {kind.__name__: kind for kind in (RecordingError, MissingExtraError)}


def read_separately(reader: Reader, path: Path, *arguments: Any) -> Generator[Any, None, None]:
    """What a reader yields of a file; close it to end the process early.

    Args:
        arguments: of the reader, after the path, as JSON holds them.

    Raises:
        RecordingError: what the reader raises; or the file crashes it, takes it too long, or unpacks to more than any
            measurement does.
    """
    # Bounds grow with the file: what is honest unpacks to some multiple of it.
    size = sum(file.stat().st_size for file in (path.iterdir() if path.is_dir() else [path]))
    given = 0
    for piece in _pieces(reader, path, arguments, size):
        if isinstance(piece, np.ndarray):
            given += piece.nbytes
            # While it arrives: the child's own limit bounds its memory, not what it sends.
            check_packing(given, size, path)
        yield piece


def _pieces(reader: Reader, path: Path, arguments: tuple[Any, ...], size: int) -> Iterator[Any]:
    seconds, memory = SECONDS + SECONDS_PER_MB * size / 1e6, BYTES + BYTES_PER_BYTE * size
    named = [reader.__module__, reader.__name__]
    # Files are what some bags unpack to before they are read.
    limits = {"AS": memory, "FSIZE": max(HARMLESS_BYTES, MOST_COMPRESSION * size), "CORE": 0}
    with scratch_folder() as folder, _started(folder) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(json.dumps([limits, named, str(path.absolute()), arguments]).encode() + b"\n")
        child.stdin.flush()
        while True:
            late = threading.Event()
            with _at_most(seconds, child, late):
                kind, content = _received(child.stdout)
            if kind == "told":
                yield content
            elif kind == "end":
                return
            elif kind == "raised":
                raise _RAISED[content["kind"]](content["sentence"], argument=content["argument"])
            else:
                why = f"not read after {seconds:.0f} s" if late.is_set() else "its library crashes on it"
                why = f"it unpacks to more than {memory / 1e9:.2g} GB" if kind == "memory" else why
                raise RecordingError(f"{path.name}: cannot read it ({why}); it is damaged: copy or record it again")


@contextmanager
def _started(folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    # The child finds this package wherever it was imported from; -P: and nothing in the folder that it starts in.
    path = os.pathsep.join(entry or os.getcwd() for entry in sys.path)
    # Threads of BLAS would count as memory; libraries unpack into a folder that goes whatever happens.
    own = {"PYTHONPATH": path, "OPENBLAS_NUM_THREADS": "1", "TMPDIR": str(folder), "SQLITE_TMPDIR": str(folder)}
    child = subprocess.Popen(
        [sys.executable, "-P", "-c", _CHILD],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **own},
    )
    try:
        yield child
    finally:
        child.kill()
        with suppress(OSError), child:
            pass


@contextmanager
def _at_most(seconds: float, child: subprocess.Popen[bytes], late: threading.Event) -> Iterator[None]:
    """End the child where the block takes longer."""

    def end() -> None:
        late.set()
        child.kill()

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _received(stream: IO[bytes]) -> tuple[str, Any]:
    """Kind and content of the next piece; "nothing" where the child is gone."""
    line = stream.readline()
    # Cut off in the middle of a word: the child died.
    if not line.endswith(b"\n"):
        return "nothing", None
    kind, content = json.loads(line)
    if kind != "numbers":
        return kind, content
    data = stream.read(8 * content[0] * content[1])
    if len(data) < 8 * content[0] * content[1]:
        return "nothing", None
    return "told", np.frombuffer(data).reshape(content)


# In the child.


def work() -> None:
    """Run the reader that standard input asks for, and send what it yields."""
    limits, (module, name), path, arguments = json.loads(sys.stdin.buffer.readline())
    # A reader in C answers no signal of Python's; the thread ends it all the same.
    threading.Thread(target=_end_with_parent, daemon=True).start()
    out = os.dup(1)
    # What a library prints must not come between.
    os.dup2(2, 1)
    try:
        reader = getattr(import_module(module), name)
        _limit(limits)
        for piece in reader(Path(path), *arguments):
            _send(out, piece)
        _say(out, "end", None)
    except MemoryError:
        _say(out, "memory", None)
    except TauformError as error:
        _say(out, "raised", {"kind": type(error).__name__, "sentence": str(error), "argument": error.argument})
    # Without cleaning up: libraries that were handed a damaged file crash on their way out.
    os._exit(0)


def _limit(limits: dict[str, int]) -> None:
    try:
        import resource
    except ImportError:
        return  # a system without limits
    for name, value in limits.items():
        with suppress(OSError, ValueError):
            number = getattr(resource, f"RLIMIT_{name}")
            soft, hard = resource.getrlimit(number)
            # A tighter limit of the user's stays.
            kept = min(value, *(each for each in (soft, hard) if each != resource.RLIM_INFINITY), value)
            resource.setrlimit(number, (kept, hard))


def _send(out: int, piece: Any) -> None:
    if isinstance(piece, np.ndarray):
        _say(out, "numbers", piece.shape)
        _write(out, np.ascontiguousarray(piece, dtype=np.float64).tobytes())
    else:
        _say(out, "told", piece)


def _say(out: int, kind: str, content: Any) -> None:
    _write(out, json.dumps([kind, content]).encode() + b"\n")


def _write(out: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        # Pipes take what they have room for.
        rest = rest[os.write(out, rest) :]


def _end_with_parent() -> None:
    sys.stdin.buffer.read()
    os._exit(1)
