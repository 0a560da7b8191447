"""A program of its own: read a MAT file with SciPy and write its variables of numbers as .npy files.

    python -P mat_child.py FILE FOLDER BYTES

SciPy crashes on some damaged files, which must not take the caller along. BYTES bounds the memory, so that a small file
cannot unpack into all of it. Prints the variables' names as JSON; the k-th is in FOLDER/k.npy. It imports nothing of
tauform, and a caller of any version of it can run it.
"""

import json
import sys
from pathlib import Path

NUMERIC = ("double", "single", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "logical")


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

    listed = [(name, shape) for name, shape, kind in whosmat(path) if kind in NUMERIC and len(shape) == 2]
    names = [name for name, shape in listed if max(shape) > 1 and min(shape) > 0]
    if len(set(names)) < len(names):
        raise ValueError("two variables have the same name")
    content = loadmat(path, variable_names=names) if names else {}
    for k, name in enumerate(names):
        np.save(Path(folder) / f"{k}.npy", np.asarray(content.pop(name), dtype=np.float64), allow_pickle=False)
    print(json.dumps(names))


if __name__ == "__main__":
    try:
        main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
    except Exception as error:
        sys.exit(f"{type(error).__name__}: {' '.join(str(error).split())[:150]}")
