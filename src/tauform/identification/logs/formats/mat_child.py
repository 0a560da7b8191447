"""A program of its own: read a MAT file with SciPy and write its variables of numbers as .npy files.

    python -P mat_child.py FILE FOLDER BYTES

SciPy crashes on some damaged files, which must not take the caller along. BYTES bounds the memory, so that a small file
cannot unpack into all of it. Prints {"names": those of the variables, "objects": names of what only MATLAB reads} as
JSON; the k-th variable is in FOLDER/k.npy, and fields of structs are named after their path, "run.q". It imports
nothing of tauform, and a caller of any version of it can run it.
"""

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

NUMERIC = ("double", "single", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "logical")
NESTED = ("struct", "cell")
# Structs within structs, and elements of one array of structs or cells, that are looked into.
DEEPEST, MOST_ELEMENTS = 6, 1000


def main(path: str, folder: str, n_bytes: int) -> None:
    """Write every matrix of numbers, as MATLAB shows it."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (n_bytes, n_bytes))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (ImportError, OSError, ValueError):
        pass  # a system without limits
    import numpy as np
    from scipy.io import loadmat, whosmat

    listed = whosmat(path)
    plain = [name for name, shape, kind in listed if kind in NUMERIC and is_series(shape)]
    nested = [name for name, _, kind in listed if kind in NESTED]
    objects = [name for name, _, kind in listed if name and kind not in (*NUMERIC, *NESTED, "char")]
    wanted = plain + nested
    if len(set(wanted)) < len(wanted):
        raise ValueError("two variables have the same name")
    content = loadmat(path, variable_names=wanted) if wanted else {}
    names: list[str] = []
    for variable in wanted:
        for name, values in leaves(variable, content.pop(variable), DEEPEST):
            np.save(Path(folder) / f"{len(names)}.npy", np.asarray(values, dtype=np.float64), allow_pickle=False)
            names.append(name)
    print(json.dumps({"names": names, "objects": objects}))


def is_series(shape: Sequence[int]) -> bool:
    """Whether an array of this shape may be samples."""
    return len(shape) == 2 and max(shape) > 1 and min(shape) > 0


def leaves(name: str, value: Any, depth: int) -> Iterator[tuple[str, Any]]:
    """(name, matrix of numbers) of a variable: itself, or all that a struct or a cell holds."""
    if value.dtype.kind in "fiub":
        if is_series(value.shape):
            yield name, value
    elif value.dtype.kind in "OV" and depth and value.size <= MOST_ELEMENTS:
        for k, element in enumerate(value.ravel(order="F")):
            place = name if value.size == 1 else f"{name}({k + 1})"
            if value.dtype.names:
                for field in value.dtype.names:
                    if hasattr(element[field], "dtype"):
                        yield from leaves(f"{place}.{field}", element[field], depth - 1)
            elif hasattr(element, "dtype"):
                yield from leaves(place, element, depth - 1)


if __name__ == "__main__":
    try:
        main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
    except Exception as error:
        sys.exit(f"{type(error).__name__}: {' '.join(str(error).split())[:150]}")
