"""Functions of programs in Rust, and those that its core library lacks."""

from __future__ import annotations

from importlib import resources
from string import Template

from tauform.codegen.backends.expressions import Spelling, decimal, statements
from tauform.codegen.program.port import Port
from tauform.codegen.program.program import Program
from tauform.escaping.c import comment
from tauform.portable import exponential, sincos
from tauform.portable.correct import two_over_pi

SPELLING = Spelling(
    entry=lambda port, index: f"{port.name}[{index}]",
    number=decimal,
    function=lambda name: f"math::{name}",
    definition="let {name} = {value};",
)
# Bits of 2/pi that the largest doubles ask for, and those of a word.
_FAR_BITS, _WORD = 1216, 64


def function_text(program: Program, name: str) -> str:
    """A public function with its documentation."""
    arguments = [
        *(f"{port.name}: &{array(port)}" for port in program.inputs),
        *(f"{port.name}: &mut {array(port)}" for port in program.outputs),
    ]
    body = "\n".join(f"    {line}" for line in statements(program, SPELLING))
    return f"{_documented(program)}pub fn {name}({', '.join(arguments)}) {{\n{body}\n}}\n"


def array(port: Port, real: str = "Real") -> str:
    """Type of a port; matrices are flat, row by row."""
    return f"[{real}; {port.size}]"


def math_text(bits: int) -> str:
    """The module of elementary functions for numbers of this width."""
    is_double = bits == 64
    scheme = sincos.DOUBLE if is_double else sincos.FLOAT
    power = exponential.DOUBLE if is_double else exponential.FLOAT
    digits = two_over_pi(_FAR_BITS)
    # Words of 2/pi from the highest down, behind a word of zeros.
    words = [0, *((digits >> shift) & (2**_WORD - 1) for shift in range(_FAR_BITS - _WORD, -1, -_WORD))]
    numbers = {
        "inverse": scheme.inverse,
        "magic": scheme.magic,
        "limit": scheme.limit,
        **{f"h{k}": part for k, part in enumerate(scheme.half_pi, start=1)},
        "exp_inverse": power.inverse,
        "exp_magic": power.magic,
        "l1": power.log_2[0],
        "l2": power.log_2[1],
        "lowest": power.lowest,
        "highest": power.highest,
        "saturated": power.saturated,
        "half_pi": 1.5707963267948966,
        "pi": 3.141592653589793,
        # A subnormal number becomes a normal one, and its root what it was.
        # 2^54 and its root 2^27: scaling by powers of two is exact.
        "scale_up": 2.0**54 if is_double else 2.0**24,
        "scale_down": 2.0**-27 if is_double else 2.0**-12,
        # The series of arctan up to tan(pi/16) is exact to the last place with so many terms.
        "terms": 13.0 if is_double else 7.0,
    }
    text = resources.files(__package__).joinpath("templates", "math.rs").read_text(encoding="utf-8")
    return Template(text).substitute(
        {name: decimal(value) for name, value in numbers.items()},
        bits=f"u{bits}",
        sign=bits - 1,
        mantissa=power.mantissa,
        far_bits=_FAR_BITS,
        far_words=len(words),
        far=", ".join(map(hex, words)),
        sine=_by_horner(scheme.sine, "u"),
        cosine=_by_horner(scheme.cosine, "u"),
        exponential=_by_horner(power.coefficients, "r"),
    )


def _by_horner(coefficients: tuple[float, ...], variable: str) -> str:
    text = decimal(coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        # Horner's order; Rust neither fuses nor reorders, so all machines give the same bits.
        text = f"{decimal(coefficient)} + {variable} * ({text})"
    return text


def _documented(program: Program) -> str:
    lines = [comment(program.about.summary or program.name), ""]
    for kind, ports in (("in", program.inputs), ("out", program.outputs)):
        lines += [f"- {kind} `{port.name}`: {' x '.join(map(str, port.shape)) or 1}" for port in ports]
    return "".join(f"/// {line}".rstrip() + "\n" for line in lines)
