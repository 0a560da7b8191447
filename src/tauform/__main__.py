"""The command `tauform`, and `python -m tauform`: the command line in a process of its own.

Python answers a signal between two of its instructions, and an import, a compiler or a solver may take seconds for one.
So the verb works in a child process, and this one waits: it ends the child at once, cleans up after it, and says so
where the system ended it. Heavy imports stay in the child.
"""

from __future__ import annotations

import atexit
import os
import select
import signal
import sys
from contextlib import suppress

from tauform.files.streams import open_standard_streams

# Ctrl-C, an end that is asked for, a terminal that is gone.
ENDING = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
# Seconds that a process which was killed may take to end.
SOON_ENDED = 2.0
SHOW_CURSOR = "\r\x1b[K\x1b[?25h"  # on a line of its own: a progress bar may have stood there


def main() -> int:
    """Run this process's command line and return its exit code: the verb's, or 128 and the number of a signal."""
    open_standard_streams()
    # Windows: no fork, and Ctrl-C is left to Python.
    if not hasattr(os, "fork"):
        from tauform.cli import main as run

        return run()
    heard = [number for number in ENDING if signal.getsignal(number) is not signal.SIG_IGN]  # nohup is respected
    # Blocked until both processes have their handlers: a signal in between would hit the wrong one.
    signal.pthread_sigmask(signal.SIG_BLOCK, heard)
    # Memory that both processes see: the child names its temporary folders there.
    register = os.memfd_create("tauform") if hasattr(os, "memfd_create") else None
    parent, child = os.getpid(), os.fork()
    if child == 0:
        return _work(parent, heard, register)
    code, ended_by = _wait(child, heard)
    if code < 0:
        _clean_up(register)
        _explain(-code, ended_by)
    os._exit(code if code >= 0 else 128 + (ended_by or -code))  # buffers are the child's to write


def _work(parent: int, heard: list[signal.Signals], register: int | None) -> int:
    """The verb, in the child: signals end it where it stands, and so does the end of its parent."""
    for number in heard:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, heard)
    _end_with_parent(parent)
    if register is not None:
        from tauform.files.temporaries import announce_to

        announce_to(register)
    codes: list[int] = []
    # The first to be registered is the last to run: threads have been waited for, and what others clean up is clean.
    atexit.register(_leave, codes)
    from tauform.cli import main as run

    codes.append(run())
    return codes[0]


def _leave(codes: list[int]) -> None:
    """End at once: taking modules and memory apart takes Python a third of the time of a short verb."""
    # No code: an error that nobody caught, which the interpreter reports.
    if codes:
        with suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(codes[0])


def _wait(child: int, heard: list[signal.Signals]) -> tuple[int, int | None]:
    """The child's exit code (negative: the signal that ended it), and the signal that we were sent."""
    sent: list[int] = []
    killed: list[int] = []

    def end(number: int, _: object) -> None:
        sent.append(number)
        # Children of the child first found, then all killed: a compiler must not write on.
        killed.extend(_descendants(child))
        for process in (child, *killed):
            with suppress(ProcessLookupError, PermissionError):
                os.kill(process, signal.SIGKILL)

    for number in heard:
        signal.signal(number, end)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, heard)
    status = os.waitpid(child, 0)[1]
    # Until they end they hold the locks of temporaries, which would pass for those of a process that lives.
    for process in killed:
        _wait_for_end(process)
    return os.waitstatus_to_exitcode(status), sent[0] if sent else None


def _wait_for_end(process: int) -> None:
    """Wait a little for the end of a process that is no child of ours."""
    if hasattr(os, "pidfd_open"):
        with suppress(OSError):  # it has ended
            handle = os.pidfd_open(process)
            select.select([handle], [], [], SOON_ENDED)
            os.close(handle)


def _descendants(process: int) -> list[int]:
    """Processes that the child started, and theirs: compilers, readers, workers."""
    found = []
    with suppress(OSError):
        for task in os.listdir(f"/proc/{process}/task"):
            with open(f"/proc/{process}/task/{task}/children", encoding="ascii") as file:
                found += [int(number) for number in file.read().split()]
    return [*found, *(number for each in found for number in _descendants(each))]


def _clean_up(register: int | None) -> None:
    """Clean up after a child that was killed, and show the cursor that its progress bar hid."""
    from tauform.files.journal import recover
    from tauform.files.temporaries import announced

    for folder in announced(register) if register is not None else ():
        recover(folder)
    if sys.stderr.isatty():
        sys.stderr.write(SHOW_CURSOR)
        sys.stderr.flush()


def _explain(number: int, ended_by: int | None) -> None:
    """One sentence where neither we nor the user ended the child."""
    if ended_by is None and number not in ENDING:
        reason = "perhaps memory ran out" if number == signal.SIGKILL else "a library that it calls failed"
        sys.stderr.write(f"the system ended this command ({signal.Signals(number).name}): {reason}\n")
        sys.stderr.flush()


def _end_with_parent(parent: int) -> None:
    """Nobody waits for a child whose parent was killed."""
    if sys.platform == "linux":
        import ctypes

        set_signal_of_parents_end = 1  # PR_SET_PDEATHSIG
        ctypes.CDLL(None).prctl(set_signal_of_parents_end, signal.SIGKILL)
        # The parent may have ended before the request was made.
        if os.getppid() != parent:
            os._exit(128 + signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main())
