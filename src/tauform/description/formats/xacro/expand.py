"""xacro files expanded by a copy of xacro of our own, whose expressions, files and work are bounded.

A copy, since xacro keeps its state in its module: what is exchanged here changes no other user of xacro in the process,
and two threads may expand two files.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from importlib.util import find_spec, module_from_spec
from keyword import iskeyword
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.dom import minidom
from xml.parsers.expat import ExpatError

from tauform.description.formats.strict_xml import parse_xml
from tauform.description.formats.xacro.budget import Budget
from tauform.description.formats.xacro.expression import Evaluator, Rules
from tauform.description.formats.xacro.files import MAX_YAML_BYTES, Files
from tauform.description.formats.xacro.functions import Functions, callables, symbols
from tauform.description.formats.xacro.substitution import functions_of_eval, substituted
from tauform.errors import DescriptionError, MissingExtraError, TauformError
from tauform.escaping.shown import visible

WORK_PER_TEXT = 20
WORK_PER_NODE = 5
WORK_PER_MACRO = 200
MOST_NOTES = 20
MAX_MESSAGE = 1000
SEPARATORS = re.compile(r"[\w\s,;:|/\\.-]+", re.ASCII)
# As xacro's own, which backtracks for ever over a default that lacks its second quote.
DEFAULT = r"""\$\{[^}]*\}|\$\([^)]*\)|(?:'[^'\n]*'|"[^"\n]*"|[^\s'"])+|"""
PARAMETER = re.compile(rf"^\s*([^\s:=]+?)\s*:?=\s*(\^\|?)?({DEFAULT})(?:\s+|$)(.*)", re.DOTALL)


def expand(path: Path, package_dirs: Sequence[Path] = (), *, allow_code: bool = False) -> tuple[bytes, tuple[str, ...]]:
    """The URDF that a xacro file expands to, and the warnings that it gives.

    Args:
        package_dirs: folders with packages, beside the file's own and those on the ROS path.
        allow_code: run its expressions as Python, without bounds, and let it read any file.

    Raises:
        DescriptionError: xacro cannot expand it, or it goes beyond what robots need.
        MissingExtraError: xacro is not installed.
    """
    expansion = _Expansion(path, package_dirs, allow_code)
    try:
        # Warnings are those of the file: a loop may give one for every turn.
        return expansion.run(), tuple(expansion.notes[:MOST_NOTES])
    except Exception as error:  # xacro raises many kinds, none of a common base
        cause = _cause(error)
        if isinstance(cause, TauformError):
            raise type(cause)(f"{path.name}: {printable(cause, MAX_MESSAGE)}") from None
        # Python's own limit ends recursion before a budget would.
        if isinstance(cause, RecursionError):
            text = "its macros, properties or includes call themselves without end; give them a condition that ends"
            raise DescriptionError(f"{path.name}: {text}") from None
        raise DescriptionError(f"{path.name}: xacro cannot expand it ({printable(error)})") from None


