"""Kernels as foreign functions of XLA: a compiled handler between XLA's calling convention and the kernel's loop.

XLA calls handler(frame*) (its C interface for foreign functions, version 0.x). Offsets in bytes of what is read:

    frame     extension_start 8; args: size 56, args 72; rets: size 96, rets 112
    buffer    data 24, rank 32, dims 40
    extension type 8, metadata 24;   metadata   api_version: major 24, minor 28; traits 32

The kernel's loop is NumPy's: loop(char **args, intp *dimensions, intp *steps, void *data) over dimensions[0] states.
"""

from __future__ import annotations

import ctypes
from itertools import count
from typing import Any

from tauform.codegen.backends.llvm.module import compile_object, load_object
from tauform.codegen.program.program import Program
from tauform.codegen.runtime.kernel import Kernel, compile_program

# The version of XLA's interface whose layout stands above; later minor versions only add to it.
API_MAJOR, API_MINOR = 0, 1

_NUMBERS = count()
# Handlers that XLA may call until the process ends.
_KEPT: list[Any] = []


def register(jax: Any, program: Program) -> str:
    """Compile a program and register it with XLA on the CPU; the name of the target."""
    kernel = compile_program(program)
    engine = load_object(compile_object(_handler_text(kernel)))
    _KEPT.append((kernel, engine))
    make = ctypes.pythonapi.PyCapsule_New
    make.restype, make.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    target = f"tauform_{program.name}_{next(_NUMBERS)}"
    jax.ffi.register_ffi_target(target, make(engine.get_function_address("handler"), None, None), platform="cpu")
    return target


def _handler_text(kernel: Kernel) -> str:
    """LLVM text of the handler; the address of the kernel's loop is a constant of it."""
    program, n_in = kernel.program, len(kernel.program.inputs)
    ports = [*program.inputs, *program.outputs]
    n = len(ports)
    lines = []
    for k, port in enumerate(ports):
        table, index = ("%args", k) if k < n_in else ("%rets", k - n_in)
        lines += [
            f"%slot{k} = getelementptr ptr, ptr {table}, i64 {index}",
            f"%buffer{k} = load ptr, ptr %slot{k}",
            f"%place{k} = getelementptr i8, ptr %buffer{k}, i64 24",
            f"%data{k} = load ptr, ptr %place{k}",
            f"%pointer{k} = getelementptr ptr, ptr %pointers, i64 {k}",
            f"store ptr %data{k}, ptr %pointer{k}",
            f"%step{k} = getelementptr i64, ptr %steps, i64 {k}",
            # XLA's buffers are dense: bytes of one state.
            f"store i64 {8 * port.size}, ptr %step{k}",
        ]
    # Steps within one state follow those from state to state: C order.
    inner = [8 * _stride(port.shape, d) for port in ports for d in range(len(port.shape))]
    for k, step in enumerate(inner):
        lines += [f"%inner{k} = getelementptr i64, ptr %steps, i64 {n + k}", f"store i64 {step}, ptr %inner{k}"]
    body = "\n".join(f"  {line}" for line in lines)
    # The batch is what the first output has before its own dimensions.
    rank = len(program.outputs[0].shape)
    return f"""
define ptr @handler(ptr %frame) {{
entry:
  %extension_place = getelementptr i8, ptr %frame, i64 8
  %extension = load ptr, ptr %extension_place
  %plain = icmp eq ptr %extension, null
  br i1 %plain, label %execute, label %extended
extended:
  %type_place = getelementptr i8, ptr %extension, i64 8
  %type = load i32, ptr %type_place
  %asks = icmp eq i32 %type, 1
  br i1 %asks, label %metadata, label %execute
metadata:
  %metadata_place = getelementptr i8, ptr %extension, i64 24
  %about = load ptr, ptr %metadata_place
  %major = getelementptr i8, ptr %about, i64 24
  store i32 {API_MAJOR}, ptr %major
  %minor = getelementptr i8, ptr %about, i64 28
  store i32 {API_MINOR}, ptr %minor
  ret ptr null
execute:
  %args_place = getelementptr i8, ptr %frame, i64 72
  %args = load ptr, ptr %args_place
  %rets_place = getelementptr i8, ptr %frame, i64 112
  %rets = load ptr, ptr %rets_place
  %pointers = alloca ptr, i64 {n}
  %steps = alloca i64, i64 {n + len(inner)}
  %dimensions = alloca i64
{body}
  %first = load ptr, ptr %rets
  %rank_place = getelementptr i8, ptr %first, i64 32
  %all = load i64, ptr %rank_place
  %batch_rank = sub i64 %all, {rank}
  %dims_place = getelementptr i8, ptr %first, i64 40
  %dims = load ptr, ptr %dims_place
  br label %next
next:
  %axis = phi i64 [ 0, %execute ], [ %following, %multiply ]
  %states = phi i64 [ 1, %execute ], [ %product, %multiply ]
  %more = icmp slt i64 %axis, %batch_rank
  br i1 %more, label %multiply, label %run
multiply:
  %size_place = getelementptr i64, ptr %dims, i64 %axis
  %size = load i64, ptr %size_place
  %product = mul i64 %states, %size
  %following = add i64 %axis, 1
  br label %next
run:
  store i64 %states, ptr %dimensions
  call void inttoptr (i64 {kernel.loop_address} to ptr)(ptr %pointers, ptr %dimensions, ptr %steps, ptr null)
  ret ptr null
}}
"""


def _stride(shape: tuple[int, ...], dimension: int) -> int:
    """Entries from one index of a dimension to the next, in C order."""
    step = 1
    for size in shape[dimension + 1 :]:
        step *= size
    return step
