"""Logs that MATLAB wrote with -v7.3, which are HDF5: h5py reads them in a process of its own."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from tauform.archives import damage_as_value_error
from tauform.arrays import Array
from tauform.errors import MissingExtraError, RecordingError
from tauform.identification.logs.formats.arrays import NUMBERS, check_lengths, log_of, shortened, upright, vector_shape
from tauform.identification.logs.formats.log import Log, Table, check_packing
from tauform.identification.logs.formats.separate import read_separately

# Structs within structs that are looked into.
DEEPEST = 6


def open_hdf5(path: Path) -> Log:
    """Variables of numbers, also in structs."""
    with closing(read_separately(matrices, path, [], 0)) as pieces:
        kept: dict[str, Any] = next(pieces)
    places = dict(zip(shortened([place.replace("/", ".") for place in kept]), kept, strict=True))
    # The file holds what MATLAB shows, transposed.
    stored_shapes = {name: vector_shape(kept[place]["shape"][::-1]) for name, place in places.items()}
    stored = {name: kept[place]["stored"] for name, place in places.items()}
    shapes, findings = upright(stored_shapes, path)
    turned = {name for name, shape in shapes.items() if shape != stored_shapes[name]}

    def chunks(wanted: Sequence[str], rows: int) -> Iterator[Table]:
        check_lengths({name: shapes[name][0] for name in wanted}, path)
        check_packing(8 * sum(map(math.prod, (shapes[n] for n in wanted))), sum(stored[n] for n in wanted), path)
        ends = np.cumsum([math.prod(shapes[name][1:]) for name in wanted])[:-1]
        asked = [[places[name], name in turned] for name in wanted]
        with closing(read_separately(matrices, path, asked, rows)) as pieces:
            next(pieces)
            for block in pieces:
                parts = zip(wanted, np.split(block, ends, axis=1), strict=True)
                yield {name: part if len(shapes[name]) == 2 else part[:, 0] for name, part in parts}

    return log_of(shapes, chunks, findings)


def matrices(path: Path, wanted: Sequence[Sequence[Any]], rows: int) -> Iterator[Any]:
    """Place -> shape and stored bytes of every matrix; then blocks of rows of those that are wanted, side by side.

    Args:
        wanted: (place, whether its rows are samples) of each.
    """
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
            yield {p: {"shape": data.shape, "stored": data.id.get_storage_size()} for p, data in kept.items()}
            n_rows = _length(file[wanted[0][0]], wanted[0][1]) if wanted else 0
            for first in range(0, n_rows, rows):
                part = slice(first, first + rows)
                yield np.hstack([_rows(file[place], part, by_rows) for place, by_rows in wanted])
    except ValueError as error:
        raise RecordingError(f"{path.name}: cannot read it ({error}): cut off or damaged; save it again") from None


def _datasets(group: Any, within: str = "", above: Sequence[Any] = ()) -> Iterator[tuple[str, Any]]:
    """(path, matrix of numbers) of a file and the structs in it; links to other files are not followed.

    Args:
        above: the groups that hold this one: a file may say that a struct holds itself.
    """
    import h5py

    for name in group:
        # MATLAB's own bookkeeping, and links, which may lead anywhere.
        if name.startswith("#") or not isinstance(group.get(name, getlink=True), h5py.HardLink):
            continue
        held = group[name]
        if isinstance(held, h5py.Group) and len(above) < DEEPEST and held not in (group, *above):
            yield from _datasets(held, f"{within}{name}/", (*above, group))
        elif isinstance(held, h5py.Dataset) and held.ndim == 2 and held.dtype.kind in NUMBERS and _is_inside(held):
            yield f"{within}{name}", held


def _is_inside(data: Any) -> bool:
    # Data of other files on this machine would be read into the recording.
    return data.external is None and not data.is_virtual


def _length(data: Any, by_rows: bool) -> int:
    """Samples of a matrix; vectors lie as they like."""
    return max(data.shape) if min(data.shape) == 1 else data.shape[0 if by_rows else 1]


def _rows(data: Any, part: slice, by_rows: bool) -> Array:
    along_first = by_rows if min(data.shape) > 1 else data.shape[0] > 1
    block = data[part, :] if along_first else data[:, part].T
    return np.asarray(block, dtype=np.float64)
