"""The bill of materials of a wheel, as CycloneDX 1.5 in JSON: its files, and what it needs as installed here.

    python tools/sbom.py dist/tauform-1.0-py3-none-any.whl > dist/tauform.cdx.json

Everything comes from the wheel and from the metadata of installed packages, so that the same wheel in the same
environment gives the same text. What an extra brings is listed where it is installed.
"""

from __future__ import annotations

import base64
import csv
import io
import json
import sys
import uuid
import zipfile
from collections.abc import Iterable
from email.parser import Parser
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

SCHEMA, SPECIFICATION = "http://cyclonedx.org/schema/bom-1.5.schema.json", "1.5"
NAMESPACE = uuid.UUID("6ba7b811-9dad-11d1-80b4-00c04fd430c8")  # of addresses, RFC 4122
# Extras that serve the work on tauform itself.
OF_WORK = {"test", "docs", "bench"}


def bill(wheel: Path) -> dict[str, Any]:
    """The document for a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        info = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = Parser().parsestr(archive.read(info).decode("utf-8"))
        record = archive.read(info.replace("METADATA", "RECORD")).decode("utf-8")
    extras = set(metadata.get_all("Provides-Extra", [])) - OF_WORK
    own = _component(str(metadata["Name"]), str(metadata["Version"]), _license(metadata))
    own |= {"components": [_file(*row) for row in csv.reader(io.StringIO(record)) if row[1]]}
    found, edges = _needed(own["bom-ref"], metadata.get_all("Requires-Dist", []), extras)
    document: dict[str, Any] = {
        "$schema": SCHEMA,
        "bomFormat": "CycloneDX",
        "specVersion": SPECIFICATION,
        "version": 1,
        "metadata": {"component": own},
        "components": [
            _component(d.metadata["Name"], d.version, _license(d.metadata)) for _, d in sorted(found.items())
        ],
        "dependencies": [{"ref": ref, "dependsOn": sorted(needs)} for ref, needs in sorted(edges.items())],
    }
    digest = uuid.uuid5(NAMESPACE, json.dumps(document, sort_keys=True))
    return document | {"serialNumber": f"urn:uuid:{digest}"}


def _needed(
    root: str, requirements: Iterable[str], extras: set[str]
) -> tuple[dict[str, Distribution], dict[str, set[str]]]:
    """Installed packages by name, and who needs whom."""
    found: dict[str, Distribution] = {}
    edges: dict[str, set[str]] = {}
    waiting = [(root, list(requirements), frozenset(extras))]
    seen: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        ref, listed, wanted = waiting.pop()
        needs = edges.setdefault(ref, set())
        for requirement in map(Requirement, listed):
            name = canonicalize_name(requirement.name)
            asked = any(_applies(requirement, extra) for extra in (wanted or {""}))
            if not asked or name == canonicalize_name(root.split("@")[0].removeprefix("pkg:pypi/")):
                continue
            try:
                package = found.setdefault(name, distribution(name))
            except PackageNotFoundError:  # of an extra that is not installed
                continue
            own = purl(package.metadata["Name"], package.version)
            needs.add(own)
            key = (own, frozenset(requirement.extras))
            if key not in seen:
                seen.add(key)
                waiting.append((own, package.requires or [], frozenset(requirement.extras)))
    return found, edges


def _applies(requirement: Requirement, extra: str) -> bool:
    return requirement.marker is None or requirement.marker.evaluate({"extra": extra})


def purl(name: str, version: str) -> str:
    """The address of a package of PyPI."""
    return f"pkg:pypi/{canonicalize_name(name)}@{version}"


def _installed(package: Distribution) -> dict[str, Any]:
    return _component(package.metadata["Name"], package.version, _license(package.metadata))


def _component(name: str, version: str, licenses: list[dict[str, Any]]) -> dict[str, Any]:
    address = purl(name, version)
    component = {"type": "library", "bom-ref": address, "name": name, "version": version, "purl": address}
    return component | ({"licenses": licenses} if licenses else {})


def _license(metadata: Any) -> list[dict[str, Any]]:
    """An expression where the package states one, else what its classifiers say."""
    expression = metadata.get("License-Expression")
    if expression:
        return [{"expression": expression}]
    classified = [text for text in metadata.get_all("Classifier", []) if text.startswith("License ::")]
    names = [text.rsplit(" :: ", 1)[-1] for text in classified]
    short = metadata.get("License") or ""
    if not names and short and "\n" not in short and len(short) < 100:
        names = [short]
    return [{"license": {"name": name}} for name in names]


def _file(name: str, digest: str, size: str) -> dict[str, Any]:
    """A file of the wheel by its line in RECORD."""
    algorithm, _, text = digest.partition("=")
    assert algorithm == "sha256", digest
    content = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).hex()
    return {"type": "file", "name": name, "hashes": [{"alg": "SHA-256", "content": content}]}


if __name__ == "__main__":
    print(json.dumps(bill(Path(sys.argv[1])), indent=1))
