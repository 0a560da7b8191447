"""Blocks of steps that iterate, until all lanes of a block are done.

What one program hands to another stays in a buffer of the block; the others are ports of the whole.
"""

from __future__ import annotations

from tauform.codegen.backends.llvm.printer import print_block
from tauform.codegen.backends.llvm.text import Vector
from tauform.codegen.program.iterated import OPEN, IteratedStep


def print_iterated(step: IteratedStep, vector: Vector) -> str:
    """`@block` with the arguments of any block, base and row step of each port."""
    inner, real, lanes = step.handed_on, vector.real, vector.lanes
    arguments, passed = [], {}
    for kind, ports in (("in", step.inputs), ("out", step.outputs)):
        for k, port in enumerate(ports):
            passed[port.name] = f"ptr %{kind}{k}, i64 %{kind}{k}_step"
            arguments.append(passed[port.name])
    lines = [f"define internal void @block({', '.join(arguments)}) noinline #0 {{", "entry:"]
    for k, port in enumerate(inner.values()):
        lines.append(f"  %inner{k} = alloca [{lanes * port.size} x {vector.scalar.name}], align 64")
        passed[port.name] = f"ptr %inner{k}, i64 {port.size * vector.scalar.size}"
    calls = {
        name: f"  call void @{name}({', '.join(passed[port.name] for port in (*program.inputs, *program.outputs))})"
        for name, program in step.programs.items()
    }
    lines += [
        calls["first"],
        "  br label %look",
        "look:",
        "  %round = phi i64 [ 0, %entry ], [ %next, %again ]",
        # One number per state: the rows of this port are one vector.
        f"  %left = load {real}, ptr %inner{list(inner).index(OPEN)}, align {vector.scalar.size}",
        f"  %open = fcmp ogt {real} %left, zeroinitializer",
        f"  %bits = bitcast {vector.mask} %open to i{lanes}",
        f"  %any = icmp ne i{lanes} %bits, 0",
        f"  %few = icmp ult i64 %round, {step.most_rounds}",
        "  %more = and i1 %any, %few",
        "  br i1 %more, label %again, label %done",
        "again:",
        calls["again"],
        "  %next = add i64 %round, 1",
        "  br label %look",
        "done:",
        calls["last"],
        "  ret void",
        "}",
    ]
    blocks = [print_block(program, vector, name) for name, program in step.programs.items()]
    return "\n\n".join([*blocks, "\n".join(lines)])
