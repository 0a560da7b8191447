"""Logs that MATLAB wrote: -v7 and older by SciPy in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from tauform.errors import RecordingError
from tauform.files.temporaries import scratch_folder
from tauform.identification.logs.column_names import listed
from tauform.identification.logs.formats.arrays import (
    check_lengths,
    log_of,
    series_apart,
    shortened,
    upright,
    vector_shape,
)
from tauform.identification.logs.formats.hdf5 import open_hdf5
from tauform.identification.logs.formats.log import Log, Table

CHILD = Path(__file__).with_name("mat_child.py")
# Seconds that reading may take, at all and per megabyte, and bytes of memory, at all and per byte of the file.
SECONDS, SECONDS_PER_MB = 60.0, 0.5
BYTES, BYTES_PER_BYTE = 4 << 30, 30
HDF5 = b"\x89HDF\r\n\x1a\n"
# MATLAB puts a text of its own before the HDF5 file.
USER_BLOCK = 512


def open_mat(path: Path) -> Log:
    """Variables of numbers, also in structs, written by MATLAB with -v7 or older, or with -v7.3 where h5py is there."""
    with path.open("rb") as file:
        if HDF5 in (file.read(len(HDF5)), file.read(USER_BLOCK)[-len(HDF5) :]):
            return open_hdf5(path)
    with scratch_folder() as folder:
        names, findings = _converted(path, folder)
        # What is mapped stays readable after its name is gone.
        files = {name: np.load(folder / f"{k}.npy", mmap_mode="r") for k, name in enumerate(names)}
    files = series_apart(files)
    files = dict(zip(shortened(list(files)), files.values(), strict=True))
    # MATLAB has no vectors: a row or column of N is one.
    arrays = {name: array.reshape(vector_shape(array.shape)) for name, array in files.items()}
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
        return [str(name) for name in told["names"]], [f"{path.name}: {_objects(objects)}"] if objects else []
    lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
    reason = lines[-1] if lines and done.returncode > 0 else "SciPy crashes on it"
    raise RecordingError(f"{path.name}: cannot read it ({reason}); save it with MATLAB's option -v7")


def _objects(names: Sequence[str]) -> str:
    """What to do about timeseries and tables, which are stored in a form of MATLAB's own."""
    return (
        f"{listed(names)} is an object that only MATLAB reads (timeseries, table); "
        "save its parts as matrices, for example t = x.Time; q = x.Data"
    )
