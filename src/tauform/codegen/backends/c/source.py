"""C functions of a program for one state, with the static functions that they call."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from tauform.codegen.backends.c.config import LONGEST_FUNCTION, PART_SIZE, RealType
from tauform.codegen.backends.c.dispatch import LANES_PARAMETER, CFunction
from tauform.codegen.backends.c.printer import UNIT, VECTOR, PartPrinter, member_names
from tauform.codegen.backends.c.templates import template
from tauform.codegen.looped.program import AnyProgram
from tauform.codegen.program.angles import AngleStage, neighbours
from tauform.codegen.program.parts import Part, parts
from tauform.codegen.program.port import Port
from tauform.codegen.program.program import LANES, Op, Program
from tauform.escaping.c import identifier


def struct_name(prefix: str, port: Port) -> str:
    """Type of a shared port whose entries have names."""
    return f"{prefix}_{port.name}"


def argument(program: AnyProgram, port: Port, real: RealType, prefix: str) -> str:
    """Declaration of an argument: an array, or a pointer to the struct of a shared port."""
    const = "" if port in program.outputs else "const "
    if member_names(program, port):
        return f"{const}{struct_name(prefix, port)} *{port.name}"
    return f"{const}{real.name} {port.name}[{port.size}]"


def prototype(program: AnyProgram, real: RealType, prefix: str) -> str:
    """Declaration of the function for one state, without the semicolon."""
    arguments = [argument(program, port, real, prefix) for port in (*program.inputs, *program.outputs)]
    return f"void {function_name(program, prefix)}({', '.join(arguments)})"


def function_name(program: AnyProgram, prefix: str) -> str:
    """The program's name behind the robot's, so that several robots can be linked together."""
    return f"{prefix}_{identifier(program.name)}"


def sincos_text(real: RealType) -> str:
    """The static functions for sines and cosines."""
    # sign: the shift that takes bit 1 of the number of quarter turns to the sign bit.
    scheme, bits = real.sincos, real.bits
    # where the last part of pi/2 does not show in the polynomials, they need not wait for it
    # Below the rounding of the result: the polynomials may start before the last subtraction.
    unseen = scheme.half_pi[2] * 2**scheme.reach < np.finfo(real.dtype).eps / 8
    return template("sincos.c").substitute(
        real=real.name,
        f=real.suffix,
        bits=f"uint{bits}_t",
        sign=bits - 2,
        one=real.number(1.0),
        # b is the angle without the last part of pi/2, r with it.
        argument="b" if unseen else "r",
        limit=real.number(scheme.limit),
        inverse=real.number(scheme.inverse),
        magic=real.number(scheme.magic),
        # Bits of the magic number: what is added to them is the number of quarter turns.
        turn_of_zero=real.bits_of(scheme.magic),
        reach=scheme.reach + 1,
        # pi/2 in three parts (Cody and Waite): products with the first two are exact.
        h1=real.number(scheme.half_pi[0]),
        h2=real.number(scheme.half_pi[1]),
        h3=real.number(scheme.half_pi[2]),
        sine=_in_pairs(real, scheme.sine),
        cosine=_in_pairs(real, scheme.cosine),
    )


def _in_pairs(real: RealType, coefficients: tuple[float, ...]) -> str:
    """A polynomial in u as one in v = u^2 whose coefficients are linear in u: half as long a chain as Horner's."""
    pairs = [coefficients[k : k + 2] for k in range(0, len(coefficients), 2)]
    # Each pair c0 + u c1; the pairs are joined by v = u^2 from the highest down.
    texts = [" + u*".join(map(real.number, pair)) for pair in pairs]
    text = texts.pop()
    for linear in reversed(texts):
        text = f"({linear}) + v*(\n                {text})"
    return text


