"""The documentation site builds without a warning and without fetching, and names every public name and verb."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tauform.cli import VERBS
from tauform.cli.wording import FLAGS
from tools.public_names import homes

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
# Pages whose code runs when the site is built here, and shows what it prints; all of them run in `test_documents`,
# and where `make docs` builds the site.
SHOWN = ("tutorials/dh_to_c",)


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_a_page(verb: str) -> None:
    page = (DOCS / "howto" / f"{verb}.md").read_text(encoding="utf-8")
    assert f"<!-- help: {verb.replace('_', '-')} -->" in page
    assert "```sh" in page


def test_every_example_is_numbered_once() -> None:
    numbers = [path.name[:2] for path in (ROOT / "examples").glob("[0-9]*.py")]
    assert len(numbers) == len(set(numbers))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, cache_of_this_run: Path) -> Path:
    """The built pages. Examples are replaced by one that draws nothing much: they are run by tests of their own."""
    pytest.importorskip("material")
    pytest.importorskip("mkdocstrings")
    copy = tmp_path_factory.mktemp("project")
    for name in ("docs", "src", "benchmarks", "tools"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("mkdocs.yml", "CHANGELOG.md", "CONTRIBUTING.md"):
        shutil.copy(ROOT / name, copy / name)
    (copy / "examples").mkdir()
    for script in (ROOT / "examples").glob("[0-9]*.py"):
        drawing = '<svg xmlns="http://www.w3.org/2000/svg"/>'
        text = f'"""{script.stem}: a stand-in."""\nimport sys\nopen(sys.argv[2], "w").write({drawing!r})\n'
        (copy / "examples" / script.name).write_text(text)
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1", "TAUFORM_CACHE": str(cache_of_this_run)}
    environment["PAGES_WITH_OUTPUTS"] = " ".join(f"{page}.md" for page in SHOWN)
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet"]
    done = subprocess.run(command, cwd=copy, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return copy / "site"


def test_pages_fetch_nothing(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) > 20
    for page in pages:
        fetched = re.findall(
            r'(?:<script[^>]+src|<link[^>]+href|<img[^>]+src)="(https?:[^"]+)"', page.read_text("utf-8")
        )
        assert fetched == [], page.name


def test_every_public_name_is_in_the_reference(site: Path) -> None:
    pages = sorted((site / "reference").glob("*.html"))
    assert len(pages) > 8
    reference = "".join(page.read_text("utf-8") for page in pages)
    # A function with tiers is described where its textbook algorithm stands, so any module counts.
    described = set(re.findall(r'id="tauform\.[\w.]+\.(\w+)"', reference))
    assert {name for name, module in homes().items() if module} <= described  # without tf.textbook itself


def test_tutorials_and_targets_show_what_their_code_prints(site: Path) -> None:
    for name in SHOWN:
        page = (site / f"{name}.html").read_text("utf-8")
        assert page.count('class="printed"') >= 2, name


@pytest.mark.parametrize("page", sorted((DOCS / "mathematics").glob("*.md")), ids=lambda page: page.stem)
def test_every_equation_is_drawn_and_numbered(site: Path, page: Path) -> None:
    html = (site / "mathematics" / f"{page.stem}.html").read_text("utf-8")
    assert "$$" not in html
    assert "tauformequation" not in html
    displayed = page.read_text("utf-8").count("$$") // 2
    numbers = re.findall(r'<span class="equation-source">([^<]+)</span>', html)
    assert len(numbers) == html.count('<span class="equation">') == displayed
    assert len(set(numbers)) == len(numbers)
    own = [number for number in numbers if number.startswith("(")]
    assert own == [f"({k})" for k in range(1, len(own) + 1)]


@pytest.mark.parametrize("verb", VERBS)
def test_every_option_stands_on_the_page_of_its_verb(site: Path, verb: str) -> None:
    html = (site / "howto" / f"{verb}.html").read_text("utf-8")
    assert "&lt;!-- help" not in html
    for flag in (flag for pair in FLAGS[verb].values() for flag in pair if flag):
        assert f"<code>{flag}</code>" in html, flag


def test_search_works_on_pages_that_are_opened_as_files(site: Path) -> None:
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    browser = next(
        (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
    )
    if browser is None:
        pytest.skip("no browser installed")
    with sync_api.sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox", "--disable-gpu"])
        page = running.new_page(viewport={"width": 1280, "height": 900})
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url))
        page.goto((site / "index.html").as_uri())
        page.locator("input.md-search__input").fill("excitation")
        found = page.locator("a.md-search-result__link")
        found.first.wait_for()
        targets = [link.get_attribute("href") for link in found.all()]
        running.close()
    assert any(target.startswith((site / "howto" / "excite.html").as_uri()) for target in targets)
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
