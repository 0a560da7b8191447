"""Pages that live outside docs/ (changelog, contributing, results), and sections that list what a folder holds."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[2]
PAGES = {
    "changelog.md": ROOT / "CHANGELOG.md",
    "contributing.md": ROOT / "CONTRIBUTING.md",
    "benchmarks.md": ROOT / "benchmarks" / "RESULTS.md",
}
REFERENCE = ["reference.md", "notation.md", "limits.md", "errata.md", "architecture.md", "dependencies.md"]
# Pages of the algorithms, in the order of the flow; one that does not exist yet is left out.
MATHEMATICS = [
    "mathematics/index.md",
    "mathematics/rigidbody.md",
    "mathematics/base_parameters.md",
    "closed_form.md",
    "mathematics/closed_form.md",
    "linearization.md",
    "mathematics/linearization.md",
    "programs.md",
    "operation_counts.md",
    "mathematics/programs.md",
    "identification.md",
    "mathematics/identification.md",
    "reduction.md",
    "mathematics/reduction.md",
    "multirate.md",
    "mathematics/multirate.md",
]


def on_config(config: Any) -> Any:
    """Name the pages in the navigation."""
    exists = {str(path.relative_to(config.docs_dir)) for path in Path(config.docs_dir).rglob("*.md")}
    sections = {"Mathematics": MATHEMATICS, "Reference": [*REFERENCE, *PAGES]}
    for entry in config.nav:
        for name, pages in sections.items():
            if isinstance(entry, dict) and name in entry:
                entry[name] = [page for page in pages if page in exists or page in PAGES]
    return config


def on_files(files: Any, config: Any) -> Any:
    """Add the pages, links inside the repository turned into links inside the site."""
    for name, source in PAGES.items():
        text = re.sub(r"\]\((?:\.\./)?docs/", "](", source.read_text(encoding="utf-8"))
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Links from docs/ to the pages above lead into the site."""
    up = "../" * page.file.src_uri.count("/")
    for name, source in PAGES.items():
        target = re.escape(str(source.relative_to(ROOT)))
        markdown = re.sub(rf"\]\((?:\.\./)+{target}", f"]({up}{name}", markdown)
    return markdown
