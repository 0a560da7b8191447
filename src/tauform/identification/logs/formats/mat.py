"""Logs that MATLAB wrote: -v7 and older by SciPy in a process of its own, -v7.3 (HDF5) by h5py."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tauform.archives import damage_as_value_error
from tauform.arrays import Array
from tauform.errors import MissingExtraError, RecordingError
from tauform.files.temporaries import scratch_folder
from tauform.identification.logs.column_names import listed
from tauform.identification.logs.formats.arrays import NUMBERS, check_lengths, log_of, shortened, upright
from tauform.identification.logs.formats.log import Log, Table, check_packing

CHILD = Path(__file__).with_name("mat_child.py")
# Seconds that reading may take, at all and per megabyte, and bytes of memory, at all and per byte of the file.
SECONDS, SECONDS_PER_MB = 60.0, 0.5
BYTES, BYTES_PER_BYTE = 4 << 30, 30
HDF5 = b"\x89HDF\r\n\x1a\n"
# MATLAB puts a text of its own before the HDF5 file.
USER_BLOCK = 512
# Structs within structs that are looked into.
DEEPEST = 6


def open_mat(path: Path) -> Log:
    """Variables of numbers, also in structs, written by MATLAB with -v7 or older, or with -v7.3 where h5py is there."""
    with path.open("rb") as file:
        if HDF5 in (file.read(len(HDF5)), file.read(USER_BLOCK)[-len(HDF5) :]):
            return _open_hdf5(path)
    with scratch_folder() as folder:
        names, findings = _converted(path, folder)
        # What is mapped stays readable after its name is gone.
        files = {name: np.load(folder / f"{k}.npy", mmap_mode="r") for k, name in enumerate(names)}
    # MATLAB has no vectors: a row or column of N is one.
    arrays = {name: array.reshape(_vector(array.shape)) for name, array in files.items()}
    shapes, turned = upright({name: array.shape for name, array in arrays.items()}, path)
    arrays = {name: array if array.shape == shapes[name] else array.T for name, array in arrays.items()}

    def chunks(wanted: Sequence[str], rows: int) -> Iterator[Table]:
        check_lengths({name: len(arrays[name]) for name in wanted}, path)
        for first in range(0, len(arrays[wanted[0]]), rows):
            yield {name: np.array(arrays[name][first : first + rows]) for name in wanted}

    return log_of(shapes, chunks, [*findings, *turned])


def _converted(path: Path, folder: Path) -> tuple[list[str], list[str]]:
    """Names of the variables, the k-th in folder/k.npy; and sentences about what only MATLAB reads."""
    size = path.stat().st_size
    limit = BYTES + BYTES_PER_BYTE * size
    seconds = SECONDS + SECONDS_PER_MB * size / 1e6
    command = [sys.executable, "-P", str(CHILD), str(path.resolve()), str(folder), str(limit)]
    try:
        # Threads of BLAS would count as memory.
        done = subprocess.run(
            command, capture_output=True, timeout=seconds, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"}, check=False
        )
    except subprocess.TimeoutExpired:
        raise RecordingError(f"{path.name}: not read after {seconds:.0f} s; save it with MATLAB's -v7.3") from None
    if done.returncode == 0:
        told = json.loads(done.stdout)
        objects = [str(name) for name in told["objects"]]
        if objects and not told["names"]:
            raise RecordingError(f"{path.name}: {_objects(objects)}")
        return shortened(told["names"]), [f"{path.name}: {_objects(objects)}"] if objects else []
    lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
    reason = lines[-1] if lines and done.returncode > 0 else "SciPy crashes on it"
    raise RecordingError(f"{path.name}: cannot read it ({reason}); save it with MATLAB's option -v7")


def _objects(names: Sequence[str]) -> str:
    """What to do about timeseries and tables, which are stored in a form of MATLAB's own."""
    return (
        f"{listed(names)} is an object that only MATLAB reads (timeseries, table); "
        "save its parts as matrices, for example t = x.Time; q = x.Data"
    )


def _open_hdf5(path: Path) -> Log:
    try:
        import h5py
    except ImportError:
        raise MissingExtraError(
            f"{path.name}: files of MATLAB's option -v7.3 need h5py; install it with: pip install 'tauform[logs]', or "
            "save with -v7"
        ) from None
    try:
        with damage_as_value_error(), h5py.File(path, "r") as file:
            kept = {place: data for place, data in _datasets(file) if max(data.shape) > 1}
            places = dict(zip(shortened([place.replace("/", ".") for place in kept]), kept, strict=True))
            # The file holds what MATLAB shows, transposed.
            stored_shapes = {name: _vector(kept[place].shape[::-1]) for name, place in places.items()}
            stored = {name: kept[place].id.get_storage_size() for name, place in places.items()}
    except ValueError as error:
        raise RecordingError(f"{path.name}: cannot read it ({error}); save it again") from None
    shapes, findings = upright(stored_shapes, path)
    turned = {name for name, shape in shapes.items() if shape != stored_shapes[name]}

    def chunks(wanted: Sequence[str], rows: int) -> Iterator[Table]:
        check_lengths({name: shapes[name][0] for name in wanted}, path)
        check_packing(8 * sum(map(math.prod, (shapes[n] for n in wanted))), sum(stored[n] for n in wanted), path)
        try:
            with damage_as_value_error(), h5py.File(path, "r") as file:
                for first in range(0, shapes[wanted[0]][0], rows):
                    part = slice(first, first + rows)
                    yield {name: _hdf5_rows(file[places[name]], part, shapes[name], name in turned) for name in wanted}
        except ValueError as error:
            raise RecordingError(f"{path.name}: cut off or damaged ({error}); save it again") from None

    return log_of(shapes, chunks, findings)


def _datasets(group: Any, within: str = "", above: Sequence[Any] = ()) -> Iterator[tuple[str, Any]]:
    """(path, matrix of numbers) of a file and the structs in it; links to other files are not followed.

    Args:
        above: the groups that hold this one: a file may say that a struct holds itself.
    """
    import h5py

    for name in group:
        if name.startswith("#") or not isinstance(group.get(name, getlink=True), h5py.HardLink):
            continue
        held = group[name]
        if isinstance(held, h5py.Group) and len(above) < DEEPEST and held not in (group, *above):
            yield from _datasets(held, f"{within}{name}/", (*above, group))
        elif isinstance(held, h5py.Dataset) and held.ndim == 2 and held.dtype.kind in NUMBERS and _is_inside(held):
            yield f"{within}{name}", held


def _is_inside(data: Any) -> bool:
    return data.external is None and not data.is_virtual


def _hdf5_rows(data: Any, part: slice, shape: tuple[int, ...], turned: bool) -> Array:
    if turned:
        return np.asarray(data[part, :], dtype=np.float64)
    if len(shape) == 2:
        return np.asarray(data[:, part], dtype=np.float64).T
    return np.asarray(data[0, part] if data.shape[0] == 1 else data[part, 0], dtype=np.float64)


def _vector(shape: tuple[int, ...]) -> tuple[int, ...]:
    return (max(shape),) if min(shape) == 1 else shape
