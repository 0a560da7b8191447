"""A log by the ending of its name."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tauform.archives import ordinary
from tauform.errors import RecordingError
from tauform.identification.logs.formats.arrays import open_npz
from tauform.identification.logs.formats.log import Log, with_single_columns
from tauform.identification.logs.formats.mat import open_mat
from tauform.identification.logs.formats.parquet import open_parquet
from tauform.identification.logs.formats.tables import open_csv
from tauform.wording import argument

OPENERS = {
    ".csv": open_csv,
    ".txt": open_csv,
    ".tsv": open_csv,
    ".dat": open_csv,
    ".npz": open_npz,
    ".parquet": open_parquet,
    ".mat": open_mat,
}
BAG_SUFFIXES = (".db3", ".mcap", ".bag")


def open_log(path: Path, topic: str | None, joints: Sequence[str] | None = None) -> Log:
    """The columns of a log, columns of matrices by number among them.

    Args:
        topic: of a bag with several JointState topics.
        joints: that a bag must hold; those of its first message by default.

    Raises:
        RecordingError: no such file, or not what its ending says.
        MissingExtraError: the format's reader is not installed.
    """
    if not path.exists():
        raise RecordingError(f"{path}: no such file; check the path")
    with readable(path):
        # A pipe or a device has no size to bound anything by.
        return with_single_columns(_opened(ordinary(path), topic, joints))


def check_log(path: Path) -> None:
    """Refuse what cannot be a log, as far as its name and its first lines tell.

    Raises:
        RecordingError: the same as of `open_log`.
    """
    suffix = path.suffix.lower()
    # Other formats cost time to open, and some of them libraries.
    is_costly = suffix in (*OPENERS, *BAG_SUFFIXES) and OPENERS.get(suffix) is not open_csv
    if not path.exists() or not (is_costly or (path / "metadata.yaml").exists()):
        open_log(path, None)


def _opened(path: Path, topic: str | None, joints: Sequence[str] | None) -> Log:
    suffix = path.suffix.lower()
    # A rosbag2 is a folder; any other folder is a slip of the path.
    if path.is_dir() and not (path / "metadata.yaml").exists():
        raise RecordingError(f"{path.name}: a folder, and no rosbag2 (metadata.yaml); name the files in it")
    if path.is_dir() or suffix in BAG_SUFFIXES:
        from tauform.identification.logs.formats.rosbag import open_bag

        return open_bag(path, joints, topic)
    if suffix not in OPENERS:
        raise RecordingError(
            f"{path.name}: cannot read {suffix or 'a file without ending'}; use .csv .npz .parquet .mat .db3 .mcap"
        )
    return OPENERS[suffix](path)


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Say what the machine has to say about a file."""
    try:
        yield
    except MemoryError:
        raise RecordingError(
            f"{path.name}: does not fit into memory",
            argument="stream",
            remedy=f"read it with {argument('stream', True)}, which keeps it in temporary files",
        ) from None
    except OSError as error:
        raise RecordingError(f"{path}: cannot be read ({error.strerror or error})") from None
