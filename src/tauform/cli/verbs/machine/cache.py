"""tauform cache: programs and compiled kernels that are kept on disk."""

from __future__ import annotations

from typing import Annotated

import typer

from tauform.cli.page import Page
from tauform.cli.verb import verb


@verb
def cache(
    clear: Annotated[bool, typer.Option("--clear", help="Remove all entries; they are made again as needed.")] = False,
) -> Page:
    """Show, or clear, the programs and compiled kernels that are kept on disk."""
    from tauform.codegen.runtime.cache import KINDS, MAX_CACHE_BYTES, entries, folder, trim
    from tauform.errors import GenerationError
    from tauform.report.tables import table

    try:
        place = folder()
    # No home folder to be found is the same to the user as a cache that is off.
    except RuntimeError:
        place = None
    if place is None:
        return Page({"folder": None}, ("Nothing is kept: TAUFORM_CACHE is off, or there is no home folder.",))
    # A limit below zero bytes keeps nothing.
    removed = trim(place, -1) if clear else 0
    # Listed after clearing: what is still there could not be removed.
    listed = entries(place)
    if clear and listed:
        raise GenerationError(f"{place}: {len(listed)} entries could not be removed; make the folder writable")
    kinds = {kind: [size for _, size, path in listed if path.suffix == f".{kind}"] for kind in KINDS}
    data = {
        "folder": place,
        "limit": MAX_CACHE_BYTES,
        "removed": removed,
        **{f"{kind}s": {"entries": len(sizes), "bytes": sum(sizes)} for kind, sizes in kinds.items()},
    }
    rows = [(f"{kind}s", len(sizes), f"{sum(sizes) / 1e6:.2f}") for kind, sizes in kinds.items()]
    words = (
        f"{removed} entries removed."
        if clear
        else f"Limit {MAX_CACHE_BYTES / 1e6:.0f} MB; tauform cache --clear empties it."
    )
    return Page(data, (table(str(place), ("kept", "entries", "MB"), rows), words))
