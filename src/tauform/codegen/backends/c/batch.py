"""C function of a program for a batch in structure-of-arrays form.

States are worked on in blocks of fixed size held in local arrays, with one loop over the states of a block for each
part: compilers turn such loops into vector code without being told that nothing overlaps.
"""

from __future__ import annotations

from tauform.codegen.backends.c.config import LONGEST_FUNCTION, RealType
from tauform.codegen.backends.c.dispatch import LANES_PARAMETER, CFunction
from tauform.codegen.backends.c.printer import PartPrinter, member_names
from tauform.codegen.backends.c.source import argument, function_name, struct_name
from tauform.codegen.looped.program import AnyProgram
from tauform.codegen.program.parts import Part, parts
from tauform.codegen.program.port import Port
from tauform.codegen.program.program import Program

BLOCK = "BLOCK"


def block_definition(real: RealType) -> str:
    """The size of a block as a macro."""
    return f"#define {BLOCK} {real.batch_block} /* states that a batch function works on at once */\n"


def batch_prototype(program: AnyProgram, real: RealType, prefix: str) -> str:
    """Declaration of the function for a batch, without the semicolon."""
    arguments = ["size_t count"]
    # Inputs and outputs may overlap, so the public prototype has no `restrict`; the blocks below may.
    for port in (*program.inputs, *program.outputs):
        const = "" if port in program.outputs else "const "
        array = f"{const}{real.name} *{port.name}"
        arguments.append(argument(program, port, real, prefix) if port.shared else array)
    return f"void {function_name(program, prefix)}_batch({', '.join(arguments)})"


