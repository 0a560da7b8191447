"""Write C files of programs into a folder: all of them or none."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from tauform.codegen.backends.c.config import identifier, real_type
from tauform.codegen.backends.c.project import project_files
from tauform.codegen.program import Program
from tauform.errors import GenerationError

# Names the files that we wrote, so that we recognise them the next time.
MANIFEST = ".tauform.json"


def write_c(
    programs: Program | Sequence[Program],
    folder: str | os.PathLike[str],
    *,
    real: str = "double",
    batch: bool = False,
    force: bool = False,
    name: str | None = None,
) -> list[Path]:
    """Write programs as C99 with a self-test, a Makefile, a CMakeLists.txt and a README.

    The folder is put together elsewhere and then renamed, so it is never half-written.

    Args:
        programs: of one robot; each becomes the function <name>_<program.name>.
        folder: made if it does not exist; one that we wrote before is replaced.
        real: "double" or "float".
        batch: also write a function for many states in structure-of-arrays form, which compilers vectorise.
        force: write into a folder that holds other files too (they are kept unless they have our files' names).
        name: prefix of all names; the robot's name if not given.

    Returns:
        Paths of the files.

    Raises:
        GenerationError: nothing to write, names that clash, or a folder that is not ours or not writable.
    """
    programs = [programs] if isinstance(programs, Program) else list(programs)
    if not programs:
        raise GenerationError("write_c: no programs were given; make some with tauform.generate")
    names = [program.name for program in programs]
    if len(set(names)) < len(names):
        raise GenerationError(f"write_c: two programs have the same name ({', '.join(names)}); write them apart")
    prefix = identifier(name or programs[0].robot or "model")
    files = project_files(_with_setups(programs), prefix, real_type(real), batch)
    target = Path(folder).expanduser().resolve()
    others = _foreign_files(target)
    if others and not force:
        raise GenerationError(
            f"{folder}: holds files that tauform did not write ({', '.join(others[:3])}); "
            "choose another folder, or allow it with force"
        )
    try:
        _replace_folder(target, files, products=[f"test_{prefix}"], kept=others)
    except OSError as error:
        raise GenerationError(f"{folder}: cannot be written ({error.strerror}); nothing was changed") from None
    return [target / file for file in files]


def _with_setups(programs: Sequence[Program]) -> list[Program]:
    """The programs, each after the one that prepares its parameters."""
    result = []
    for program in programs:
        if program.setup is not None:
            result.append(replace(program.setup, robot=program.robot, notes=program.notes))
        result.append(program)
    return result


def _foreign_files(target: Path) -> list[str]:
    """Names in the folder that neither we wrote nor our Makefile makes."""
    if not target.exists():
        return []
    if not target.is_dir():
        raise GenerationError(f"{target.name}: is a file; give a folder")
    try:
        ours = json.loads((target / MANIFEST).read_text())
        known = {MANIFEST, *ours["files"], *ours["products"]}
    except (OSError, ValueError, KeyError, TypeError):
        known = set()
    return sorted(entry.name for entry in target.iterdir() if entry.name not in known)


def _replace_folder(target: Path, files: Mapping[str, str], products: list[str], kept: Sequence[str]) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        for entry in kept:
            if (target / entry).is_dir():
                shutil.copytree(target / entry, fresh / entry, symlinks=True)
            else:
                shutil.copy2(target / entry, fresh / entry, follow_symlinks=False)
        for name, text in files.items():
            (fresh / name).write_text(text, newline="\n")
        manifest = {"files": sorted(files), "products": products}
        (fresh / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n", newline="\n")
        fresh.chmod(target.stat().st_mode & 0o777 if target.exists() else 0o777 & ~_umask())
        _swap(fresh, target)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _swap(fresh: Path, target: Path) -> None:
    """Put the fresh folder in the target's place."""
    if not target.exists():
        fresh.rename(target)
        return
    old = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    target.rename(old / "old")
    try:
        fresh.rename(target)
    except OSError:
        (old / "old").rename(target)
        raise
    finally:
        shutil.rmtree(old, ignore_errors=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
