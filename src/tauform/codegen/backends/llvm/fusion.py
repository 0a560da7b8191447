"""Fusion of products with the sums that read them.

A product vanishes when every sum that reads it computes it along (multiply-add costs no more than the addition).
LLVM itself fuses only products that are read once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from tauform.codegen.program.program import Op, Program


def fusion(program: Program, values: Sequence[int], kept: Iterable[int]) -> dict[int, int]:
    """Products that a sum or difference takes along, by that sum.

    Args:
        values: the instructions that are executed together.
        kept: values that are needed beyond them.
    """
    readers: defaultdict[int, list[int]] = defaultdict(list)
    for value in values:
        for operand in program.instructions[value].args:
            readers[operand].append(value)
    needed = set(kept)
    # A product that is needed elsewhere would be computed twice, inside the sum and on its own.
    products = [
        k
        for k in values
        if program.instructions[k].op is Op.MULTIPLY and k not in needed and _fusible(program, readers[k])
    ]
    chosen: dict[int, int] = {}
    # products with few readers first: they claim fewer sums
    for product in sorted(products, key=lambda k: len(readers[k])):
        # A sum takes one product along: an instruction has one multiplication.
        if not any(reader in chosen for reader in readers[product]):
            chosen.update(dict.fromkeys(readers[product], product))
    return chosen


def _fusible(program: Program, readers: Sequence[int]) -> bool:
    """All are sums or differences, and none reads the product twice."""
    # a b + a b reads its product twice; one fused instruction cannot.
    sums = all(program.instructions[k].op in (Op.ADD, Op.SUBTRACT) for k in readers)
    return bool(readers) and sums and len(set(readers)) == len(readers)