def batch_text(program: Program, real: RealType, prefix: str) -> str:
    """The function for a batch, with the functions of its parts before it."""
    # every stage is a part of its own: what passes between them is an array over the block
    # Short parts: compilers give up on vectorising a loop with a very long body.
    pieces, n_slots = parts(program, -1, LONGEST_FUNCTION // 4)
    texts, calls, used = [], [], set()
    for number, piece in enumerate(pieces):
        name = f"{function_name(program, prefix)}_block_{number}"
        text, touched = _part_text(program, piece, real, prefix, name, last=piece is pieces[-1])
        used |= touched
        passed = [_local(program, port) for port in (*program.inputs, *program.outputs) if port.name in touched]
        # A part that touches nothing has no effect: its call would only cost.
        if not (piece.reads or piece.writes or touched):
            continue
        texts.append(text)
        passed += ["w"] if piece.reads or piece.writes else []
        calls.append(f"        {name}({', '.join(passed)});")
    # What no part reads is not copied into the block.
    taken = [port for port in program.inputs if not port.shared and port.name in used]
    shared = [port for port in program.inputs if port.shared and port.name in used]
    lines = [
        batch_prototype(program, real, prefix),
        "{",
        "    size_t i;",
        "    size_t k;",
        "    size_t l;",
        # One row per entry, one column per state: a loop over l walks through memory one number after another.
        *(f"    {real.name} {port.name}_block[{port.size}][{BLOCK}];" for port in (*taken, *program.outputs)),
        *(_copy_of_shared(program, port, real, prefix) for port in shared),
        *([f"    {real.name} w[{n_slots}][{BLOCK}];"] if n_slots else []),
        "",
        # C warns about arguments that no statement reads.
        *(f"    (void){port.name};" for port in program.inputs if port.name not in used),
        *(f"    (void)memcpy(&{port.name}_copy, {port.name}, sizeof {port.name}_copy);" for port in shared),
        f"    for (i = 0; i < count; i += (size_t){BLOCK}) {{",
        f"        const size_t n = count - i < (size_t){BLOCK} ? count - i : (size_t){BLOCK};",
    ]
    for port in taken:
        local, name = f"{port.name}_block", port.name
        # the states past the end repeat the last one
        lines += [
            f"        for (k = 0; k < {port.size}u; k++) {{",
            "            for (l = 0; l < n; l++) {",
            f"                {local}[k][l] = {name}[k*count + i + l];",
            "            }",
            f"            for (; l < (size_t){BLOCK}; l++) {{",
            f"                {local}[k][l] = {local}[k][n - 1u];",
            "            }",
            "        }",
        ]
    lines += calls
    for port in program.outputs:
        lines += [
            f"        for (k = 0; k < {port.size}u; k++) {{",
            "            for (l = 0; l < n; l++) {",
            f"                {port.name}[k*count + i + l] = {port.name}_block[k][l];",
            "            }",
            "        }",
        ]
    return "\n".join([*texts, *lines, "    }", "}", ""])


def _of_block(n: int) -> str:
    """Entries of n blocks."""
    return BLOCK if n == 1 else f"{n}*{BLOCK}"


def _local(program: Program, port: Port) -> str:
    """Argument of a part for a port: the block, or the copy of what all states share."""
    if not port.shared:
        return f"{port.name}_block"
    return f"&{port.name}_copy" if member_names(program, port) else f"{port.name}_copy"


def _copy_of_shared(program: Program, port: Port, real: RealType, prefix: str) -> str:
    """A local array or struct: a block's results may be written where the next block still reads."""
    if member_names(program, port):
        return f"    {struct_name(prefix, port)} {port.name}_copy;"
    return f"    {real.name} {port.name}_copy[{port.size}];"


def _part_text(
    program: Program, part: Part, real: RealType, prefix: str, name: str, last: bool
) -> tuple[str, set[str]]:
    """A static function that runs one part on a block of states, and the ports that it touches."""
    printer = PartPrinter(program, part, real, index="[l]", indent=" " * 8)
    loop = f"    for (l = 0; l < {BLOCK}; l++) {{"
    lines: list[str] = []
    n_angles = 0
    # A stage ends with its angles: their sines are made for the whole block by one call.
    for stage in part.stages:
        printer.statements(stage)
        # A part has at most one stage with angles: -1 above makes every stage end a part.
        if stage.angles:
            n_angles = len(stage.angles)
            printer.lines += [
                f"{printer.indent}angle[{k}][l] = {text};"
                for k, text in enumerate(printer.angles(stage, range(n_angles)))
            ]
            arrays = "&angle[0][0], offset, &sine[0][0], &cosine[0][0]"
            call = f"sines_and_cosines({LANES_PARAMETER}, {_of_block(n_angles)}, {arrays});"
            # What is no sine leaves in the loop before the call, sines in the one after it.
            printer.hand_over(trigonometric=False)
            lines = [loop, *printer.lines, "    }", f"    {call}"]
            printer.lines = []
    printer.hand_over(trigonometric=n_angles > 0)
    if last:
        printer.results()
    if printer.lines:
        lines += [loop, *printer.lines, "    }"]

    ports = [port for port in (*program.inputs, *program.outputs) if port.name in printer.used_ports]
    parameters = [
        # The blocks are locals of one caller: `restrict` holds here, whatever the user passes.
        argument(program, port, real, prefix) if port.shared else f"{real.name} {port.name}[restrict][{BLOCK}]"
        for port in ports
    ]
    arguments = [port.name for port in ports]
    if part.reads or part.writes:
        parameters.append(f"{real.name} w[restrict][{BLOCK}]")
        arguments.append("w")
    local = [f"    {real.name} {array}[{n_angles}][{BLOCK}];" for array in ("angle", "sine", "cosine") if n_angles]
    if n_angles:
        # The angles hold their offsets already; the function wants an array of them all the same.
        local.append(f"    static const {real.name} offset[{_of_block(n_angles)}] = {{0}};")
    counter = ["    int l;"] if lines else []
    # Not inlined: parts merged again would be the long loop that compilers do not vectorise.
    function = CFunction(name, parameters, arguments, linkage="static NOINLINE ")
    text = function.body_text("\n".join([*counter, *local, *lines, ""]))
    return f"{text}\n{function.variants()}", printer.used_ports
