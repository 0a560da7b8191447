"""Exponential and tanh of vectors as LLVM text; the scheme is in `tauform.portable.exponential`."""

from __future__ import annotations

import math

from tauform.codegen.backends.llvm.text import Block, Vector


def emit_exp(block: Block, vector: Vector, x: str) -> str:
    """Name of e^x."""
    real, number = vector.real, vector.number
    below = block.let(f"fcmp olt {real} {x}, {number(vector.scalar.exponential.lowest)}")
    above = block.let(f"fcmp ogt {real} {x}, {number(vector.scalar.exponential.highest)}")
    # Below the range zero takes the place of x: bits of the exponent cannot wrap.
    power, rest = _power_and_rest(block, vector, _chosen(block, vector, below, number(0.0), x))
    scaled = block.let(f"fmul contract {real} {power}, {rest}")
    inside = block.let(f"fadd contract {real} {power}, {scaled}")
    # Comparisons with NaN are false: NaN passes through both choices.
    bounded = _chosen(block, vector, above, number(math.inf), inside)
    return _chosen(block, vector, below, number(0.0), bounded)


def emit_tanh(block: Block, vector: Vector, x: str) -> str:
    """Name of tanh x."""
    real, number = vector.real, vector.number
    size = block.let(f"call {real} @llvm.fabs.{vector.suffix}({real} {x})")
    # tanh |x| = -m / (m + 2) with m = e^(-2|x|) - 1, which never overflows; copysign gives the sign.
    y = block.let(f"fmul {real} {size}, {number(-2.0)}")
    far = block.let(f"fcmp olt {real} {y}, {number(vector.scalar.exponential.saturated)}")
    power, rest = _power_and_rest(
        block, vector, _chosen(block, vector, far, number(vector.scalar.exponential.saturated), y)
    )
    # m = 2^k (e^r - 1) + (2^k - 1)
    less_one = block.let(f"fsub {real} {power}, {number(1.0)}")
    scaled = block.let(f"fmul contract {real} {power}, {rest}")
    m = block.let(f"fadd contract {real} {scaled}, {less_one}")
    ratio = block.let(f"fdiv {real} {m}, {block.let(f'fadd {real} {m}, {number(2.0)}')}")
    return block.let(f"call {real} @llvm.copysign.{vector.suffix}({real} {ratio}, {real} {x})")


def _power_and_rest(block: Block, vector: Vector, x: str) -> tuple[str, str]:
    """Names of 2^k and e^r - 1 with x = k ln 2 + r."""
    real, number = vector.real, vector.number
    magic = number(vector.scalar.exponential.magic)
    turned = block.let(f"fmul contract {real} {x}, {number(vector.scalar.exponential.inverse)}")
    # The magic number rounds x / ln 2 to a whole k and leaves k in the low bits.
    rounded = block.let(f"fadd contract {real} {turned}, {magic}")
    k = block.let(f"fsub {real} {rounded}, {magic}")
    r = x
    for part in vector.scalar.exponential.log_2:
        r = block.let(f"fsub contract {real} {r}, {block.let(f'fmul contract {real} {k}, {number(part)}')}")
    total = number(vector.scalar.exponential.coefficients[-1])
    for c in vector.scalar.exponential.coefficients[-2::-1]:
        total = block.let(f"fadd contract {real} {block.let(f'fmul contract {real} {total}, {r}')}, {number(c)}")
    # e^r - 1 = r + r^2 P(r): exact for small r, where 1 would swallow it.
    square = block.let(f"fmul contract {real} {r}, {r}")
    rest = block.let(f"fadd contract {real} {block.let(f'fmul contract {real} {square}, {total}')}, {r}")
    bits = block.let(f"bitcast {real} {rounded} to {vector.integer}")
    # k moves into the exponent field: the bits of 2^k.
    exponent = block.let(f"shl {vector.integer} {bits}, {vector.integers(vector.scalar.exponential.mantissa)}")
    return block.let(f"bitcast {vector.integer} {exponent} to {real}"), rest


def _chosen(block: Block, vector: Vector, mask: str, true: str, false: str) -> str:
    return block.let(f"select {vector.mask} {mask}, {vector.real} {true}, {vector.real} {false}")
