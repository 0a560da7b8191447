"""The complete LLVM module of a kernel, and its compilation to an object file for this machine."""

from __future__ import annotations

import ctypes
import ctypes.util
import sys
from dataclasses import replace
from functools import cache
from typing import Any

import llvmlite.binding as llvm

from tauform.codegen.backends.llvm.elementary import bring_close
from tauform.codegen.backends.llvm.fastcall import is_supported, symbols
from tauform.codegen.backends.llvm.iterated import print_iterated
from tauform.codegen.backends.llvm.loop import print_loop
from tauform.codegen.backends.llvm.planned.block import is_planned
from tauform.codegen.backends.llvm.printer import print_alone, print_block, print_planned_block
from tauform.codegen.backends.llvm.scan import print_scan
from tauform.codegen.backends.llvm.single import print_single
from tauform.codegen.backends.llvm.text import DOUBLE, ScalarType, Vector
from tauform.codegen.program.iterated import IteratedStep
from tauform.codegen.program.program import LANES, Program

# Bytes of results of a block, and bits of the vectors where there are more.
MOST_RESULT_BYTES, NARROW_VECTOR_BITS = 24 * 2**10, 256
RARE = '!0 = !{!"branch_weights", i32 1, i32 100000}'


@cache
def host() -> tuple[str, str]:
    """Name and features of this processor, as LLVM calls them."""
    _initialize()
    return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


@cache
def _initialize() -> None:
    # From LLVM 20 on, llvmlite initialises itself and refuses the call.
    if tuple(int(k) for k in llvm.llvm_version_info[:1]) < (20,):
        llvm.initialize()
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    llvm.initialize_native_asmparser()
    # the C library's functions, for angles beyond the inline reduction
    # Looked up by address: a name that the process does not export would leave the object unresolved.
    library = ctypes.CDLL("ucrtbase" if sys.platform == "win32" else ctypes.util.find_library("m"))
    for name in ("sin", "cos", "atan2"):
        llvm.add_symbol(f"tauform_{name}", ctypes.cast(getattr(library, name), ctypes.c_void_p).value)
    if is_supported():
        for name, address in symbols().items():
            llvm.add_symbol(name, address)


def host_vector(real: ScalarType = DOUBLE) -> Vector:
    """The widest vector of such numbers that this processor computes with."""
    features = set(host()[1].split(","))
    # Intel and AMD say avx512f or avx; without either, 128 bits, as SSE2 and NEON have.
    bits = 512 if "+avx512f" in features else 256 if "+avx" in features else 128
    fuses = "+fma" in features or "aarch64" in llvm.get_default_triple()
    return Vector(bits // real.bits, fuses, real)


def kernel_vector(program: Program, real: ScalarType = DOUBLE) -> Vector:
    """The vector that a kernel computes with: narrower where the results of a block would fill the first cache."""
    vector = host_vector(real)
    # Bytes that one block writes: one row of lanes per entry of each output.
    written = vector.lanes * sum(port.size for port in program.outputs) * real.size
    if vector.lanes * real.bits > NARROW_VECTOR_BITS and written > MOST_RESULT_BYTES:
        return replace(vector, lanes=NARROW_VECTOR_BITS // real.bits)
    return vector


def has_single(program: Program) -> bool:
    """Whether the module has @single: NumPy returns scalars, not arrays, for outputs without dimensions."""
    return is_supported() and all(port.shape for port in program.outputs)


def print_module(program: Program, vector: Vector, single: bool = True) -> str:
    """LLVM text of a kernel: the loop over a batch and the block of states that it calls.

    Args:
        single: whether to add code for one state, where the program can have it: more than half of LLVM's work.
    """
    single = single and has_single(program)
    alone = print_alone(program, vector) if single else ""
    # a single state computes with numbers or with the vectors of a wide program
    # An intrinsic is declared once per width that some function computes with.
    widths = dict.fromkeys((vector.lanes, *((1, LANES) if alone else ())))
    declarations = [line for lanes in widths for line in _declarations(Vector(lanes, scalar=vector.scalar))]
    # a planned block writes whole rows of lanes: one state needs code of its own
    planned = is_planned(program, vector, llvm.get_default_triple()) and (alone != "" or not single)
    sections = [
        "\n".join(declarations),
        bring_close(vector.scalar),
        (print_planned_block if planned else print_block)(program, vector),
        print_loop(program, vector, dense=planned),
    ]
    if alone:
        sections.append(alone)
    if single:
        sections.append(print_single(program, "alone" if alone else "block", vector.scalar))
    return "\n\n".join([*sections, _attributes(vector), RARE, ""])


def print_scan_module(program: Program | IteratedStep, vector: Vector) -> str:
    """LLVM text of a program that makes the next state of the last one, with its loop over time."""
    block = print_iterated(program, vector) if isinstance(program, IteratedStep) else print_block(program, vector)
    sections = [
        "\n".join(_declarations(vector)),
        bring_close(vector.scalar),
        block,
        print_scan(program, vector),
    ]
    return "\n\n".join([*sections, _attributes(vector), RARE, ""])


def _attributes(vector: Vector) -> str:
    # without these, LLVM prefers narrower vectors on some processors
    width = vector.scalar.bits * vector.lanes
    return f'attributes #0 = {{ "prefer-vector-width"="{width}" "min-legal-vector-width"="{width}" }}'


def _declarations(vector: Vector) -> list[str]:
    real, suffix = vector.real, vector.suffix
    return [
        f"declare {real} @llvm.fabs.{suffix}({real})",
        f"declare {real} @llvm.sqrt.{suffix}({real})",
        f"declare {real} @llvm.copysign.{suffix}({real}, {real})",
        f"declare {real} @llvm.fma.{suffix}({real}, {real}, {real})",
    ]


def _target_machine() -> Any:
    cpu, features = host()
    target = llvm.Target.from_default_triple()
    # Level 2 of code generation; `opt` does not ask for passes over the text.
    return target.create_target_machine(cpu=cpu, features=features, opt=2, reloc="default", codemodel="jitdefault")


def compile_object(text: str) -> bytes:
    """Object file of an LLVM module for this processor."""
    machine = _target_machine()
    module = llvm.parse_assembly(text)
    module.verify()
    # Set after parsing: the text itself names no machine.
    module.triple = machine.triple
    module.data_layout = str(machine.target_data)
    # The text is already free of what LLVM's passes remove; they would only take time and undo the order of shuffles.
    passes = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=0))
    passes.getModulePassManager().run(module, passes)
    return bytes(machine.emit_object(module))


def load_object(data: bytes) -> Any:
    """The engine that holds an object file; `get_function_address` finds @loop and @single in it."""
    machine = _target_machine()
    # An empty module: MCJIT wants one, and the code comes as an object file, from the cache or from `compile_object`.
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
    engine.add_object_file(llvm.ObjectFileRef.from_data(data))
    engine.finalize_object()
    return engine