def exponential_text(real: RealType, ops: Collection[Op]) -> str:
    """The static functions for exponentials and hyperbolic tangents, as far as they are used."""
    scheme = real.exponential
    numbers = {
        **{name: getattr(scheme, name) for name in ("inverse", "magic", "lowest", "highest", "saturated")},
        # ln 2 in two parts: the rest r = x - k ln 2 keeps its last bits.
        "l1": scheme.log_2[0],
        "l2": scheme.log_2[1],
        "zero": 0.0,
        "one": 1.0,
        "two": 2.0,
        "minus_two": -2.0,
    }
    words = {name: real.number(value) for name, value in numbers.items()}
    words |= {"real": real.name, "f": real.suffix, "bits": f"uint{real.bits}_t", "mantissa": str(scheme.mantissa)}
    words["polynomial"] = _by_horner(real, scheme.coefficients)
    files = {Op.EXP: "exp.c", Op.TANH: "tanh.c"}
    used = ["exponential.c", *(file for op, file in files.items() if op in ops)]
    return "\n".join(template(file).substitute(words) for file in used)


def _by_horner(real: RealType, coefficients: tuple[float, ...]) -> str:
    text = real.number(coefficients[-1])
    for c in coefficients[-2::-1]:
        text = f"{real.number(c)} + r*({text})"
    # One factor a line; the brackets close at the end.
    return "\n        + r*(".join(text.split(" + r*("))


def sign_text(real: RealType) -> str:
    """The static function for signs."""
    return template("sign.c").substitute(
        real=real.name,
        bits=f"uint{real.bits}_t",
        top=real.bits - 1,
        magnitude=real.unsigned(2 ** (real.bits - 1) - 1),
        one=real.bits_of(1.0),
        infinity=real.bits_of(np.inf),
    )


def vector_definitions(real: RealType) -> str:
    """The type of four numbers in one register, where compiler and processor have it."""
    units = []
    for lane in range(LANES):
        # A unit vector puts a number into one lane by multiplication.
        entries = ", ".join(real.number(float(k == lane)) for k in range(LANES))
        units.append(f"#define {UNIT}{lane} (({VECTOR}){{{entries}}})")
    return template("vectors.c").substitute(
        real=real.name, condition=real.vectors, bytes=LANES * real.bits // 8, units="\n".join(units)
    )


def c_function(program: AnyProgram, real: RealType, prefix: str, linkage: str = "") -> CFunction:
    """The C function of a program, without its statements."""
    ports = (*program.inputs, *program.outputs)
    return CFunction(
        function_name(program, prefix),
        [argument(program, port, real, prefix) for port in ports],
        [port.name for port in ports],
        linkage,
    )


def straight_text(program: Program, real: RealType, prefix: str, linkage: str = "") -> str:
    """The function for one state with numbers alone, behind the functions of its parts where it is long."""
    function = c_function(program, real, prefix, linkage)
    pieces, statements = _statements(program, real, prefix)
    # pieces choose their variants themselves
    whole = function.plain(statements) if pieces else f"{function.body_text(statements)}\n{function.variants()}"
    return "\n".join([*pieces, whole])


def function_text(program: Program, real: RealType, prefix: str) -> str:
    """The function for one state: with vectors, where compilers have them, or with numbers alone."""
    wide = vector_form(program)
    # One text for every processor, or two where vectors of four are worth a body of their own.
    if wide is None:
        return straight_text(program, real, prefix)
    function = c_function(program, real, prefix)
    pieces, statements = _statements(program, real, prefix)
    _, vectors = _statements(wide, real, prefix)
    numbers = "\n".join([*pieces, function.body_text(statements)])
    if real.vectors_are_newer:
        newer = f"#if defined(VECTORS)\n\n{function.newer_body_text(vectors)}\n#endif\n"
        older = f"#if !defined(VECTORS) || defined(DISPATCH)\n\n{numbers}\n#endif\n"
        return f"{newer}{older}\n{function.variants(function.newer_body)}"
    # Known when compiling: one of the two bodies is enough.
    either = f"#if defined(VECTORS)\n\n{function.body_text(vectors)}\n#else\n\n{numbers}\n#endif\n"
    return f"{either}\n{function.variants()}"


def body_statements(program: Program, real: RealType) -> tuple[str, set[str]]:
    """Statements of a program that is one part, and the ports that it touches."""
    (piece,), _ = parts(program, LONGEST_FUNCTION, PART_SIZE)
    return _body(program, piece, real, last=True)