class _Expansion:
    """One file on its way, and the copy of xacro that expands it."""

    def __init__(self, path: Path, package_dirs: Sequence[Path], allow_code: bool) -> None:
        self.path, self.notes = path, list[str]()
        self.budget = Budget(unlimited=allow_code)
        # A file of a stranger may name any path: only its own folder and packages are read.
        self.files = Files(path, package_dirs, self.budget, confined=not allow_code)
        self.xacro = _copy_of_xacro()
        self.allow_code = allow_code
        self.substitutions = functions_of_eval(self)
        self.own_evaluation = self.xacro.safe_eval
        # xacro prints these; here they become findings of the robot.
        for name in ("warning", "error"):
            setattr(self.xacro, name, self._note)
        self.xacro.message = self.xacro.print_location = lambda *_, **__: None
        self.xacro.parse, self.xacro.load_yaml = self._parse, self._load_yaml
        # $(find), $(env), $(eval): each would reach beyond the file.
        self.xacro.eval_extension = self._substitute
        if not allow_code:
            self._bound()

    def run(self) -> bytes:
        """Expand the file."""
        self.xacro.init_stacks(str(self.path))
        # By our parser: entities and external declarations are refused there.
        document = self.xacro.parse(None, str(self.path))
        self.xacro.process_doc(document)
        return document.toxml(encoding="utf-8")

    def _bound(self) -> None:
        xacro = self.xacro
        names = symbols(self._xacro_functions())
        functions = callables(names) | callables(self.substitutions)
        self.rules = Rules(functions, (Functions, xacro.Table), (xacro.YamlDictWrapper,), self.budget)
        xacro._global_symbols = names
        xacro.safe_eval = self.evaluate
        # xacro parses the name as Python to find out, which a long or deep text makes slow or crash.
        xacro.is_valid_name = lambda name: isinstance(name, str) and name.isidentifier() and not iskeyword(name)
        xacro.re_macro_arg = PARAMETER
        xacro.glob = SimpleNamespace(glob=self.files.matching)
        # Work is counted before it is done: a file of a kilobyte can ask for a year.
        xacro.eval_text = self._counted(xacro.eval_text, _text_work)
        xacro.replace_node = self._counted(xacro.replace_node, _replacement_work)
        resolve = xacro.resolve_macro

        def resolve_macro(*arguments: Any) -> Any:
            found = resolve(*arguments)
            self.budget.spend(WORK_PER_MACRO + _size(found[2].body))  # which is copied next
            return found

        xacro.resolve_macro = resolve_macro

    def _counted(self, function: Callable[..., Any], work: Callable[..., int]) -> Callable[..., Any]:
        def counted(*arguments: Any, **options: Any) -> Any:
            self.budget.spend(work(*arguments, **options))
            return function(*arguments, **options)

        return counted

    def evaluate(self, text: str, scope: Any) -> Any:
        """The value of an expression."""
        # The user has said that the file is to be trusted: then it means what xacro means by it.
        if self.allow_code:
            return self.own_evaluation(text, scope)
        return Evaluator(str(text), scope, self.rules).value()

    def _xacro_functions(self) -> dict[str, Any]:
        def fatal(*words: Any) -> None:
            raise DescriptionError(f"it stops with the message: {printable(' '.join(map(str, words)))}")

        def note(*words: Any, **_: Any) -> str:
            self._note(*words)
            return ""

        return {
            "load_yaml": self._load_yaml,
            "abs_filename": self.xacro.abs_filename_spec,
            "dotify": self.xacro.YamlDictWrapper,
            "tokenize": _tokens,
            "arg": lambda name: self.xacro.substitution_args_context["arg"][name],
            "message": lambda *_, **__: "",
            "print_location": lambda *_, **__: "",
            "warning": note,
            "error": note,
            "fatal": fatal,
        }

    def _substitute(self, text: str) -> str:
        result = substituted(text, self)
        self.budget.spend(len(result))
        return result

    def _note(self, *words: Any, **_: Any) -> None:
        if len(self.notes) < MOST_NOTES:
            self.notes.append(printable(" ".join(map(str, words))))

    def _parse(self, text: Any, filename: str | None = None) -> Any:
        if text is not None or filename is None:
            raise DescriptionError("xacro asks for a document without a file")
        try:
            data = self.files.read(filename)
        except OSError as error:
            self.xacro.filestack.pop()  # as xacro itself does, which goes on where the file was optional
            raise self.xacro.XacroException(f"{error.strerror}: {filename}", exc=error) from None
        try:
            # Strict first, for its refusals; minidom then makes the nodes that xacro works on.
            parse_xml(data)
            return minidom.parseString(data)
        except (TauformError, ExpatError) as error:
            declared = 'declare it: xmlns:xacro="http://www.ros.org/wiki/xacro"'
            text = f"a prefix is declared nowhere ({error}); {declared}" if "unbound prefix" in str(error) else error
            raise DescriptionError(f"{text}{self._in(filename)}") from None

    def _in(self, filename: str) -> str:
        """Place of an error, if not in the file itself, which every message names."""
        return "" if Path(filename) == self.path else f" (in {os.path.basename(filename)})"

    def _load_yaml(self, filename: str) -> Any:
        from tauform.description.formats.xacro.yaml_file import parse_yaml

        place = self.xacro.abs_filename_spec(filename)
        try:
            text = self.files.read(place, MAX_YAML_BYTES).decode()
        except UnicodeDecodeError:
            raise DescriptionError(f"{os.path.basename(place)}: it is not UTF-8; save it as such") from None
        # Tags such as !degrees, with the factors of the installed version.
        scale = {unit.value.tag: unit.value.conversion_constant for unit in self.xacro.ConstructUnits}
        units = {tag: self._in_unit(factor) for tag, factor in scale.items()}
        return self.xacro.YamlListWrapper.wrap(parse_yaml(text, units, self.budget))

    def _in_unit(self, factor: float) -> Callable[[str], float]:
        return lambda text: float(self.evaluate(text, self.xacro._global_symbols)) * factor


