"""The way of a single state from Python: a function with CPython's calling convention that skips NumPy's iterators.

It looks at the arrays itself. If every argument is a contiguous array of the kernel's type that holds exactly one state
of finite numbers, it makes the output arrays and runs the block; in any other case it passes the call on to `self`,
which knows all cases. Setting up NumPy's iterator takes many times longer than the dynamics of an arm.
"""

from __future__ import annotations

from collections.abc import Sequence

from tauform.codegen.backends.llvm.text import ScalarType
from tauform.codegen.program.port import Port
from tauform.codegen.program.program import Program

# Fields of PyArrayObject on 64-bit machines, part of NumPy's binary interface.
_TYPE, _DATA, _NDIM, _SHAPE, _STRIDES, _DTYPE, _FLAGS = 8, 16, 24, 32, 40, 56, 64
_ALIGNED = 0x100
# Exponent bits: all set in infinities and NaN.
_EXPONENT = {64: 0x7FF0000000000000, 32: 0x7F800000}

DECLARATIONS = """\
@tauform_array_type = external global i8
@tauform_float64 = external global i8
@tauform_float32 = external global i8
declare ptr @tauform_array_new(ptr, i32, ptr, i32, ptr, ptr, i32, i32, ptr)
declare ptr @tauform_vectorcall(ptr, ptr, i64, ptr)
declare ptr @tauform_tuple_new(i64)
declare i32 @tauform_tuple_set(ptr, i64, ptr)
"""


def print_single(program: Program, block: str, real: ScalarType) -> str:
    """`@single(self, args, nargs, kwnames)`, which calls that block, and the shapes of its outputs."""
    n = len(program.inputs)
    shapes = [
        f"@shape{k} = private constant [{max(len(p.shape), 1)} x i64] "
        f"[{', '.join(f'i64 {size}' for size in p.shape) or 'i64 0'}]"
        for k, p in enumerate(program.outputs)
    ]
    # METH_FASTCALL | METH_KEYWORDS: arguments as a C array, no tuple, no dict.
    lines = ["define ptr @single(ptr %self, ptr %args, i64 %nargs, ptr %kwnames) {", "entry:"]
    lines += [
        # Keywords (out=, axes=) and other counts of arguments are the general function's business.
        "  %plain = icmp eq ptr %kwnames, null",
        f"  %enough = icmp eq i64 %nargs, {n}",
        "  %simple = and i1 %plain, %enough",
        "  br i1 %simple, label %in0, label %general",
    ]
    for k, port in enumerate(program.inputs):
        lines += [f"in{k}:", *_check(k, port, real), f"  br i1 %ok{k}, label %in{k + 1}, label %general"]
    lines += [f"in{n}:", *_finite(program.inputs, real), "finite:", *_outputs(program.outputs, real)]
    # Step 0: the rows of a block are all this one state.
    passed = [f"ptr %data{k}" + ("" if p.shared else ", i64 0") for k, p in enumerate(program.inputs)]
    passed += [f"ptr %result{k}, i64 0" for k in range(len(program.outputs))]
    lines += [f"  call void @{block}({', '.join(passed)})", *_return(len(program.outputs))]
    lines += [
        "general:",
        "  %answer = call ptr @tauform_vectorcall(ptr %self, ptr %args, i64 %nargs, ptr %kwnames)",
        "  ret ptr %answer",
        # Python's error is set already by what failed.
        "failed:",
        "  ret ptr null",
        "}",
    ]
    return "\n".join([DECLARATIONS, *shapes, "", *lines])


def _field(name: str, base: str, offset: int, kind: str) -> list[str]:
    return [f"  {name}_at = getelementptr i8, ptr {base}, i64 {offset}", f"  {name} = load {kind}, ptr {name}_at"]


