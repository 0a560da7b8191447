"""What the wheel holds and needs: the bill of materials, and the oldest versions that are allowed."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from packaging.utils import canonicalize_name

from tools.lowest import lowest, wanted
from tools.sbom import bill


@pytest.fixture(scope="module")
def wheel(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(repository)]
    subprocess.run(command, check=True, capture_output=True)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def document(wheel: Path) -> dict[str, Any]:
    return json.loads(json.dumps(bill(wheel)))


def test_every_file_of_the_wheel_is_listed_with_its_digest(wheel: Path, document: dict[str, Any]) -> None:
    listed = {part["name"]: part["hashes"][0] for part in document["metadata"]["component"]["components"]}
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if not name.endswith("RECORD")}
        assert set(listed) == held
        for name in sorted(held)[::7]:
            assert listed[name] == {"alg": "SHA-256", "content": hashlib.sha256(archive.read(name)).hexdigest()}
    assert any(name.endswith("two_link.toml") for name in held)
    assert not any(name.startswith(("tests/", "benchmarks/")) for name in held)


def test_what_is_needed_is_listed_once_with_its_version(repository: Path, document: dict[str, Any]) -> None:
    versions = {canonicalize_name(part["name"]): part["version"] for part in document["components"]}
    assert len(versions) == len(document["components"])
    project = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for requirement in project["dependencies"]:
        name = re.split(r"[><=\[; ]", requirement)[0]
        assert versions[canonicalize_name(name)] == version(name)
    assert "pytest" not in versions
    assert "tauform" not in versions


def test_references_lead_to_components(document: dict[str, Any]) -> None:
    refs = [document["metadata"]["component"]["bom-ref"], *(part["bom-ref"] for part in document["components"])]
    assert len(set(refs)) == len(refs)
    for entry in document["dependencies"]:
        assert {entry["ref"], *entry["dependsOn"]} <= set(refs)
    own = next(entry for entry in document["dependencies"] if entry["ref"] == refs[0])
    assert any(ref.startswith("pkg:pypi/numpy@") for ref in own["dependsOn"])
    # Nothing is listed that nothing needs.
    needed = {ref for entry in document["dependencies"] for ref in entry["dependsOn"]}
    assert needed == set(refs[1:])


def test_the_document_is_cyclonedx_and_the_same_every_time(wheel: Path, document: dict[str, Any]) -> None:
    assert (document["bomFormat"], document["specVersion"], document["version"]) == ("CycloneDX", "1.5", 1)
    assert re.fullmatch(r"urn:uuid:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", document["serialNumber"])
    assert bill(wheel) == document
    for part in [document["metadata"]["component"], *document["components"]]:
        for licence in part.get("licenses", []):
            assert set(licence) in ({"expression"}, {"license"})


def test_every_dependency_has_one_lower_bound() -> None:
    core = list(lowest(wanted("--without", "collision")))
    assert "numpy==1.26" in core
    assert not any(line.startswith("coal") for line in core)
    assert [line.split("==")[0] for line in lowest(wanted("--only", "collision"))] == ["coal", "trimesh"]
    for odd in ("numpy", "numpy<3", "numpy>=1,<3", "numpy==1.0"):
        with pytest.raises(ValueError, match="expected name>=version"):
            list(lowest([odd]))
