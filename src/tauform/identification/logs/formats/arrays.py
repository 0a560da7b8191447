"""Logs that are arrays by name, read in pieces: NPZ."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from tauform.archives import Member, damage_as_value_error, members_of, read_header
from tauform.arrays import Array
from tauform.errors import RecordingError
from tauform.identification.logs.formats.log import Chunks, Log, Table, check_packing

# Kinds of types that NumPy calls numbers.
NUMBERS = "fiub"


def open_npz(path: Path) -> Log:
    """Arrays that `numpy.savez` or `savez_compressed` wrote."""
    try:
        with path.open("rb") as file, damage_as_value_error(), zipfile.ZipFile(file) as archive:
            members = members_of(archive)
    except ValueError as error:
        raise RecordingError(f"{path.name}: not an NPZ of numbers ({error})") from None
    # Texts and single numbers beside the samples are notes.
    arrays = {n: m for n, m in members.items() if m.dtype.kind in NUMBERS and len(m.shape) in (1, 2)}

    shapes, findings = upright({name: member.shape for name, member in arrays.items()}, path)

    def chunks(wanted: Sequence[str], rows: int) -> Iterator[Table]:
        check_lengths({name: shapes[name][0] for name in wanted}, path)
        n_rows = shapes[wanted[0]][0]
        kept = [arrays[name] for name in wanted]
        # Before a byte is unpacked: a few kilobytes may claim to be terabytes.
        check_packing(sum(member.n_bytes for member in kept), sum(member.packed for member in kept), path)
        try:
            with path.open("rb") as file, damage_as_value_error(), ExitStack() as stack:
                archive = stack.enter_context(zipfile.ZipFile(file))
                turned = {name: shapes[name] != arrays[name].shape for name in wanted}
                streams = {name: stack.enter_context(_Rows(archive, arrays[name], turned[name])) for name in wanted}
                for first in range(0, n_rows, rows):
                    count = min(rows, n_rows - first)
                    yield {name: stream.read(count) for name, stream in streams.items()}
        except ValueError as error:
            raise RecordingError(f"{path.name}: cut off or damaged ({error}); copy it again") from None

    return log_of(shapes, chunks, findings)


class _Rows:
    """Rows of an array inside an archive, or its columns where it is turned, one block after another."""

    def __init__(self, archive: zipfile.ZipFile, member: Member, turned: bool) -> None:
        self.stream = archive.open(member.file)
        # Read for its length: rows begin behind it.
        read_header(self.stream)
        self.member, self.turned = member, turned
        self.whole: Array | None = None
        self.given = 0

    def __enter__(self) -> _Rows:
        return self

    def __exit__(self, *_: object) -> None:
        self.stream.close()

    def read(self, count: int) -> Array:
        shape, kind = self.member.shape, self.member.dtype
        if (self.member.by_columns or self.turned) and self.whole is None:  # the first row ends where the file does
            whole = np.frombuffer(self.stream.read(), kind)
            whole = whole.reshape(shape, order="F" if self.member.by_columns else "C")
            self.whole = whole.T if self.turned else whole
        if self.whole is None:
            block = np.frombuffer(self.stream.read(count * math.prod(shape[1:]) * kind.itemsize), kind)
            block = block.reshape(count, *shape[1:])
        else:
            block = self.whole[self.given : self.given + count]
        self.given += count
        return block.astype(np.float64)


def log_of(shapes: Mapping[str, tuple[int, ...]], chunks: Chunks, findings: Sequence[str] = ()) -> Log:
    """A log of columns (N,) and matrices (N, width)."""
    widths = {name: shape[1] if len(shape) == 2 else None for name, shape in shapes.items()}
    return Log(widths, chunks, list(findings), lengths={name: shape[0] for name, shape in shapes.items()})


def upright(shapes: Mapping[str, tuple[int, ...]], path: Path) -> tuple[dict[str, tuple[int, ...]], list[str]]:
    """Shapes with one row per sample, and a finding where a matrix holds one row per joint instead.

    The columns (N,) tell how many samples there are; without any, matrices that are all wider than long are turned.
    """
    # Vectors, such as time, say how many samples there are.
    counts = {shape[0] for shape in shapes.values() if len(shape) == 1}
    matrices = {name: shape for name, shape in shapes.items() if len(shape) == 2}
    if counts:
        turned = [n for n, (rows, width) in matrices.items() if width in counts and rows not in counts]
    else:
        # Without one: recordings have more samples than joints.
        turned = list(matrices) if all(rows < width for rows, width in matrices.values()) else []
    words = f"{path.name}: {', '.join(turned)} hold{'s' * (len(turned) == 1)} one row per joint: turned"
    return {name: shape[::-1] if name in turned else shape for name, shape in shapes.items()}, [words] if turned else []


def vector_shape(shape: Sequence[int]) -> tuple[int, ...]:
    """MATLAB has no vectors: a row or column of N is one."""
    return (max(shape),) if min(shape) == 1 else tuple(shape)


def shortened(paths: Sequence[str]) -> list[str]:
    """Names of fields of structs without the structs' own, where that leaves no two alike."""
    # `log.q` is called `q`, unless another struct has a `q` too.
    leaves = [path.rpartition(".")[2] for path in paths]
    return leaves if len(set(leaves)) == len(leaves) else list(paths)


def series_apart(paths: Mapping[str, Array]) -> dict[str, Array]:
    """Structs of a Time and its Data, as timeseries are saved: the data by the name of the struct, one time for all.

    Times that differ keep their names.
    """
    parts: dict[str, dict[str, str]] = {}
    for path in paths:
        owner, _, leaf = path.rpartition(".")
        if owner and leaf.lower() in ("time", "data"):
            parts.setdefault(owner, {})[leaf.lower()] = path
    series = {owner: held for owner, held in parts.items() if len(held) == 2}
    times = [held["time"] for held in series.values()]
    if not times or not all(np.array_equal(paths[times[0]], paths[time]) for time in times[1:]):
        return dict(paths)
    named = {held["data"]: owner for owner, held in series.items()} | {times[0]: "time"}
    kept = {named.get(path, path): values for path, values in paths.items() if path not in times[1:]}
    # Two of one name: as they were.
    return kept if len(kept) == len(paths) - len(times[1:]) else dict(paths)


def check_lengths(lengths: Mapping[str, int], path: Path) -> None:
    """Raise RecordingError where arrays have different numbers of rows."""
    (first, count), *others = lengths.items()
    for name, other in others:
        if other != count:
            raise RecordingError(
                f"{path.name}: {name} holds {other} rows, {first} {count}; one row per sample, one column per joint: "
                "transpose it, or cut both to the same samples"
            )
