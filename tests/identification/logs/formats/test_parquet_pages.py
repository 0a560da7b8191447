"""Places of columns in Parquet files, as pyarrow tells them of files that are whole."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tauform.identification.logs.formats.parquet_pages import _extents, _footer

parquet = pytest.importorskip("pyarrow.parquet")


@pytest.mark.parametrize(
    "how",
    [{}, {"use_dictionary": False, "compression": "zstd"}, {"row_group_size": 100}, {"data_page_version": "2.0"}],
    ids=["plain", "without dictionary", "groups", "pages of version 2"],
)
def test_extents_are_those_of_pyarrow(tmp_path: Path, how: dict[str, Any]) -> None:
    import pyarrow

    path, t = tmp_path / "log.parquet", np.arange(1000.0)
    columns = {"t": t, "q1": np.sin(t), "word": ["a"] * 1000, "nested": pyarrow.array([[1.0, 2.0]] * 1000)}
    parquet.write_table(pyarrow.table(columns), path, **how)
    metadata = parquet.read_metadata(path)
    groups = [metadata.row_group(k) for k in range(metadata.num_row_groups)]
    expected = []
    for column in (group.column(k) for group in groups for k in range(metadata.num_columns)):
        first = column.data_page_offset
        if column.dictionary_page_offset is not None and 0 < column.dictionary_page_offset < first:
            first = column.dictionary_page_offset
        expected.append((column.path_in_schema, (first, first + column.total_compressed_size)))
    with path.open("rb") as file:
        assert list(_extents(_footer(file))) == expected


def test_damaged_descriptions_are_refused(tmp_path: Path) -> None:
    import pyarrow

    path = tmp_path / "log.parquet"
    parquet.write_table(pyarrow.table({"t": np.arange(100.0)}), path)
    with path.open("rb") as file:
        footer = _footer(file)
    with pytest.raises(ValueError, match="ends too early"):
        list(_extents(footer[: len(footer) // 3]))
    with path.open("rb+") as file:
        file.seek(-8, 2)
        file.write((1 << 30).to_bytes(4, "little"))
        file.flush()
        with pytest.raises(ValueError, match="no list of columns"):
            _footer(file)
