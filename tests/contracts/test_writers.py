"""Nothing outside `tauform/files` writes to the disk, but into what it is given there (docs/architecture.md)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from source_trees import parsed

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "tauform"
MODULES = sorted(path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py"))
# Methods that change what is on the disk.
CHANGES = {
    *("write_text", "write_bytes", "mkdir", "makedirs", "unlink", "rmdir", "rename", "renames", "touch", "symlink_to"),
    *("hardlink_to", "chmod", "lchmod", "chown", "rmtree", "copytree", "copyfile", "copy2", "mkstemp", "mkdtemp"),
    *("NamedTemporaryFile", "TemporaryDirectory", "removedirs", "fdopen", "memmap"),
}
# Functions whose names other objects have too.
OF_MODULES = {"os": {"replace", "remove", "link", "symlink", "truncate"}, "shutil": {"move", "copy", "copymode"}}
# Functions that take a path, or a file that is open: here only one that `fresh_file` opened.
SAVERS = {
    *("savefig", "savez", "savez_compressed", "savetxt", "dump", "tofile", "to_csv", "to_parquet", "to_pickle"),
    *("write_html", "write_image", "write_table", "savemat", "save_npz"),
}
OPENERS, SCRATCH = {"fresh_file", "BytesIO"}, {"scratch_folder"}
# Programs of their own, which write into the scratch folder of who starts them.
PROGRAMS = {Path("identification/logs/formats/mat_child.py")}


def violations(source: str) -> list[str]:
    """What a module writes by itself."""
    return [f"line {node.lineno}: {ast.unparse(node)}" for node in _writes(parsed(source), frozenset(), False)]


def _writes(node: ast.AST, opened: frozenset[str], scratch: bool) -> Iterator[ast.Call]:
    if isinstance(node, ast.With):
        for item in node.items:
            called = _name(item.context_expr.func) if isinstance(item.context_expr, ast.Call) else ""
            if called in OPENERS and isinstance(item.optional_vars, ast.Name):
                opened |= {item.optional_vars.id}
            scratch |= called in SCRATCH
    if isinstance(node, ast.Call) and not scratch and _is_write(node, opened):
        yield node
    for child in ast.iter_child_nodes(node):
        yield from _writes(child, opened, scratch)


def _is_write(call: ast.Call, opened: frozenset[str]) -> bool:
    name, owner = _name(call.func), _name(getattr(call.func, "value", None))
    if name == "open":
        return _opens_to_write(call)
    is_document = name == "write" and any(keyword.arg == "xml_declaration" for keyword in call.keywords)
    if name in SAVERS or is_document or (name, owner) in {("save", "np"), ("save", "numpy")}:
        # `np.savez(file, ...)`, `pickle.dump(value, file)`
        return not any(isinstance(given, ast.Name) and given.id in opened for given in call.args)
    # `write_text(path, ...)` alone is the one of tauform.files
    if name == "write_text" and isinstance(call.func, ast.Name):
        return False
    return name in CHANGES or name in OF_MODULES.get(owner, set())


def _opens_to_write(call: ast.Call) -> bool:
    place = 0 if isinstance(call.func, ast.Attribute) else 1  # path.open(mode), open(path, mode)
    modes = [*call.args[place : place + 1], *(keyword.value for keyword in call.keywords if keyword.arg == "mode")]
    texts = [str(mode.value) if isinstance(mode, ast.Constant) else "w" for mode in modes]
    reads_a_member = isinstance(call.func, ast.Attribute) and _name(call.func.value) == "archive"
    return not reads_a_member and any(set("wax+") & set(text) for text in texts)


def _name(node: ast.AST | None) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def test_modules_write_through_files_alone() -> None:
    modules = [m for m in MODULES if m.parts[0] != "files" and m not in PROGRAMS]
    texts = {module: (PACKAGE / module).read_text(encoding="utf-8") for module in modules}
    assert texts
    assert [f"{module} {write}" for module, text in texts.items() for write in violations(text)] == []


@pytest.mark.parametrize(
    "statement",
    [
        "open(path, 'w')",
        "open(path, mode=mode)",
        "path.open('ab')",
        "path.write_text(text)",
        "path.parent.mkdir()",
        "os.replace(a, b)",
        "np.savez(path, **arrays)",
        "np.save(path, array)",
        "figure.savefig(path)",
        "json.dump(data, file)",
        "document.write(path, xml_declaration=True)",
        "with fresh_file(path, Error) as file:\n    np.savez(path, a=a)",
        "with tempfile.TemporaryDirectory() as folder:\n    pass",
        "def f():\n    shutil.copytree(a, b)",
    ],
)
def test_a_write_is_seen(statement: str) -> None:
    assert violations(statement)


@pytest.mark.parametrize(
    "statement",
    [
        "open(path)",
        "path.open('rb')",
        "with fresh_file(path, Error) as file:\n    pickle.dump(value, file)",
        "path.open(encoding='utf-8')",
        "text.replace('a', 'b')",
        "write_text(path, text, Error)",
        "model.save(path)",
        "with fresh_file(path, Error) as file:\n    np.savez(file, a=a)",
        "with scratch_folder() as folder:\n    shutil.copytree(a, folder / 'c')",
    ],
)
def test_what_writes_nothing_is_allowed(statement: str) -> None:
    assert not violations(statement)
