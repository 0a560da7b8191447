"""C functions of programs that are loops over bodies: their steps inside the loops, numbers of bodies in a table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from textwrap import indent

from tauform.codegen.backends.c.config import RealType
from tauform.codegen.backends.c.dispatch import LANES_PARAMETER
from tauform.codegen.backends.c.source import body_statements, c_function, straight_text
from tauform.codegen.looped.program import COSINE, SINE, TABLE, LoopedProgram, Pairs, Rows, Sweep
from tauform.codegen.program.program import Program

# Numbers of the table on one line.
PER_LINE = 5


def looped_text(program: LoopedProgram, real: RealType, prefix: str) -> str:
    """The function for one state, behind the functions that it calls."""
    called = [_drives(program, own) for own in (program.opening, program.closing) if own is not None]
    texts = [straight_text(own, real, prefix, linkage="static ") for own in called]
    function = c_function(program, real, prefix)
    statements = "\n".join(_statements(program, real, prefix)) + "\n"
    return "\n".join([*texts, function.body_text(statements), function.variants()])


def _drives(program: LoopedProgram, own: Program) -> Program:
    """Opening or closing program under a name of its own; its ports are arrays of joints."""
    return replace(own, name=f"{program.name}_{own.name}")


def _statements(program: LoopedProgram, real: RealType, prefix: str) -> Iterator[str]:
    yield from _constants(program, real)
    # On the stack, not static: functions keep no state, and two threads may call one.
    used = _used(program)
    for rows in program.rows:
        if rows.name in used:
            width = f"[{rows.width}]" if rows.width > 1 else ""
            yield f"    {real.name} {_array(rows.name)}[{program.n + 1}]{width};"
    if program.pairs is not None:
        yield f"    {real.name} columns[{program.width(program.pairs.carrier)}][{program.n + 1}];"
    yield "    int i;"
    yield ""
    yield "    /* inputs are copied before anything is written: arrays may be the same */"
    for port in program.inputs:
        yield _copied(program, f"{_joints(port.name)}, {port.name}", port.name)
    if program.turns:
        arrays = ", ".join(["offset", _joints(SINE), _joints(COSINE)])
        # All at once, outside the sweeps: a loop over joints becomes vector code, one call per joint does not.
        yield f"    sines_and_cosines({LANES_PARAMETER}, {program.n}, {_joints('q')}, {arrays});"
    for rows in program.rows:
        yield from _base(program, rows, real)
    if program.opening is not None:
        yield _call(program, program.opening, prefix)
    for sweep in program.sweeps:
        yield from _loop(program, sweep, real)
    if program.pairs is not None:
        yield from _pairs(program, program.pairs, real)
    if program.closing is not None:
        yield _call(program, program.closing, prefix)
    # A closing program writes the outputs itself, and pairs write the matrix.
    elif program.pairs is None:
        (output,) = program.outputs
        yield _copied(program, f"{output.name}, {_joints(output.name)}", output.name)


def _used(program: LoopedProgram) -> set[str]:
    """Names of the rows that are read or written; an output that the closing program writes has none."""
    straight = [own for own in (program.opening, program.closing) if own is not None]
    written = {port.name for port in program.outputs} if program.closing is not None else set()
    ports = {port.name for own in straight for port in (*own.inputs, *own.outputs)} - written
    swept = {place.rows for sweep in program.sweeps for place in sweep.places.values()}
    return {port.name for port in program.inputs} | ports | swept | ({SINE, COSINE} if program.turns else set())


def _array(rows: str) -> str:
    """The array of rows of that name; a port of the same name keeps its own."""
    return f"{rows}_rows"


def _joints(rows: str) -> str:
    """Rows of one number as an array of joints: from the first body on."""
    return f"&{_array(rows)}[1]"


def _copied(program: LoopedProgram, arguments: str, rows: str) -> str:
    return f"    (void)memcpy({arguments}, {program.n}u*sizeof {_array(rows)}[0]);"


def _constants(program: LoopedProgram, real: RealType) -> Iterator[str]:
    """Parents, kinds of joints and numbers of the bodies, each from the base's row on."""
    yield f"    static const short parents[{program.n + 1}] = {{"
    yield from _wrapped(["0", *map(str, program.parents)], 20)
    yield "    };"
    # One kind of joint needs no question in the loops.
    if len(program.sweeps[0].steps) > 1:
        yield f"    static const unsigned char kinds[{program.n + 1}] = {{"
        yield from _wrapped(["0", *map(str, program.kinds)], 20)
        yield "    };"
    if program.turns:
        # A compiler may leave out the addition of -0, but not that of 0.
        yield f"    static const {real.name} offset[{program.n}] = {{"
        yield from _wrapped([real.number(-0.0)] * program.n, 20)
        yield "    };"
    if program.table.size:
        yield f"    static const {real.name} table[{program.n}][{program.table.shape[1]}] = {{"
        for row in program.table.tolist():
            yield "        {"
            yield from (f"    {line}" for line in _wrapped([real.number(value) for value in row], PER_LINE))
            yield "        },"
        yield "    };"


def _wrapped(words: list[str], per_line: int) -> Iterator[str]:
    for k in range(0, len(words), per_line):
        yield f"        {', '.join(words[k : k + per_line])},"


