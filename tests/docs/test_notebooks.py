"""The notebooks run from top to bottom, and what they hold shows itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from sampling import representatives

nbclient = pytest.importorskip("nbclient")
nbformat = pytest.importorskip("nbformat")
FOLDER = Path(__file__).resolve().parents[2] / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
FIGURE = "application/vnd.plotly.v1+json"


@pytest.mark.parametrize(
    "path", representatives(NOTEBOOKS, FOLDER / "log_to_verdict.ipynb"), ids=lambda path: path.stem
)
def test_a_notebook_runs_and_shows_what_it_makes(path: Path, tmp_path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells)  # results are made, not stored
    client = nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}})
    client.execute()
    shown = [set(out.get("data", {})) for cell in notebook.cells for out in cell.get("outputs", [])]
    assert sum("text/html" in kinds for kinds in shown) >= 2
    assert sum(FIGURE in kinds for kinds in shown) >= 2
    assert not any(out["output_type"] == "error" for cell in notebook.cells for out in cell.get("outputs", []))
