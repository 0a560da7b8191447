"""The loop over time steps inside the loop over a batch: a tile of states runs to the end before the next begins.

A step waits for the one before it, so a tile holds several blocks: while one block ends, the next one begins.

`@scan(args, rows, times, n, steps)`: base, bytes from state to state and bytes from step to step of each port. What a
step writes is what the next one reads where the caller's arrays overlap so; a step of 0 is a value that stays.
"""

from __future__ import annotations

from tauform.codegen.backends.llvm.text import Vector
from tauform.codegen.program.iterated import IteratedStep
from tauform.codegen.program.program import Program

# Blocks of a tile.
TILE = 8


def print_scan(program: Program | IteratedStep, vector: Vector) -> str:
    """`@scan`, for a `@block` of the same program and vector; n is a multiple of the vector's lanes."""
    ports = (*program.inputs, *program.outputs)
    lines = ["define void @scan(ptr %args, ptr %rows, ptr %times, i64 %n, i64 %steps) {", "entry:"]
    for k in range(len(ports)):
        for name, kind in (("args", "ptr"), ("rows", "i64"), ("times", "i64")):
            lines += [
                f"  %{name}_at{k} = getelementptr {kind}, ptr %{name}, i64 {k}",
                f"  %{name}{k} = load {kind}, ptr %{name}_at{k}",
            ]
    tile = TILE * vector.lanes
    lines += [
        "  br label %tiles",
        "tiles:",
        "  %i = phi i64 [ 0, %entry ], [ %end, %ended ]",
        "  %i_more = icmp ult i64 %i, %n",
        "  br i1 %i_more, label %start, label %done",
        "start:",
        # The last tile may be shorter; n is a multiple of the lanes, so its blocks are whole.
        f"  %whole = add i64 %i, {tile}",
        "  %is_whole = icmp ult i64 %whole, %n",
        "  %end = select i1 %is_whole, i64 %whole, i64 %n",
        "  br label %time",
        "time:",
        "  %k = phi i64 [ 0, %start ], [ %k_next, %stepped ]",
        "  %k_more = icmp ult i64 %k, %steps",
        "  br i1 %k_more, label %step, label %ended",
        "step:",
    ]
    # Addresses of this step are the same for all blocks of the tile.
    for k in range(len(ports)):
        lines += [
            f"  %late{k} = mul i64 %k, %times{k}",
            f"  %now{k} = getelementptr i8, ptr %args{k}, i64 %late{k}",
        ]
    lines += ["  br label %state", "state:", "  %j = phi i64 [ %i, %step ], [ %j_next, %state ]"]
    for k in range(len(ports)):
        lines += [f"  %offset{k} = mul i64 %j, %rows{k}", f"  %p{k} = getelementptr i8, ptr %now{k}, i64 %offset{k}"]
    passed = [f"ptr %p{k}" + ("" if port.shared else f", i64 %rows{k}") for k, port in enumerate(ports)]
    lines += [
        f"  call void @block({', '.join(passed)})",
        f"  %j_next = add i64 %j, {vector.lanes}",
        "  %j_more = icmp ult i64 %j_next, %end",
        "  br i1 %j_more, label %state, label %stepped",
        "stepped:",
        "  %k_next = add i64 %k, 1",
        "  br label %time",
        "ended:",
        "  br label %tiles",
        "done:",
        "  ret void",
        "}",
    ]
    return "\n".join(lines)
