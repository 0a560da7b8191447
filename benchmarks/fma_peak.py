"""The machine's peak of fused multiply-adds on one core, measured with the kernels' own compiler."""

from __future__ import annotations

import ctypes
import time

import numpy as np

from tauform.codegen.backends.llvm.module import compile_object, host_vector, load_object

# Enough independent chains to hide the latency of four cycles on two units.
CHAINS = 20
ROUNDS = 200_000


def measure(repeats: int = 15) -> float:
    """Floating-point operations per second, two for each multiply-add and lane."""
    vector = host_vector()
    real, fma = vector.real, f"@llvm.fma.v{vector.lanes}f64"
    factor, term = vector.number(0.999), vector.number(0.1)
    sums = [f"  %s{k} = fadd {real} {f'%s{k - 1}' if k > 1 else '%y0'}, %y{k}" for k in range(1, CHAINS)]
    width = 64 * vector.lanes
    text = "\n".join(
        [
            "define void @loop(ptr %out, i64 %n) #0 {",
            "entry:",
            "  br label %round",
            "round:",
            "  %i = phi i64 [ 0, %entry ], [ %next, %round ]",
            *(f"  %x{k} = phi {real} [ zeroinitializer, %entry ], [ %y{k}, %round ]" for k in range(CHAINS)),
            *(f"  %y{k} = call {real} {fma}({real} %x{k}, {real} {factor}, {real} {term})" for k in range(CHAINS)),
            "  %next = add i64 %i, 1",
            "  %more = icmp ult i64 %next, %n",
            "  br i1 %more, label %round, label %done",
            "done:",
            *sums,
            f"  store {real} %s{CHAINS - 1}, ptr %out, align 8",
            "  ret void",
            "}",
            f"declare {real} {fma}({real}, {real}, {real})",
            f'attributes #0 = {{ "prefer-vector-width"="{width}" "min-legal-vector-width"="{width}" }}',
        ]
    )
    engine = load_object(compile_object(text))
    function = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)(engine.get_function_address("loop"))
    out = np.empty(vector.lanes)
    least = np.inf
    for _ in range(repeats):
        start = time.perf_counter()
        function(out.ctypes.data, ROUNDS)
        least = min(least, time.perf_counter() - start)
    del engine
    return ROUNDS * CHAINS * 2 * vector.lanes / least
