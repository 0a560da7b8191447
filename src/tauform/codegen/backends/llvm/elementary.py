"""Elementary functions of vectors as LLVM text: sine, cosine, exponential, tanh.

Schemes and constants are those of `tauform.portable.sincos` and `tauform.portable.exponential`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from tauform.codegen.backends.llvm.text import Block, ScalarType, Vector

# |x| beyond the limit: atan2(sin x, cos x) of the C library, entry by entry. Rare, so it stays out of line.
_BRING_CLOSE = """\
declare double @tauform_sin(double)
declare double @tauform_cos(double)
declare double @tauform_atan2(double, double)
declare double @llvm.fabs.f64(double)

define internal void @bring_close(ptr %angles, i64 %count) noinline cold {
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %keep ]
  %p = getelementptr REAL, ptr %angles, i64 %i
  %given = load REAL, ptr %p
  %x = WIDEN
  %a = call double @llvm.fabs.f64(double %x)
  %far = fcmp ogt double %a, LIMIT
  br i1 %far, label %reduce, label %keep
reduce:
  %s = call double @tauform_sin(double %x)
  %c = call double @tauform_cos(double %x)
  %y = call double @tauform_atan2(double %s, double %c)
  %narrow = NARROW
  store REAL %narrow, ptr %p
  br label %keep
keep:
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %count
  br i1 %more, label %loop, label %done
done:
  ret void
}
"""


def bring_close(real: ScalarType) -> str:
    """`@bring_close(ptr, i64)`; single precision is reduced in double precision."""
    # Adding -0.0 changes no number, the sign of zero included: a copy in LLVM's single-assignment form.
    widen, narrow = "fadd double %given, -0.0", "fadd double %y, -0.0"
    if real.bits == 32:
        widen, narrow = "fpext float %given to double", "fptrunc double %y to float"
    words = {"REAL": real.name, "WIDEN": widen, "NARROW": narrow, "LIMIT": repr(real.sincos.limit)}
    text = _BRING_CLOSE
    for word, meant in words.items():
        text = text.replace(word, meant)
    return text


def emit_close(block: Block, vector: Vector, angles: Sequence[str], tag: str, before: str) -> list[str]:
    """Angles within the limit; `before` is the label of the present basic block. Leaves the block `close_<tag>`."""
    # One branch for all angles of the stage: near angles cost a comparison each.
    far = ""
    for angle in angles:
        size = block.let(f"call {vector.real} @llvm.fabs.{vector.suffix}({vector.real} {angle})")
        test = block.let(f"fcmp ogt {vector.real} {size}, {vector.number(vector.scalar.sincos.limit)}")
        far = block.let(f"or {vector.mask} {far}, {test}") if far else test
    # The mask as one integer: a test of all lanes at once.
    bits = block.let(f"bitcast {vector.mask} {far} to i{vector.lanes}")
    any_far = block.let(f"icmp ne i{vector.lanes} {bits}, 0")
    block.emit(f"br i1 {any_far}, label %far_{tag}, label %close_{tag}, !prof !0")
    block.label(f"far_{tag}")
    # Vectors side by side in %angles: the function sees count * lanes plain numbers.
    pointers = [block.let(f"getelementptr {vector.real}, ptr %angles, i64 {k}") for k in range(len(angles))]
    for angle, pointer in zip(angles, pointers, strict=True):
        block.emit(f"store {vector.real} {angle}, ptr {pointer}")
    block.emit(f"call void @bring_close(ptr %angles, i64 {len(angles) * vector.lanes})")
    near = [block.let(f"load {vector.real}, ptr {pointer}") for pointer in pointers]
    block.emit(f"br label %close_{tag}")
    block.label(f"close_{tag}")
    return [
        block.let(f"phi {vector.real} [ {angle}, %{before} ], [ {new}, %far_{tag} ]")
        for angle, new in zip(angles, near, strict=True)
    ]


def emit_sincos(block: Block, vector: Vector, x: str) -> tuple[str, str]:
    """Names of sin x and cos x."""
    real, integer, scheme = vector.real, vector.integer, vector.scalar.sincos

    def mul(a: str, b: str) -> str:
        return block.let(f"fmul contract {real} {a}, {b}")

    def add(a: str, b: str) -> str:
        return block.let(f"fadd contract {real} {a}, {b}")

    def sub(a: str, b: str) -> str:
        return block.let(f"fsub contract {real} {a}, {b}")

    magic = vector.number(scheme.magic)
    # x 2/pi + magic: the low bits of the sum hold the nearest whole number of quarter turns.
    shifted = add(mul(x, vector.number(scheme.inverse)), magic)
    k = sub(shifted, magic)
    r = x
    # pi/2 in parts, the largest first: k times each of the first two is exact.
    for part in scheme.half_pi:
        r = sub(r, mul(k, vector.number(part)))
    u = mul(r, r)

    def polynomial(coefficients: Sequence[float]) -> str:
        total = vector.number(coefficients[-1])
        for c in coefficients[-2::-1]:
            total = add(mul(total, u), vector.number(c))
        return total

    # sin r = r + r u P(u), cos r = 1 + u Q(u), with u = r^2 on [-pi/4, pi/4].
    sine = add(mul(mul(r, u), polynomial(scheme.sine)), r)
    cosine = add(mul(u, polynomial(scheme.cosine)), vector.number(1.0))

    quadrant = block.let(f"bitcast {real} {shifted} to {integer}")
    # An odd number of quarter turns exchanges sine and cosine.
    odd_bit = block.let(f"and {integer} {quadrant}, {vector.integers(1)}")
    odd = block.let(f"icmp ne {integer} {odd_bit}, {vector.integers(0)}")
    following = block.let(f"add {integer} {quadrant}, {vector.integers(1)}")

    def signed(swapped: str, kept: str, turn: str) -> str:
        chosen = block.let(f"select {vector.mask} {odd}, {real} {swapped}, {real} {kept}")
        # Bit 1 of the turn is the sign: sin x is negative in quadrants 2 and 3, cos x in 1 and 2.
        shift = block.let(f"shl {integer} {turn}, {vector.integers(vector.scalar.bits - 2)}")
        sign = block.let(f"and {integer} {shift}, {vector.integers(-(2 ** (vector.scalar.bits - 1)))}")
        bits = block.let(f"bitcast {real} {chosen} to {integer}")
        flipped = block.let(f"xor {integer} {bits}, {sign}")
        return block.let(f"bitcast {integer} {flipped} to {real}")

    return signed(cosine, sine, quadrant), signed(sine, cosine, following)


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
