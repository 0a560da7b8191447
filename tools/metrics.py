"""Figures of the house: rooms, lengths, comments, importers, cycles, repeated questions. `make metrics` prints them.

python tools/metrics.py [ROOT]      ROOT holds the package tauform, src by default
"""

from __future__ import annotations

import ast
import io
import re
import statistics
import sys
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from pathlib import Path

CROWDED_ROOM = 16  # files
SHORT_MODULE = 80  # lines
REPEATED_RUN = 6  # lines
LEAST_LISTED = 3  # modules of a room that an index lists
# Words that ask what a joint is instead of letting its type answer; types say it, and formats spell it.
JOINT_QUESTION = re.compile(r"is_revolute|\.revolute\b|[\"']revolute[\"']|[\"']prismatic[\"']|= (REVOLUTE|PRISMATIC)\b")
JOINT_ROOMS = ("tauform.description.joint_types.", "tauform.description.formats.")
# Fv qd + Fc sign(qd) + Fo, wherever it is spelled out: a coefficient beside a velocity or its sign.
FRICTION_CODE = re.compile(r"\b(viscous|coulomb|Fv|Fc)\w*\s*\*|\*\s*(sign|step)\(|(?<!def )\btanh\(")


def modules(root: Path) -> dict[str, Path]:
    """Dotted name -> file of every module."""
    paths = sorted(root.rglob("*.py"))
    return {".".join(p.relative_to(root).with_suffix("").parts).removesuffix(".__init__"): p for p in paths}


