"""The loop over a batch, with the signature of a NumPy generalised ufunc: (args, dimensions, steps, data).

Whole blocks of states go straight to the caller's arrays, as does a single state, which all lanes read and write alike
(step 0). What remains of a batch goes through a buffer, as do rows whose entries are not contiguous. An output may be
the same array as an input: a block stores its results after its last load.
"""

from __future__ import annotations

from dataclasses import dataclass

from tauform.codegen.backends.llvm.text import ScalarType, Vector
from tauform.codegen.program.port import Port
from tauform.codegen.program.program import Program


@dataclass(frozen=True)
class _Argument:
    """A port in the loop's argument list."""

    number: int
    port: Port
    is_output: bool
    real: ScalarType
    strides: int  # where the strides of its entries start in `steps`

    @property
    def natural_strides(self) -> list[int]:
        """Byte strides of its entries when contiguous."""
        # C order: the last index is the fastest.
        strides = [self.real.size]
        for size in self.port.shape[:0:-1]:
            strides.insert(0, strides[0] * size)
        return strides[: len(self.port.shape)]


def print_loop(program: Program, vector: Vector, dense: bool = False) -> str:
    """`@loop` and the functions it calls, for a `@block` of the same program and vector.

    Args:
        dense: the block stores rows next to each other, whatever their step.
    """
    # NumPy's `steps`: row steps of all arguments, then the strides within each, in the same order.
    arguments = _listed(program, vector.scalar)
    most = max(len(argument.port.shape) for argument in arguments)
    lines = ["define void @loop(ptr %args, ptr %dimensions, ptr %steps, ptr %data) {", "entry:"]
    lines += ["  %n = load i64, ptr %dimensions"]
    for a in arguments:
        lines += _unpack(a)
    # in the entry block: an alloca elsewhere costs a change of the stack pointer on every call
    lines += [
        f"  %b{a.number} = alloca [{a.port.size * vector.lanes} x {vector.scalar.name}], align 64" for a in arguments
    ]
    # Asked once per call: rows with gaps between their entries go through the buffer.
    lines += _contiguous(arguments, dense)
    lines += [f"  br i1 %c{len(arguments)}, label %direct, label %strided", "direct:"]
    if dense:
        lines += ["  br label %blocks"]
    else:
        lines += ["  %alone = icmp eq i64 %n, 1", "  br i1 %alone, label %single, label %blocks"]
        # Step 0: all lanes read the one row and write the same results to it.
        lines += ["single:", "  %j = add i64 0, 0", *_call(arguments, "j", step="0"), "  br label %done"]
    lines += _blocks(arguments, vector.lanes)
    lines += _strided(arguments, vector)
    return "\n".join([_copies(most + 1, vector.scalar), *lines, "done:", "  ret void", "}"])


def _listed(program: Program, real: ScalarType) -> list[_Argument]:
    ports = [(p, False) for p in program.inputs] + [(p, True) for p in program.outputs]
    # Strides within arguments follow the row steps.
    strides = len(ports)
    arguments = []
    for number, (port, is_output) in enumerate(ports):
        arguments.append(_Argument(number, port, is_output, real, strides))
        strides += len(port.shape)
    return arguments


def _unpack(a: _Argument) -> list[str]:
    k = a.number
    lines = [
        f"  %args{k} = getelementptr ptr, ptr %args, i64 {k}",
        f"  %p{k} = load ptr, ptr %args{k}",
        f"  %steps{k} = getelementptr i64, ptr %steps, i64 {k}",
        f"  %step{k} = load i64, ptr %steps{k}",
    ]
    for d in range(len(a.port.shape)):
        lines += [
            f"  %strides{k}_{d} = getelementptr i64, ptr %steps, i64 {a.strides + d}",
            f"  %stride{k}_{d} = load i64, ptr %strides{k}_{d}",
        ]
    return lines


def _contiguous(arguments: list[_Argument], dense: bool) -> list[str]:
    """%c<last>: whether the entries of every row are next to each other, and the rows of outputs if these are dense."""
    # `and` with true copies a value: each test has a name to chain to.
    lines = ["  %c0 = and i1 true, true"]
    for a in arguments:
        test = f"c{a.number}"
        if dense and a.is_output:
            lines += [
                # Bytes from row to row that leave no gap.
                f"  %e{a.number} = icmp eq i64 %step{a.number}, {a.port.size * a.real.size}",
                f"  %{test}_dense = and i1 %{test}, %e{a.number}",
            ]
            test = f"{test}_dense"
        for d, natural in enumerate(a.natural_strides):
            lines += [
                f"  %e{a.number}_{d} = icmp eq i64 %stride{a.number}_{d}, {natural}",
                f"  %{test}_{d} = and i1 %{test}, %e{a.number}_{d}",
            ]
            test = f"{test}_{d}"
        lines.append(f"  %c{a.number + 1} = and i1 %{test}, true")
    return lines


def _call(arguments: list[_Argument], at: str, step: str | None = None) -> list[str]:
    """Run the block on the rows that start at index %<at>; `step` overrides the row step of every port."""
    lines, passed = [], []
    for a in arguments:
        k = a.number
        lines += [
            f"  %{at}_o{k} = mul i64 %{at}, %step{k}",
            f"  %{at}_p{k} = getelementptr i8, ptr %p{k}, i64 %{at}_o{k}",
        ]
        passed.append(f"ptr %{at}_p{k}" + ("" if a.port.shared else f", i64 {step or f'%step{k}'}"))
    return [*lines, f"  call void @block({', '.join(passed)})"]


