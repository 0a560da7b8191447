"""Parquet: logs in columns, read in pieces; what is no whole file is told in our words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tauform.archives import damage_as_value_error
from tauform.arrays import Array
from tauform.errors import MissingExtraError, RecordingError
from tauform.identification.logs.formats.log import Log, Table, check_packing, refuse_two_of_a_name
from tauform.identification.logs.formats.parquet_pages import unpacked_bytes

# First and last bytes of a file; the second kind is encrypted.
MARKS = (b"PAR1", b"PARE")


def parquet_library(path: Path) -> Any:
    """pyarrow.parquet, for a file that begins and ends as Parquet does.

    Raises:
        RecordingError: another kind of file, or one that was cut off.
        MissingExtraError: pyarrow is not installed.
    """
    try:
        from pyarrow import parquet
    except ImportError:
        raise MissingExtraError("Parquet logs need pyarrow; install it with: pip install 'tauform[logs]'") from None
    with path.open("rb") as file:
        begin = file.read(4)
        file.seek(max(0, path.stat().st_size - 4))
        end = file.read(4)
    if not begin:
        raise RecordingError(f"{path.name}: is empty; copy it again")
    if begin not in MARKS:
        raise RecordingError(f"{path.name}: not a Parquet table (it does not begin with PAR1); name it as what it is")
    # The list of columns comes last: without it nothing in the file can be found.
    if end not in MARKS or path.stat().st_size < 12:
        raise RecordingError(f"{path.name}: cut off before its end; copy it again, or let the logger close it first")
    return parquet


def open_parquet(path: Path) -> Log:
    """Columns of numbers; time may be a time stamp or a duration."""
    parquet = parquet_library(path)
    import pyarrow

    try:
        with damage_as_value_error():  # pyarrow raises its own classes
            schema, n_rows = parquet.read_schema(path), parquet.read_metadata(path).num_rows
    except ValueError as error:
        raise damaged(path, error) from None
    refuse_two_of_a_name(schema.names, path)
    kinds = pyarrow.types
    clocks = {f.name for f in schema if kinds.is_timestamp(f.type) or kinds.is_duration(f.type)}
    numbers = {f.name for f in schema if kinds.is_floating(f.type) or kinds.is_integer(f.type)}

    def chunks(wanted: Sequence[str], rows: int) -> Iterator[Table]:
        # A small file may unpack to any size, by its rows or by pages that hold more than them.
        check_packing(8 * n_rows * len(wanted), path.stat().st_size, path)
        n_read = 0
        try:
            with damage_as_value_error(), path.open("rb") as file:
                n_bytes = unpacked_bytes(file, wanted)
            check_packing(n_bytes, path.stat().st_size, path)
            # Reading ahead would hold the whole file in memory.
            whole = {"pre_buffer": False, "page_checksum_verification": True}
            with damage_as_value_error(), parquet.ParquetFile(path, **whole) as table:
                for batch in table.iter_batches(batch_size=rows, columns=list(wanted)):
                    n_read += len(batch)
                    yield {name: _seconds(batch[name]) if name in clocks else _plain(batch[name]) for name in wanted}
                    # Its parts say on their own how many rows they hold.
                    if n_read > n_rows:
                        break
            if n_read != n_rows:
                raise ValueError(f"its parts do not add up to {n_rows} rows")
        except ValueError as error:
            raise damaged(path, error) from None

    lists = [f.name for f in schema if kinds.is_list(f.type) or kinds.is_fixed_size_list(f.type)]
    if lists and len(numbers) < 2:
        sentence = f"{path.name}: {', '.join(lists[:5])} hold{'s' * (len(lists) == 1)} lists"
        raise RecordingError(sentence, remedy="write a column of numbers for each joint, such as q1, q2 and tau1, tau2")
    held = [name for name in schema.names if name in clocks | numbers]
    return Log(dict.fromkeys(held), chunks, lengths=dict.fromkeys(held, n_rows))


def damaged(path: Path, error: ValueError) -> RecordingError:
    """What a Parquet file is whose inside cannot be read."""
    return RecordingError(f"{path.name}: cut off or damaged ({error}); copy it again")


def _plain(column: Any) -> Array:
    return np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64)


def _seconds(column: Any) -> Array:
    instants = column.to_numpy(zero_copy_only=False)
    # Stamps have a zero in 1970, durations none.
    since = instants - np.datetime64(0, "s") if instants.dtype.kind == "M" else instants
    return np.asarray(since / np.timedelta64(1, "s"), dtype=np.float64)