def _base(program: LoopedProgram, rows: Rows, real: RealType) -> Iterator[str]:
    """The base's row, where a step reads it as that of its parent."""
    places = [place for sweep in program.sweeps for place in sweep.places.values()]
    # Rows of bodies are written before they are read; only the base has nobody to write its own.
    if not any(place.of_parent and place.rows == rows.name for place in places):
        return
    array = _array(rows.name)
    if not any(rows.base):
        yield f"    (void)memset({array}[0], 0, sizeof {array}[0]);"
        return
    for k, value in enumerate(rows.base):
        yield f"    {array}[0][{k}] = {real.number(value)};"


def _call(program: LoopedProgram, own: Program, prefix: str) -> str:
    """Call of the opening or closing program: outputs of the function itself, or rows."""
    outputs = {port.name for port in program.outputs}
    inputs = [_joints(port.name) for port in own.inputs]
    results = [port.name if port.name in outputs else _joints(port.name) for port in own.outputs]
    return f"    {prefix}_{_drives(program, own).name}({', '.join([*inputs, *results])});"


def _loop(program: LoopedProgram, sweep: Sweep, real: RealType) -> Iterator[str]:
    head = f"i = {program.n}; i > 0; i--" if sweep.inward else f"i = 1; i <= {program.n}; i++"
    yield ""
    yield f"    /* {'tip to base' if sweep.inward else 'base to tip'}: {sweep.steps[0].name} */"
    yield f"    for ({head}) {{"
    for kind, step in enumerate(sweep.steps):
        several = len(sweep.steps) > 1
        deeper = " " * (4 if several else 0)
        if several:
            # The last kind is else: the compiler sees that one of them runs.
            last = kind == len(sweep.steps) - 1
            condition = "" if last else f"if (kinds[i] == {kind}) "
            yield f"        {'} else ' if kind else ''}{condition}{{"
        yield indent("\n".join(_step(program, sweep, step, real)), f"    {deeper}")
    yield "        }\n    }" if len(sweep.steps) > 1 else "    }"


def _step(program: LoopedProgram, sweep: Sweep, step: Program, real: RealType) -> Iterator[str]:
    """Pointers to the rows of a step, and its statements."""
    # Own rows get a prefix: a row may have the name of an argument.
    names = {name: name if place.of_parent else f"own_{name}" for name, place in sweep.places.items()}
    named = replace(
        step,
        inputs=tuple(replace(port, name=names.get(port.name, "numbers")) for port in step.inputs),
        outputs=tuple(replace(port, name=names[port.name]) for port in step.outputs),
    )
    body, used = body_statements(named, real)
    # What a step writes cannot be const.
    written = {port.name for port in named.outputs}
    for port in step.inputs:
        if port.name == TABLE and "numbers" in used:
            yield f"    const {real.name} *const numbers = table[i - 1];"
    for name, place in sweep.places.items():
        pointer = names[name]
        # A kind of joint may not need what another does: a slide has no sine.
        if pointer not in used:
            continue
        const = "" if pointer in written else "const "
        address = "&" if program.width(place.rows) == 1 else ""
        row = f"{address}{_array(place.rows)}[{'parents[i]' if place.of_parent else 'i'}]"
        yield f"    {const}{real.name} *const {pointer} = {row};"
    yield body.rstrip("\n")


def _pairs(program: LoopedProgram, pairs: Pairs, real: RealType) -> Iterator[str]:
    """Entries below the diagonal, row by row, and those above it.

    In a chain all bodies before one carry it: their axes stand side by side, so that the loop becomes vector code.
    """
    n, width = program.n, program.width(pairs.carrier)
    own, carrier, M = _array(pairs.own), _array(pairs.carrier), pairs.output
    is_chain = program.parents == tuple(range(n))
    # Component by component, so that neighbours in memory are neighbours in the loop.
    terms = " + ".join(f"own[{k}]*columns[{k}][j]" for k in range(width))
    first, condition, following = ("1", "j < i", "j++") if is_chain else ("parents[i]", "j > 0", "j = parents[j]")
    yield ""
    yield "    /* inner products of each body with those that carry it */"
    yield f"    for (i = 1; i <= {n}; i++) {{"
    for k in range(width):
        yield f"        columns[{k}][i] = {carrier}[i][{k}];"
    yield "    }"
    # Only bodies on one branch share an entry; all others are zeros that no loop reaches.
    if not is_chain:
        yield f"    (void)memset({M}, 0, sizeof {M}[0]*{n * n}u);"
    yield f"    for (i = 1; i <= {n}; i++) {{"
    yield f"        const {real.name} *const own = {own}[i];"
    yield f"        {real.name} *const row = &{M}[(i - 1)*{n}];"
    yield "        int j;"
    yield f"        for (j = {first}; {condition}; {following}) {{"
    yield f"            row[j - 1] = {terms};"
    yield "        }"
    yield f"        row[i - 1] = {_array(pairs.diagonal)}[i];"
    yield "    }"
    # The upper half is copied at the end: written entry by entry it would scatter over the cache.
    yield f"    for (i = 1; i < {n}; i++) {{"
    yield "        int j;"
    yield "        for (j = 0; j < i; j++) {"
    yield f"            {M}[j*{n} + i] = {M}[i*{n} + j];"
    yield "        }"
    yield "    }"
