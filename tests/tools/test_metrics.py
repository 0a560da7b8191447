"""Figures of the house: which modules a list names."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.metrics import import_graph, importers, listed

FILES = {
    "__init__.py": "",
    "__init__.pyi": "from .public import work as work",
    "public.py": "from tauform.helper import aid",
    "helper.py": "",
    "late.py": "",
    "table.py": 'LATER = {"Robot.save": "tauform.late:save"}',
    "verbs/__init__.py": "",
    "verbs/show.py": "",
    "menu.py": 'import_module(f"tauform.verbs.{name}")',
    "kinds/__init__.py": "from tauform.kinds.hinge import Hinge",
    "kinds/hinge.py": "",
    "tabs/__init__.py": "",
    "page.py": "from tauform.tabs import first, second, third",
    **{f"tabs/{name}.py": "" for name in ("first", "second", "third")},
    "pair/__init__.py": "",
    "user.py": "from tauform.pair import left, right",
    **{f"pair/{name}.py": "" for name in ("left", "right")},
}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("root")
    for name, text in FILES.items():
        path = root / "tauform" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def test_lists_name_modules_by_a_rule(root: Path) -> None:
    """Public names, tables, registries and indexes list modules; a module that imports two others is no index."""
    edges = import_graph(root)
    of_page = {"tauform.tabs.first", "tauform.tabs.second", "tauform.tabs.third"}
    of_others = {"tauform.public", "tauform.late", "tauform.verbs.show", "tauform.kinds.hinge"}
    assert listed(root, edges) == of_page | of_others


def test_importers_are_counted_once(root: Path) -> None:
    users = importers(import_graph(root))
    assert users["tauform.helper"] == {"tauform.public"}
    assert users["tauform.late"] == set()
