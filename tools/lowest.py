"""The oldest dependencies that pyproject.toml allows, one requirement per line: `numpy>=1.26` becomes `numpy==1.26`.

python tools/lowest.py --without collision      the core and every extra that users install, but this one
python tools/lowest.py --only collision         this extra alone, with whatever core it takes
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"
# Extras that serve the work on tauform itself take what is newest.
OF_WORK = ("test", "targets", "docs", "bench")
# Frameworks of hundreds of megabytes each: their bounds are the versions that the tests install.
LARGE = ("casadi", "jax", "torch", "sympy")
BOUND = re.compile(r"\s*([A-Za-z0-9._-]+)\s*>=\s*([0-9][^,;\s]*)\s*")


def lowest(requirements: list[str]) -> Iterator[str]:
    """Each requirement at its lower bound; those on tauform's own extras are left out.

    Raises:
        ValueError: a requirement has no lower bound, or more than that, so that nobody knows what it was tested with.
    """
    for requirement in requirements:
        if requirement.startswith("tauform["):
            continue
        found = BOUND.fullmatch(requirement)
        if found is None:
            raise ValueError(f"{requirement!r} in pyproject.toml: expected name>=version")
        yield f"{found[1]}=={found[2]}"


def wanted(choice: str, extra: str) -> list[str]:
    """Requirements as they are declared: all `--without` an extra, or `--only` that one."""
    project = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]
    extras = {name: held for name, held in project["optional-dependencies"].items() if name not in (*OF_WORK, *LARGE)}
    if choice == "--only":
        return list(extras[extra])
    others = [requirement for name, held in extras.items() if name != extra for requirement in held]
    return [*project["dependencies"], *others]


if __name__ == "__main__":
    print("\n".join(dict.fromkeys(lowest(wanted(sys.argv[1], sys.argv[2])))))
