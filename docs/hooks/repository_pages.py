"""Pages that come from outside docs/: changelog, contributing, results, and a reference of public names by topic."""

from __future__ import annotations

import re
import sys
from functools import cache
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
SECTION, INDEX = "Reference", "reference.md"


def on_config(config: Any) -> Any:
    """Name a page for each topic in the navigation, behind their index."""
    section = next(entry for entry in config.nav if isinstance(entry, dict) and SECTION in entry)
    pages = section[SECTION]
    at = pages.index(INDEX) + 1
    section[SECTION] = [*pages[:at], *({title: page_of(title)} for title in topics()), *pages[at:]]
    return config


def on_files(files: Any, config: Any) -> Any:
    """Add the pages, links inside the repository turned into links inside the site."""
    for name, source in PAGES.items():
        text = re.sub(r"\]\((?:\.\./)?docs/", "](", source.read_text(encoding="utf-8"))
        files.append(File.generated(config, name, content=text))
    for plot in sorted((ROOT / "benchmarks" / "plots").glob("*.svg")):
        files.append(File.generated(config, f"plots/{plot.name}", abs_src_path=str(plot)))
    files.append(File.generated(config, INDEX, content=index()))
    for title, entries in topics().items():
        text = f"# {title}\n\n" + "\n".join(entries.values())
        files.append(File.generated(config, page_of(title), content=text))
    return files


@cache
def topics() -> dict[str, dict[str, str]]:
    """Topic -> public name -> its entry, which mkdocstrings fills from the docstring."""
    sys.path.insert(0, str(ROOT))  # the site is built from anywhere
    from tools.public_names import homes

    found: dict[str, dict[str, str]] = {title: {} for title in PARTS.values()}
    for name, home in homes().items():
        if not home:  # textbook: the functions again
            continue
        module = _documented_in(name, home)
        title = next(title for part, title in PARTS.items() if module.startswith(part))
        found[title][name] = f"::: tauform.{module}.{name}\n    options:\n      heading_level: 2\n"
    errors = "::: tauform.errors\n    options:\n      show_root_heading: false\n"
    return {title: entries for title, entries in found.items() if entries} | {"Errors": {"errors": errors}}


def page_of(title: str) -> str:
    """Where a topic stands in the site."""
    return f"reference/{title.lower().replace(' ', '_').replace('-', '_')}.md"


def index() -> str:
    """All public names by topic, each with a link."""
    rows = []
    for title, entries in topics().items():
        links = ", ".join(f"[`{name}`][{entry.split()[1]}]" for name, entry in entries.items())
        rows.append(f"| [{title}]({page_of(title)}) | {links} |")
    return "\n".join([REFERENCE_HEAD, "| topic | names |", "|---|---|", *rows, ""])


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
    # Plots of the results are files of the site, too.
    return re.sub(r"\]\((?:\.\./)+benchmarks/plots/", f"]({up}plots/", markdown)
