"""YAML files of xacro, with its units (!degrees), bounded: anchors that repeat each other grow like entities of XML."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import yaml

from tauform.description.formats.xacro.budget import MAX_WEIGHT, Budget, ExpansionRefusedError, hashing

# Numbers of that many digits take minutes to read.
MAX_SCALAR = 20_000
MAX_DEPTH = 100
WORK_PER_CHARACTER = 4


class _Loader(yaml.SafeLoader):  # type: ignore[misc]  # no types without its stubs
    """Counts the nodes below each node, those of repeated anchors again."""

    def __init__(self, text: str, budget: Budget) -> None:
        super().__init__(text)
        self.budget, self.sizes = budget, dict[int, int]()

    def fetch_flow_collection_start(self, token: Any) -> None:
        self._check_depth(self.flow_level)
        super().fetch_flow_collection_start(token)

    def add_indent(self, column: int) -> bool:
        self._check_depth(len(self.indents))
        return bool(super().add_indent(column))

    def _check_depth(self, depth: int) -> None:
        if depth > MAX_DEPTH:  # the time to read it grows with its square
            raise ExpansionRefusedError(f"its YAML file is nested more than {MAX_DEPTH} deep, which cannot be meant")

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.ScalarEvent) and len(self.peek_event().value) > MAX_SCALAR:
            raise ExpansionRefusedError(f"a value of {MAX_SCALAR} characters and more in its YAML cannot be meant")
        repeated = self.check_event(yaml.AliasEvent)
        node = super().compose_node(parent, index)
        if not repeated:
            pairs = node.value if isinstance(node.value, list) else []
            parts = [part for pair in pairs for part in (pair if isinstance(pair, tuple) else (pair,))]
            self.budget.spend(hashing(len(pairs)) if isinstance(node, yaml.MappingNode) else 0)
            self.sizes[id(node)] = 1 + sum(self.sizes[id(part)] for part in parts)
        elif id(node) not in self.sizes:
            raise ExpansionRefusedError("an anchor of its YAML file holds itself")
        if self.sizes[id(node)] > MAX_WEIGHT:
            raise ExpansionRefusedError("anchors of its YAML file multiply beyond any robot")
        return node


def parse_yaml(text: str, units: Mapping[str, Callable[[str], float]], budget: Budget) -> Any:
    """The data of a YAML file.

    Args:
        units: tag -> value of a text with that tag.
        budget: what may still be computed.
    """
    budget.spend(WORK_PER_CHARACTER * len(text))
    loader = _Loader(text, budget)
    loader.yaml_constructors = dict(_Loader.yaml_constructors)
    for tag, value in units.items():
        loader.yaml_constructors[tag] = _constructor(value)
    try:
        return loader.get_single_data()
    finally:
        loader.dispose()


def _constructor(value: Callable[[str], float]) -> Callable[[Any, Any], float]:
    return lambda loader, node: value(loader.construct_scalar(node))