def imports(tree: ast.AST, known: Iterable[str]) -> set[str]:
    """Modules that a module imports, inside functions too; what only type checkers import never runs."""
    names: set[str] = set()
    for node in _running(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "import_module":
            names |= {str(a.value) for a in node.args if isinstance(a, ast.Constant)}
    return names & set(known)


def _running(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    for child in ast.iter_child_nodes(node):
        if not (isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"):
            yield from _running(child)


def import_graph(root: Path) -> dict[str, set[str]]:
    """Module -> modules of the package that it imports."""
    files = {name: path for name, path in modules(root).items() if path.name != "__init__.py"}
    return {name: imports(ast.parse(path.read_text(encoding="utf-8")), files) - {name} for name, path in files.items()}


def importers(edges: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """Module -> modules that import it."""
    found: dict[str, set[str]] = {name: set() for name in edges}
    for name, targets in edges.items():
        for target in targets:
            found[target].add(name)
    return found


def listed(root: Path, edges: Mapping[str, set[str]]) -> set[str]:
    """Modules that a list names, which may well have a single importer, or none: a user of the list comes to them.

    Lists are the public names (`__init__.pyi`), registries in an `__init__.py`, tables of dotted names (`deferred.py`),
    names that `import_module` completes, and an index: a module outside a room that alone imports three or more of it.
    """
    found: set[str] = set()
    for path in [*root.rglob("*.py"), *root.rglob("*.pyi")]:
        tree = ast.parse(path.read_text(encoding="utf-8"))
        package = ".".join(path.parent.relative_to(root).parts)
        if path.stem == "__init__":
            found |= imports(_absolute(tree, package), edges)
        for pattern in _named(tree):
            found |= {name for name in edges if re.fullmatch(pattern, name)}
    own: dict[tuple[str, str], set[str]] = defaultdict(set)
    for name, users in importers(edges).items():
        room = name.rpartition(".")[0]
        if len(users) == 1 and not next(iter(users)).startswith(f"{room}."):
            own[next(iter(users)), room].add(name)
    return found.union(*(names for names in own.values() if len(names) >= LEAST_LISTED))


def _absolute(tree: ast.AST, package: str) -> ast.AST:
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            node.module = f"{package}.{node.module}"
    return tree


def _named(tree: ast.AST) -> Iterator[str]:
    """Patterns of dotted names that stand in texts: `module:function` of a table, or what `import_module` completes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("tauform."):
            yield re.escape(node.value.split(":")[0])
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "import_module":
            texts = [argument.values for argument in node.args if isinstance(argument, ast.JoinedStr)]
            for parts in texts:
                yield "".join(re.escape(str(p.value)) if isinstance(p, ast.Constant) else r"\w+" for p in parts)


def cycles(edges: dict[str, set[str]]) -> list[list[str]]:
    """Strongly connected components of more than one module (Tarjan)."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(v: str) -> None:
        index[v] = low[v] = len(index)
        stack.append(v)
        for w in sorted(edges[v]):
            if w not in index:
                visit(w)
                low[v] = min(low[v], low[w])
            elif w in stack:
                low[v] = min(low[v], index[w])
        if low[v] == index[v]:
            component = [stack.pop()]
            while component[-1] != v:
                component.append(stack.pop())
            if len(component) > 1:
                found.append(sorted(component))

    for v in sorted(edges):
        if v not in index:
            visit(v)
    return found


def docstring_lines(tree: ast.AST) -> int:
    """Lines of all docstrings of a module."""
    owners = [node for node in ast.walk(tree) if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)]
    texts = [node.body[0] for node in owners if ast.get_docstring(node) is not None]
    return sum((text.end_lineno or text.lineno) - text.lineno + 1 for text in texts)


def code_lines(text: str) -> int:
    """Lines that hold code: neither blank nor comments nor docstrings."""
    aside = (tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.STRING, tokenize.COMMENT)
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return len({token.start[0] for token in tokens if token.type not in aside})


def comment_lines(text: str) -> int:
    """Lines with a comment, behind code or alone."""
    return sum(token.type == tokenize.COMMENT for token in tokenize.generate_tokens(io.StringIO(text).readline))


def function_lengths(trees: Iterable[ast.AST]) -> list[int]:
    """Lines of each function's body, without its docstring."""
    lengths = []
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                body = node.body[1:] if ast.get_docstring(node) and len(node.body) > 1 else node.body
                lengths.append((node.end_lineno or node.lineno) - body[0].lineno + 1)
    return lengths


def duplicate_pairs(texts: Mapping[str, str], signatures: bool = True) -> int:
    """Pairs of modules that share a run of code lines, names and all; docstrings and imports do not count.

    Args:
        signatures: count runs of arguments too, which type checkers and readers want in full at every public function.
    """
    places: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for name, text in texts.items():
        tree = ast.parse(text)
        aside = {line for node in ast.walk(tree) for line in _lines_aside(node)}
        if not signatures:
            aside |= {line for node in ast.walk(tree) for line in _signature(node)}
        lines = [line.strip() for k, line in enumerate(text.splitlines(), 1) if k not in aside]
        lines = [line for line in lines if line and not line.startswith("#")]
        for k in range(len(lines) - REPEATED_RUN + 1):
            places[tuple(lines[k : k + REPEATED_RUN])].add(name)
    return len({pair for names in places.values() for pair in combinations(sorted(names), 2)})


def _lines_aside(node: ast.AST) -> range:
    """Lines of an import or a docstring."""
    is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    if not is_text and not isinstance(node, ast.Import | ast.ImportFrom):
        return range(0)
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)  # type: ignore[attr-defined]


def _signature(node: ast.AST) -> range:
    """Lines of a function before its body."""
    return range(node.lineno, node.body[0].lineno) if isinstance(node, ast.FunctionDef) else range(0)


def percentile(values: list[int], share: float) -> int:
    return sorted(values)[min(int(share * len(values)), len(values) - 1)]


def rows(root: Path) -> list[tuple[str, str]]:
    """(what, figure) of the package below a root."""
    files = {name: path for name, path in modules(root).items() if path.stat().st_size}
    texts = {name: path.read_text(encoding="utf-8") for name, path in files.items()}
    trees = {name: ast.parse(text) for name, text in texts.items()}
    real = {name for name, path in files.items() if path.name != "__init__.py"}
    edges = import_graph(root)
    users, named = importers(edges), listed(root, edges)
    lengths = [len(texts[name].splitlines()) for name in real]
    bodies = function_lengths(trees.values())
    rooms = Counter(files[name].parent.relative_to(root).as_posix() for name in real)
    single = [name for name in real if len(users[name]) == 1 and name not in named]
    short = sum(len(texts[name].splitlines()) < SHORT_MODULE for name in single)
    asking = {name for name in real if JOINT_QUESTION.search(texts[name]) and not name.startswith(JOINT_ROOMS)}
    places = sum(len(JOINT_QUESTION.findall(texts[name])) for name in asking)
    friction = {name for name in real if FRICTION_CODE.search(texts[name])}
    loops = cycles(edges)
    code = sum(map(code_lines, texts.values()))
    largest = ", ".join(f"{room.removeprefix('tauform/')} {n}" for room, n in rooms.most_common(3))
    return [
        ("modules, lines", f"{len(real)}, {sum(lengths)}"),
        ("rooms; files in the largest", f"{len(rooms)}; {largest}"),
        (f"rooms of more than {CROWDED_ROOM} files", str(sum(n > CROWDED_ROOM for n in rooms.values()))),
        ("module length, median and p90", f"{statistics.median(lengths):.0f}, {percentile(lengths, 0.9)}"),
        ("function body, median and p90", f"{statistics.median(bodies):.0f}, {percentile(bodies, 0.9)}"),
        ("comment lines / lines of code", f"{100 * sum(map(comment_lines, texts.values())) / code:.1f} %"),
        ("docstring lines / lines of code", f"{100 * sum(map(docstring_lines, trees.values())) / code:.1f} %"),
        ("modules that a list names (public names, deferred methods, registries, indexes)", str(len(named & real))),
        (f"other modules with one importer; of these under {SHORT_MODULE} lines", f"{len(single)}; {short}"),
        (
            "import cycles, function-level imports counted, types and deferred calls aside",
            f"{len(loops)}: {[len(c) for c in loops]} modules",
        ),
        ("methods deferred to a later module", str(texts.get("tauform.deferred", "").count('": "tauform.'))),
        ("modules that ask a joint's kind; places", f"{len(asking)}; {places}"),
        ("modules with friction code", str(len(friction))),
        (
            f"pairs of modules that share {REPEATED_RUN} lines of code; beside signatures",
            f"{duplicate_pairs(texts)}; {duplicate_pairs(texts, signatures=False)}",
        ),
    ]


if __name__ == "__main__":
    sys.setrecursionlimit(10_000)
    for what, figure in rows(Path(sys.argv[1] if len(sys.argv) > 1 else "src")):
        print(f"| {what} | {figure} |")