def _blocks(arguments: list[_Argument], lanes: int) -> list[str]:
    """All whole blocks; %whole is where the rest begins."""
    return [
        "blocks:",
        f"  %spare = urem i64 %n, {lanes}",
        "  %whole = sub i64 %n, %spare",
        "  br label %next",
        "next:",
        "  %i = phi i64 [ 0, %blocks ], [ %i_next, %block ]",
        "  %i_more = icmp ult i64 %i, %whole",
        "  br i1 %i_more, label %block, label %strided",
        "block:",
        *_call(arguments, "i"),
        f"  %i_next = add i64 %i, {lanes}",
        "  br label %next",
    ]


def _strided(arguments: list[_Argument], vector: Vector) -> list[str]:
    """Blocks of rows copied into buffers, computed there and copied out; spare lanes repeat the last row."""
    # From 0 where nothing was done yet, from %whole for the rest of a batch.
    lines = ["strided:", "  %from = phi i64 [ 0, %entry ], [ %whole, %next ]"]
    lines += ["  %s_any = icmp ult i64 %from, %n", "  br i1 %s_any, label %buffered, label %done", "buffered:"]
    lines += [
        "  %k = phi i64 [ %from, %strided ], [ %k_next, %buffered ]",
        "  %left = sub i64 %n, %k",
        f"  %k_full = icmp uge i64 %left, {vector.lanes}",
        f"  %rows = select i1 %k_full, i64 {vector.lanes}, i64 %left",
        # Last row that the caller has: lanes beyond it repeat it and are not copied out.
        "  %top = sub i64 %rows, 1",
    ]
    passed = []
    for a in arguments:
        if not a.is_output:
            # Shared ports are one row for the whole batch.
            lines += _copy(a, "%top", f"i64 {1 if a.port.shared else vector.lanes}", inwards=True)
        passed.append(f"ptr %b{a.number}" + ("" if a.port.shared else f", i64 {a.port.size * a.real.size}"))
    lines.append(f"  call void @block({', '.join(passed)})")
    for a in arguments:
        if a.is_output:
            lines += _copy(a, "%top", "i64 %rows", inwards=False)
    return [
        *lines,
        f"  %k_next = add i64 %k, {vector.lanes}",
        "  %k_more = icmp ult i64 %k_next, %n",
        "  br i1 %k_more, label %buffered, label %done",
    ]


def _copy(a: _Argument, top: str, rows: str, inwards: bool) -> list[str]:
    """Copy rows between the caller's array at row %k and the port's buffer."""
    k = a.number
    levels = [(rows, top, f"%step{k}", str(a.port.size * a.real.size))]
    levels += [
        (f"i64 {size}", str(size - 1), f"%stride{k}_{d}", str(a.natural_strides[d]))
        for d, size in enumerate(a.port.shape)
    ]
    numbers = []
    for count, last, outside, inside in levels:
        # The order of a copy is target, source: it turns round with the direction.
        ours, theirs = (inside, outside) if inwards else (outside, inside)
        numbers.append(f"{count}, i64 {last}, i64 {ours}, i64 {theirs}")
    target, source = (f"%b{k}", f"%k_p{k}") if inwards else (f"%k_p{k}", f"%b{k}")
    return [
        f"  %k_o{k} = mul i64 %k, %step{k}",
        f"  %k_p{k} = getelementptr i8, ptr %p{k}, i64 %k_o{k}",
        f"  call void @copy{len(levels)}(ptr {target}, ptr {source}, {', '.join(numbers)})",
    ]


def _copies(most: int, real: ScalarType) -> str:
    """@copy<d>: d nested loops; each has a count, the last source index, and the steps of target and source."""
    texts = [
        "define internal void @copy0(ptr %t, ptr %s) alwaysinline {\n"
        f"  %x = load {real.name}, ptr %s, align {real.size}\n  store {real.name} %x, ptr %t, align {real.size}\n"
        "  ret void\n}"
    ]
    # Recursion over dimensions at print time; alwaysinline leaves nested loops.
    for depth in range(1, most + 1):
        inner = [f"{d}" for d in range(depth - 1, 0, -1)]
        named = "".join(f", i64 %n{d}, i64 %last{d}, i64 %t{d}, i64 %s{d}" for d in [str(depth), *inner])
        passed = "".join(f", i64 %n{d}, i64 %last{d}, i64 %t{d}, i64 %s{d}" for d in inner)
        texts.append(f"""\
define internal void @copy{depth}(ptr %t, ptr %s{named}) alwaysinline {{
entry:
  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %beyond = icmp ugt i64 %i, %last{depth}
  %source = select i1 %beyond, i64 %last{depth}, i64 %i
  %t_offset = mul i64 %i, %t{depth}
  %s_offset = mul i64 %source, %s{depth}
  %t_pointer = getelementptr i8, ptr %t, i64 %t_offset
  %s_pointer = getelementptr i8, ptr %s, i64 %s_offset
  call void @copy{depth - 1}(ptr %t_pointer, ptr %s_pointer{passed})
  %next = add i64 %i, 1
  %more = icmp ult i64 %next, %n{depth}
  br i1 %more, label %loop, label %done
done:
  ret void
}}""")
    return "\n\n".join(texts)
