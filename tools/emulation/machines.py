"""Machines: a cross-compiler with its flags, and the QEMU that runs what it makes."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

START = Path(__file__).parent / "cortex_m_start.c"
# Code at 0 and data at 0x20000000, as on the boards below; the debugger's host reads and writes for the C library.
BARE = (
    "-nostartfiles",
    "-Wl,--section-start=.vectors=0x0,-Ttext=0x400,-Tdata=0x20000000,-e,reset",
    "-Wl,--no-warn-rwx-segments",
    "--specs=rdimon.specs",
)
SECONDS = 120


@dataclass(frozen=True)
class Machine:
    """A processor that is emulated.

    Attributes:
        title: the processor, for people.
        tools: prefix of the cross-compiler's programs.
        emulator: QEMU, with what chooses the processor; the program's path follows.
        flags: that choose the processor.
        link: flags of the linker.
        start: sources that run before main.
    """

    title: str
    tools: str
    emulator: tuple[str, ...]
    flags: tuple[str, ...] = ()
    link: tuple[str, ...] = ("-static",)
    start: tuple[Path, ...] = ()

    def missing(self) -> str:
        """What is not installed here; empty where nothing is."""
        absent = [name for name in (f"{self.tools}gcc", self.emulator[0]) if shutil.which(name) is None]
        return " and ".join(absent)

    def compiled(self, sources: Sequence[Path], program: Path, flags: Sequence[str]) -> Path:
        """Compile and link a program for the machine."""
        files = [str(path) for path in (*self.start, *sources)]
        command = [f"{self.tools}gcc", *self.flags, *flags, *files, *self.link, "-lm", "-o", str(program)]
        said(command)
        return program

    def run(self, program: Path, *options: str) -> str:
        """What the program prints.

        Args:
            options: of QEMU, before the program.
        """
        return said([self.emulator[0], *options, *self.emulator[1:], str(program)])

    def traced(self, program: Path, log: Path) -> str:
        """What the program prints; the log has one line for each instruction that it executed."""
        return self.run(program, _one_at_a_time(self.emulator[0]), "-d", "exec,nochain", "-D", str(log))


def _board(name: str) -> tuple[str, ...]:
    semihosting = ("-semihosting-config", "enable=on,target=native")
    return ("qemu-system-arm", "-M", name, "-display", "none", "-monitor", "none", *semihosting, "-kernel")


def _cortex_m(core: str, fpu: str, board: str) -> Machine:
    return Machine(
        f"Cortex-{core.upper()}F",
        "arm-none-eabi-",
        _board(board),
        (f"-mcpu=cortex-{core}", "-mthumb", "-mfloat-abi=hard", f"-mfpu={fpu}"),
        BARE,
        (START,),
    )


# The M7 of the board has single precision in hardware, as most have; doubles are computed by the compiler's library.
MACHINES = {
    "m4f": _cortex_m("m4", "fpv4-sp-d16", "mps2-an386"),
    "m7": _cortex_m("m7", "fpv5-sp-d16", "mps2-an500"),
    "aarch64": Machine("AArch64", "aarch64-linux-gnu-", ("qemu-aarch64",)),
    "riscv64": Machine("RISC-V 64", "riscv64-linux-gnu-", ("qemu-riscv64",)),
}


@cache
def _one_at_a_time(emulator: str) -> str:
    """The option that makes each instruction a block of its own; QEMU 8.1 renamed it."""
    return "-one-insn-per-tb" if "one-insn-per-tb" in subprocess.getoutput(f"{emulator} -help") else "-singlestep"


def said(command: Sequence[str]) -> str:
    """What a command prints.

    Raises:
        RuntimeError: it failed; with what it said.
    """
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=SECONDS, stdin=subprocess.DEVNULL
    )
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}\nexit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout
