"""A page for each example: what it says, its plot, and its code. Each is run when the site is built."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "examples").glob("[0-9]*.py"))
PLOTS = ROOT / "build" / "docs" / "examples"
SECTION = "Examples"
TO_EXAMPLE = re.compile(r"\]\((?:\.\./)+examples(?:/(\w+)\.py)?\)")


def on_config(config: Any) -> Any:
    """Name the pages in the navigation."""
    section = next(entry for entry in config.nav if isinstance(entry, dict) and SECTION in entry)
    section[SECTION] = [
        "examples/index.md",
        *({short_title_of(script): f"examples/{script.stem}.md"} for script in EXAMPLES),
    ]
    return config


def on_files(files: Any, config: Any) -> Any:
    """Run the examples and add their pages and plots."""
    PLOTS.mkdir(parents=True, exist_ok=True)
    for script in EXAMPLES:
        plot = PLOTS / f"{script.stem}.svg"
        printed = run(script, plot)
        files.append(File.generated(config, f"examples/{script.stem}.md", content=page_of(script, printed)))
        files.append(File.generated(config, f"examples/{plot.name}", abs_src_path=str(plot)))
    rows = [f"- [{title_of(script)}]({script.stem}.md)" for script in EXAMPLES]
    index = "# Examples\n\nEach runs as it stands, in seconds, and is part of the tests.\n\n" + "\n".join(rows) + "\n"
    files.append(File.generated(config, "examples/index.md", content=index))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Links to a script lead to its page, those to the folder to their list."""
    up = "../" * page.file.src_uri.count("/")
    return TO_EXAMPLE.sub(lambda found: f"]({up}examples/{found[1] or 'index'}.md)", markdown)


def run(script: Path, plot: Path) -> str:
    """What it prints; its plot is drawn again when the script is newer, or when it was never drawn."""
    log = plot.with_suffix(".txt")
    if plot.is_file() and log.is_file() and log.stat().st_mtime > script.stat().st_mtime:
        return log.read_text(encoding="utf-8")
    environment = {**os.environ, "MPLBACKEND": "Agg"}
    command = [sys.executable, str(script), "--plot", str(plot)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=PLOTS)
    if done.returncode != 0 or not plot.is_file():
        raise PluginError(f"{script.name} failed:\n{done.stdout}{done.stderr}")
    log.write_text(done.stdout, encoding="utf-8")
    return done.stdout


def title_of(script: Path) -> str:
    """The first sentence of its docstring."""
    return docstring_of(script).split("\n", 1)[0].rstrip(".")


def short_title_of(script: Path) -> str:
    """Number, and the title up to its colon, for the navigation."""
    return f"{script.stem.split('_')[0]} {title_of(script).split(':')[0]}"


def docstring_of(script: Path) -> str:
    return ast.get_docstring(ast.parse(script.read_text(encoding="utf-8"))) or script.stem


def page_of(script: Path, printed: str) -> str:
    """The page, in Markdown."""
    number = script.stem.split("_")[0]
    title, _, text = docstring_of(script).partition("\n")
    shared = re.findall(r"^from (\w+) import", script.read_text(encoding="utf-8"), re.MULTILINE)
    beside = [path for name in shared if (path := script.parent / f"{name}.py").is_file()]
    code = [script, *script.parent.glob(f"{script.stem}.c"), *beside]
    blocks = [
        f'```{path.suffix[1:].replace("py", "python")} title="examples/{path.name}"\n{path.read_text("utf-8")}```'
        for path in code
    ]
    plot = f"![{title}]({script.stem}.svg)"
    return "\n\n".join(
        [f"# {number}. {title.rstrip('.')}", text.strip("\n"), plot, f"```text\n{printed}```", "## Code", *blocks, ""]
    )
