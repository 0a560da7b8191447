"""Both tasks as C: the functions of `tauform.write_c`, the exchange of results between threads, and a demonstration."""

from __future__ import annotations

import os
from importlib import resources
from pathlib import Path
from string import Template

from tauform.codegen.backends.backend import Request, check_options
from tauform.codegen.backends.registry import backend
from tauform.errors import GenerationError
from tauform.files.file import write_text
from tauform.files.folder import write_folder, write_texts
from tauform.realtime.multirate.tasks import Tasks
from tauform.version import __version__

TEMPLATES = {
    "multirate.h": "{prefix}_multirate.h",
    "multirate.c": "{prefix}_multirate.c",
    "demo.c": "demo_{prefix}_multirate.c",
}


def write_multirate_c(
    split: Tasks,
    folder: str | os.PathLike[str],
    *,
    real: str = "double",
    force: bool = False,
    name: str | None = None,
) -> list[Path]:
    """Write both tasks and the exchange between them as C; see `MultiRate.write_c`."""
    c = backend("c")
    check_options(c, real, batch=False)
    prefix, n = c.prefix(name, split.robot.name), split.robot.n_joints
    rates = ("qd", "qdd") if split.reads_velocity else ("qdd",)
    facts = {
        "prefix": prefix,
        "guard": f"TAUFORM_{prefix}",
        "real": real,
        "n": n,
        "nn": n * n,
        "motion": ", ".join(f"const {real} {name}[{n}]" for name in rates),
        "names": ", ".join(rates),
        "version": __version__,
    }

    files = c.files(Request(split.programs, prefix, real))

    def fill(place: Path) -> list[str]:
        write_texts(place, files)
        for template, file in TEMPLATES.items():
            text = resources.files(__package__).joinpath("templates", template).read_text(encoding="utf-8")
            filled = Template(text).substitute(facts)
            write_text(place / file.format(prefix=prefix), filled, GenerationError)
        return [*c.build_products(prefix), "demo"]

    return write_folder(folder, fill, force)
