"""Pages that come from outside docs/: changelog, contributing, results, and a reference of every public name."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[2]
PAGES = {
    "changelog.md": ROOT / "CHANGELOG.md",
    "contributing.md": ROOT / "CONTRIBUTING.md",
    "benchmarks.md": ROOT / "benchmarks" / "RESULTS.md",
}
# Pages with wide tables or whole files of code: the table of contents leaves its room to them.
WIDE = ("benchmarks.md", "operation_counts.md", "examples/")
# Where public names are defined -> what that part of the reference is called, in the order of the flow.
PARTS = {
    "description": "Describe a robot",
    "rigidbody.linearize": "Linearisation",
    "rigidbody": "Dynamics",
    "simulation": "Simulation",
    "closedform": "Base parameters and closed forms",
    "codegen": "Programs",
    "identification": "Identification",
    "fleet": "Fleets",
    "realtime": "Reduction and multi-rate",
    "pipeline": "One call for all of it",
    "report": "Reports",
}
REFERENCE_HEAD = """# Reference

Every public name is `tauform.<name>`, with `import tauform as tf` for short. Arrays have any leading batch dimensions
and the joint last; units are SI. Functions that `tf.textbook` holds too take one argument more, `tier=`
([fast by default](howto/kernels.md#fast-by-default)).
"""


def on_files(files: Any, config: Any) -> Any:
    """Add the pages, links inside the repository turned into links inside the site."""
    for name, source in PAGES.items():
        text = re.sub(r"\]\((?:\.\./)?docs/", "](", source.read_text(encoding="utf-8"))
        files.append(File.generated(config, name, content=text))
    for plot in sorted((ROOT / "benchmarks" / "plots").glob("*.svg")):
        files.append(File.generated(config, f"plots/{plot.name}", abs_src_path=str(plot)))
    files.append(File.generated(config, "reference.md", content=reference()))
    return files


def reference() -> str:
    """The reference in Markdown; mkdocstrings fills it from the docstrings."""
    sys.path.insert(0, str(ROOT))  # the site is built from anywhere
    from tools.public_names import homes

    names: dict[str, list[str]] = {title: [] for title in PARTS.values()}
    for name, home in homes().items():
        if not home:  # textbook: the functions again
            continue
        module = _documented_in(name, home)
        title = next(title for part, title in PARTS.items() if module.startswith(part))
        names[title].append(f"::: tauform.{module}.{name}\n")
    parts = [f"## {title}\n\n" + "\n".join(entries) for title, entries in names.items() if entries]
    errors = "## Errors\n\n::: tauform.errors\n    options:\n      show_root_heading: false\n"
    return "\n".join([REFERENCE_HEAD, *parts, errors])


def _documented_in(name: str, home: str) -> str:
    """The module whose docstring says it all: functions with tiers compute what textbook functions do."""
    import tauform

    if not home.startswith("fast."):
        return home
    module: str = getattr(tauform.textbook, name).__wrapped__.__module__
    return module.removeprefix("tauform.")


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Links from docs/ to the pages above lead into the site."""
    if page.file.src_uri.startswith(WIDE):
        page.meta["hide"] = ["toc"]
    up = "../" * page.file.src_uri.count("/")
    for name, source in PAGES.items():
        target = re.escape(str(source.relative_to(ROOT)))
        markdown = re.sub(rf"\]\((?:\.\./)+{target}", f"]({up}{name}", markdown)
    return markdown