def _copy_of_xacro() -> Any:
    try:
        import xacro  # noqa: F401  relative imports of the copy look for it
        import yaml  # noqa: F401
    except ImportError:
        raise MissingExtraError("reading xacro needs xacro; pip install tauform[urdf]") from None
    spec = find_spec("xacro")
    if spec is None or spec.loader is None:
        raise MissingExtraError("reading xacro needs xacro; pip install tauform[urdf]")
    # Never put into sys.modules: other users keep the xacro that they imported.
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    # Names that are exchanged here: a version without one of them would run unbounded.
    needed = ("safe_eval", "eval_text", "eval_all", "replace_node", "eval_extension", "_global_symbols", "load_yaml")
    missing = [name for name in needed if not hasattr(module, name)]
    if missing:
        raise MissingExtraError(f"this version of xacro lacks {missing[0]}; pip install 'tauform[urdf]' brings another")
    return module


def _cause(error: BaseException) -> BaseException:
    """The error within those that xacro wraps around it."""
    # xacro wraps each error once per file or macro that it passes.
    while (inner := getattr(error, "exc", None)) is not None and inner is not error:
        error = inner
    return error


def printable(text: object, most: int = 300) -> str:
    """The first line of a text from a file, what would steer a terminal written out."""
    return visible((str(text) or type(text).__name__).splitlines()[0][:most])


def _tokens(text: str, sep: str = ",; ", skip_empty: bool = True) -> list[str]:
    """xacro.tokenize: the parts of a text between any of some characters."""
    if not SEPARATORS.fullmatch(sep):  # anything else would make a pattern of its own
        raise DescriptionError(f"xacro.tokenize cannot split at {sep!r:.60}; list single characters")
    parts = re.split(f"[{sep}]", text)
    return [part for part in parts if part] if skip_empty else parts


def _text_work(text: str, *_: Any, **__: Any) -> int:
    # The lexer copies what is left of the text at each dollar sign.
    return WORK_PER_TEXT + len(text) // 100 * (1 + text.count("$"))


def _replacement_work(node: Any, by: Any = None, *_: Any, **__: Any) -> int:
    # Each node that is moved is looked for among its siblings.
    documents = by if isinstance(by, list) else [] if by is None else [by]
    moved = sum(1 + len(document.childNodes) for document in documents)
    return sum(map(_size, documents)) + (1 + moved) * (1 + len(node.parentNode.childNodes) // 50)


def _size(node: Any) -> int:
    """Nodes, attributes and characters of comments and texts below a node, in units of work."""
    # No recursion: trees may be deeper than Python's stack.
    total, waiting = 0, [node]
    while waiting:
        node = waiting.pop()
        total += WORK_PER_NODE + len(getattr(node, "data", "")) // 100 + len(node.attributes or ())
        waiting.extend(node.childNodes)
    return total
