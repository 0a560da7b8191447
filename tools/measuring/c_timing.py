"""Side-by-side timing of C functions: compiled separately, linked into one program, called in turns."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

# -std=c99 alone would forbid gcc to fuse multiply-add, for ours and for the peers
FLAGS = ("-O3", "-march=native", "-std=c99", "-ffp-contract=fast")
CXX_FLAGS = ("-O3", "-march=native", "-std=c++17")

MAIN = """
#define _POSIX_C_SOURCE 199309L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
{prototypes}
typedef void (*function)(const double *in, double *out);
static const function functions[] = {{{names}}};
enum {{ FUNCTIONS = {n_functions}, STATES = {n_states}, INPUTS = {n_inputs}, OUTPUTS = {n_outputs} }};
static double in[STATES * INPUTS], out[FUNCTIONS * STATES * OUTPUTS], best[FUNCTIONS];

static double now(void) {{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}}

static void sample(int f) {{
    double *to = out + (size_t)f * STATES * OUTPUTS;
    double start = now(), each;
    for (int s = 0; s < STATES; ++s) functions[f](in + s * INPUTS, to + s * OUTPUTS);
    each = (now() - start) / STATES;
    if (best[f] == 0 || each < best[f]) best[f] = each;
}}

int main(void) {{
    if (fread(in, sizeof(double), STATES * INPUTS, stdin) != STATES * INPUTS) return 1;
    for (int round = 0; round < {rounds}; ++round)
        for (int k = 0; k < FUNCTIONS; ++k) sample(round % 2 ? FUNCTIONS - 1 - k : k);
    fwrite(best, sizeof(double), FUNCTIONS, stdout);
    fwrite(out, sizeof(double), FUNCTIONS * STATES * OUTPUTS, stdout);
    return 0;
}}
"""


@dataclass(frozen=True)
class CFunction:
    """A function to be timed.

    Attributes:
        label: its name in the results.
        sources: its .c (or .cpp) files; none where `declarations` defines it.
        declarations: C text before the call: an #include or a prototype.
        call: C statement that reads `const double *in` and writes `double *out`.
        flags: added to the compiler's flags, such as -I folders.
        libraries: added to the linker's arguments.
    """

    label: str
    sources: tuple[Path, ...]
    declarations: str
    call: str
    flags: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class CTiming:
    """What one function took and returned.

    Attributes:
        seconds: least time per call, averaged over the states of one sweep.
        outputs: (n_states, n_outputs) what it wrote, to be compared before any time is quoted.
        text_bytes: machine code and constants of its own objects.
    """

    seconds: float
    outputs: np.ndarray = field(repr=False)
    text_bytes: int


def time_c(
    functions: Sequence[CFunction],
    inputs: np.ndarray,
    n_outputs: int,
    *,
    rounds: int = 3000,
    compiler: str = "gcc",
    flags: Sequence[str] = FLAGS,
) -> dict[str, CTiming]:
    """Time C functions on the same states in one process.

    Args:
        functions: the candidates.
        inputs: (n_states, n_inputs); a few hundred states keep the branch predictor honest and the cache warm.
        n_outputs: doubles that each writes.
        rounds: sweeps over all states; the least sweep counts.
        compiler: for .c files; .cpp files are compiled by g++.
        flags: of the C compiler.
    """
    inputs = np.ascontiguousarray(inputs, dtype=np.float64)
    with TemporaryDirectory() as folder:
        main = MAIN.replace("{rounds}", str(rounds))
        built = linked(functions, inputs.shape, n_outputs, main, Path(folder), compiler=compiler, flags=flags)
        raw = np.frombuffer(run([str(built.program)], inputs.tobytes()))
    outputs = raw[len(functions) :].reshape(len(functions), len(inputs), n_outputs)
    return {
        function.label: CTiming(raw[k] * 1e-9, outputs[k], built.text_bytes[k]) for k, function in enumerate(functions)
    }


@dataclass(frozen=True)
class Linked:
    """A program that calls every function, and the bytes of each function's own objects."""

    program: Path
    text_bytes: tuple[int, ...]


def linked(
    functions: Sequence[CFunction],
    shape: tuple[int, ...],
    n_outputs: int,
    main: str,
    build: Path,
    *,
    compiler: str = "gcc",
    flags: Sequence[str] = FLAGS,
) -> Linked:
    """Compile each function apart, and link all with a main program.

    Args:
        functions: what `main` finds as shim0, shim1, ...
        shape: number of states, and of inputs of each.
        n_outputs: doubles that each writes.
        main: C text with places for the prototypes, the names and the sizes, as in MAIN.
        build: folder that receives everything.
        compiler: for .c files; .cpp files are compiled by g++.
        flags: of the C compiler.
    """
    objects, sizes, libraries = [], [], []
    for k, function in enumerate(functions):
        shim = build / f"shim{k}{'.cpp' if any(s.suffix == '.cpp' for s in function.sources) else '.c'}"
        shim.write_text(_shim(k, function, cxx=shim.suffix == ".cpp"))
        built = [
            _compiled(s, build, f"{k}_{i}", function.flags, compiler, flags)
            for i, s in enumerate((*function.sources, shim))
        ]
        objects += built
        sizes.append(sum(_text_bytes(path) for path in built))
        libraries += list(function.libraries)
    (build / "main.c").write_text(_main(main, len(functions), shape, n_outputs))
    objects.append(_compiled(build / "main.c", build, "main", (), compiler, flags))
    linker = "g++" if any(s.suffix == ".cpp" for f in functions for s in f.sources) else compiler
    program = build / "program"
    run([linker, *map(str, objects), *libraries, "-lm", "-o", str(program)])
    return Linked(program, tuple(sizes))


def _shim(k: int, function: CFunction, cxx: bool) -> str:
    linkage = 'extern "C" ' if cxx else ""
    signature = f"void shim{k}(const double *in, double *out)"
    return f"{function.declarations}\n{linkage}{signature};\n{linkage}{signature} {{ {function.call} }}\n"


def _main(text: str, n_functions: int, shape: tuple[int, ...], n_outputs: int) -> str:
    names = [f"shim{k}" for k in range(n_functions)]
    return text.format(
        prototypes="\n".join(f"void {name}(const double *in, double *out);" for name in names),
        names=", ".join(names),
        n_functions=n_functions,
        n_states=shape[0],
        n_inputs=shape[1],
        n_outputs=n_outputs,
    )


def _compiled(source: Path, build: Path, name: str, extra: Sequence[str], compiler: str, flags: Sequence[str]) -> Path:
    target = build / f"{name}.o"
    command = ["g++", *CXX_FLAGS] if source.suffix == ".cpp" else [compiler, *flags]
    run([*command, *extra, "-c", str(source), "-o", str(target)])
    return target


def _text_bytes(path: Path) -> int:
    return int(run(["size", str(path)]).decode().splitlines()[1].split()[0])


def run(command: Sequence[str], stdin: bytes = b"") -> bytes:
    """What a command prints.

    Raises:
        RuntimeError: it failed; with what it said.
    """
    done = subprocess.run(command, input=stdin, capture_output=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}\n{done.stderr.decode()}")
    return done.stdout