def vector_form(program: AnyProgram) -> Program | None:
    """The program with vectors among its values, if there is one and it fits into one function."""
    # Slots between parts hold numbers: vectors cannot pass through them.
    if program.wide is None or len(parts(program.wide, LONGEST_FUNCTION, PART_SIZE)[0]) > 1:
        return None
    # Ports and names stay; only instructions and results are those of the vectors.
    return replace(program, instructions=program.wide.instructions, results=program.wide.results)


def _statements(program: Program, real: RealType, prefix: str) -> tuple[list[str], str]:
    """Statements of a function, and the functions of its parts where it is long."""
    pieces, n_slots = parts(program, LONGEST_FUNCTION, PART_SIZE)
    if len(pieces) == 1:
        # One part: no scratch array, no calls.
        body, used = _body(program, pieces[0], real, last=True)
        return [], f"{unused(program, used)}{body}"
    texts, calls, touched = [], "", set()
    for number, piece in enumerate(pieces):
        body, used = _body(program, piece, real, last=piece is pieces[-1])
        touched |= used
        ports = [port for port in (*program.inputs, *program.outputs) if port.name in used]
        part = CFunction(
            f"{function_name(program, prefix)}_part_{number}",
            [*(argument(program, port, real, prefix) for port in ports), f"{real.name} w[{n_slots}]"],
            [*(port.name for port in ports), "w"],
            # Not inlined: merged parts would be the long function that compilers take too long for.
            linkage="static NOINLINE ",
        )
        texts.append(f"{part.body_text(body)}\n{part.variants()}")
        calls += f"    {part.name}({', '.join(part.arguments)});\n"
    scratch = f"    {real.name} w[{n_slots}]; /* what passes from part to part */\n"
    return texts, f"{scratch}{unused(program, touched)}\n{calls}"


def unused(program: Program, used: set[str]) -> str:
    """Statements that keep compilers quiet about inputs that do not matter for this robot."""
    return "".join(f"    (void){port.name};\n" for port in program.inputs if port.name not in used)


def _emit_sines(printer: PartPrinter, stage: AngleStage, first: int) -> int:
    """The sines and cosines of a stage's angles, as entries of the arrays from `first` on; how many entries.

    Angles that are near each other in an input are read where they stand, with what lies between them: to copy them one
    by one and then to read them as a vector would make the processor wait.
    """
    real = printer.real.name
    # The first stage's arrays have plain names; the generated text stays readable where there is one stage.
    tag = f"_{first}" if first else ""
    sine, cosine = (f"&{array}[{first}]" if first else array for array in ("sine", "cosine"))
    run = neighbours(printer.program, stage.angles)
    if run is None:
        texts = printer.angles(stage, range(first, first + len(stage.angles)))
        start, offsets = f"angle{tag}", [0.0] * len(texts)
        printer.emit(f"const {real} {start}[{len(texts)}] = {{{', '.join(texts)}}};")
    else:
        # Entries between the angles get sines too, which nobody reads.
        printer.angles(stage, [first + k for k in run.entries])
        port, offsets = printer.program.inputs[run.port], run.offsets
        printer.used_ports.add(port.name)
        start = f"&{port.name}[{run.index}]" if run.index else port.name
    n = len(offsets)
    # a compiler may leave out the addition of -0, but not that of 0
    numbers = (printer.real.number(offset or -0.0) for offset in offsets)
    printer.emit(f"static const {real} offset{tag}[{n}] = {{{', '.join(numbers)}}};")
    printer.emit(f"sines_and_cosines({LANES_PARAMETER}, {n}, {start}, offset{tag}, {sine}, {cosine});")
    return n


def _body(program: Program, part: Part, real: RealType, last: bool) -> tuple[str, set[str]]:
    """Statements of a part for one state, and the ports that it touches."""
    printer = PartPrinter(program, part, real)
    n_sines = 0
    for stage in part.stages:
        printer.statements(stage)
        if stage.angles:
            n_sines += _emit_sines(printer, stage, n_sines)
    if n_sines:
        arrays = (f"{printer.indent}{real.name} {array}[{n_sines}];" for array in ("sine", "cosine"))
        printer.lines[:0] = arrays
    # Both at the end here: the sines of one state are in local arrays by now.
    printer.hand_over(trigonometric=False)
    printer.hand_over(trigonometric=True)
    if last:
        printer.results()
    return "\n".join(printer.lines).lstrip("\n") + "\n", printer.used_ports