def _check(k: int, port: Port, real: ScalarType) -> list[str]:
    """%ok<k>: whether argument k is one state of the port; %data<k>: its numbers. Type and dimensions come first."""
    array = f"%a{k}"
    lines = [f"  %p{k} = getelementptr ptr, ptr %args, i64 {k}", f"  {array} = load ptr, ptr %p{k}"]
    lines += _field(f"%type{k}", array, _TYPE, "ptr")
    lines += [
        f"  %array{k} = icmp eq ptr %type{k}, @tauform_array_type",
        f"  br i1 %array{k}, label %shape_of{k}, label %general",
        f"shape_of{k}:",
        *_field(f"%ndim{k}", array, _NDIM, "i32"),
        # A batch has one dimension more, so that only single states pass.
        f"  %depth{k} = icmp eq i32 %ndim{k}, {len(port.shape)}",
        f"  br i1 %depth{k}, label %entries_of{k}, label %general",
        f"entries_of{k}:",
        *_field(f"%dtype{k}", array, _DTYPE, "ptr"),
        *_field(f"%flags{k}", array, _FLAGS, "i32"),
        *_field(f"%data{k}", array, _DATA, "ptr"),
        *_field(f"%sizes{k}", array, _SHAPE, "ptr"),
        *_field(f"%strides{k}", array, _STRIDES, "ptr"),
        f"  %aligned{k} = and i32 %flags{k}, {_ALIGNED}",
    ]
    # By address: NumPy's descriptor of native doubles exists once, so that byte-swapped ones differ.
    tests = [f"icmp eq ptr %dtype{k}, @tauform_float{real.bits}", f"icmp ne i32 %aligned{k}, 0"]
    stride = real.size
    # Contiguous in C order, from the last dimension up; sizes must be those of the port.
    for d in range(len(port.shape) - 1, -1, -1):
        lines += _field(f"%size{k}_{d}", f"%sizes{k}", 8 * d, "i64")
        lines += _field(f"%stride{k}_{d}", f"%strides{k}", 8 * d, "i64")
        tests += [f"icmp eq i64 %size{k}_{d}, {port.shape[d]}", f"icmp eq i64 %stride{k}_{d}, {stride}"]
        stride *= port.shape[d]
    for number, test in enumerate(tests):
        lines.append(f"  %t{k}_{number} = {test}")
        before = f"%u{k}_{number - 1}" if number else "true"
        lines.append(f"  %u{k}_{number} = and i1 %t{k}_{number}, {before}")
    return [*lines, f"  %ok{k} = and i1 true, %u{k}_{len(tests) - 1}"]


def _finite(ports: Sequence[Port], real: ScalarType) -> list[str]:
    """Branch to %finite where all numbers are: integers compare in one cycle and need no vectors of odd length."""
    lines, said, exponent, kind = [], "false", _EXPONENT[real.bits], f"i{real.bits}"
    for k, port in enumerate(ports):
        for entry in range(port.size):
            name = f"{k}_{entry}"
            # Read as integers: no floating-point flags, no vectors.
            lines += _field(f"%bits{name}", f"%data{k}", real.size * entry, kind)
            lines.append(f"  %exponent{name} = and {kind} %bits{name}, {exponent}")
            lines.append(f"  %special{name} = icmp eq {kind} %exponent{name}, {exponent}")
            lines.append(f"  %odd{name} = or i1 %special{name}, {said}")
            said = f"%odd{name}"
    return [*lines, f"  br i1 {said}, label %general, label %finite"]


def _outputs(ports: Sequence[Port], real: ScalarType) -> list[str]:
    lines = []
    for k, port in enumerate(ports):
        kind = f"i32 {len(port.shape)}, ptr @shape{k}, i32 {real.numpy_number}"
        # Contiguous memory of NumPy's own: no strides, no data, no flags.
        numbers = f"{kind}, ptr null, ptr null, i32 0, i32 0, ptr null"
        lines += [
            f"  %out{k} = call ptr @tauform_array_new(ptr @tauform_array_type, {numbers})",
            f"  %made{k} = icmp ne ptr %out{k}, null",
            f"  br i1 %made{k}, label %made_{k}, label %failed",
            f"made_{k}:",
            *_field(f"%result{k}", f"%out{k}", _DATA, "ptr"),
        ]
    return lines


def _return(n_outputs: int) -> list[str]:
    """The array, or a tuple of several."""
    if n_outputs == 1:
        return ["  ret ptr %out0"]
    # PyTuple_SetItem takes over the references to the arrays.
    lines = [f"  %tuple = call ptr @tauform_tuple_new(i64 {n_outputs})", "  %packed = icmp ne ptr %tuple, null"]
    lines += ["  br i1 %packed, label %pack, label %failed", "pack:"]
    lines += [f"  %set{k} = call i32 @tauform_tuple_set(ptr %tuple, i64 {k}, ptr %out{k})" for k in range(n_outputs)]
    return [*lines, "  ret ptr %tuple"]
