"""C, and the names that C, make, CMake and file systems all take."""

from __future__ import annotations

import re

from tauform.escaping.shown import shortened, visible

# Longest name that stays as it is, and what a longer one is cut to: C guarantees only 63 letters that count.
LONGEST_NAME, CUT_NAME = 64, 60

# Keywords of C up to C23, names that math.h may hold, and those of our own variables.
_VARIABLES = """
alignas alignof auto bool break case char const constexpr continue default do double else enum extern false float
for goto if inline int long nullptr register restrict return short signed sizeof static static_assert struct switch
thread_local true typedef typeof union unsigned void volatile while sin cos tan exp log pow sqrt y0 y1 yn j0 j1 jn
gamma angle offset sine cosine w i k l n count four
lanes sines_and_cosines far_sines_and_cosines both apart in_place deviation column_deviation to_columns larger report
memcpy fabs errno uint64_t size_t main
"""
# What our texts make of the name of a port for its copies, and macros.
_MADE = re.compile(
    r"\w+_(all|block|body|batch|expected|scale|computed|found|in|out)|\w+__|t\d+|[A-Z][A-Z0-9_]+|TAUFORM_\w+"
)
# A header of this name would stand before the system's own, in whichever of our folders it is included from.
_HEADERS = """
aio alloca assert complex conio cpio cpuid ctype direct dirent dlfcn endian err errno error fcntl features fenv
float fmtmsg fnmatch ftw getopt glob grp iconv ifaddrs immintrin inttypes io iso646 langinfo libgen libio limits
link locale malloc math memory monetary mqueue ndbm netdb nl_types omp paths poll printf process pthread pty pwd
quadmath regex resolv sched search semaphore setjmp shadow signal spawn stdalign stdarg stdatomic stdbit stdbool
stdckdint stddef stdint stdio stdio_ext stdlib stdnoreturn string strings stropts syscall sysexits syslog tar
termios tgmath threads time trace uchar ulimit unistd unwind utime utmpx values varargs wait wchar wctype windows
wordexp xlocale
"""
# Targets that CMake makes itself, with any of its generators.
_TARGETS = """
all all_build clean depend edit_cache help install list_install_components package package_source preinstall
rebuild_cache run_tests test zero_check
"""
# Libraries that every program is linked with, and names that Windows keeps for devices.
_LIBRARIES = "c dl gcc m rt"
_DEVICES = "aux con nul prn " + " ".join(f"com{k} lpt{k}" for k in range(1, 10))
TAKEN = frozenset(f"{_VARIABLES} {_HEADERS} {_TARGETS} {_LIBRARIES} {_DEVICES}".split())


def comment(text: str) -> str:
    """The text as it may stand in one line of a comment: it does not end it, nor begin another one."""
    # two question marks begin a trigraph, which is warned of where it could continue a line
    broken = re.sub(r"\?(?=\?)", "? ", visible(text))
    return broken.replace("*/", "* /").replace("/*", "/ *")


def string(text: str) -> str:
    """The text as a literal, quotes included; bytes that C could take for something else are octal."""
    letters = (chr(byte) if _is_plain(byte) else f"\\{byte:03o}" for byte in text.encode("utf-8", "surrogatepass"))
    return f'"{"".join(letters)}"'


def _is_plain(byte: int) -> bool:
    return 0x20 <= byte < 0x7F and chr(byte) not in '"\\?'


def identifier(name: str) -> str:
    """The name as that of a variable or function, different from all that we print beside it."""
    word = _word(name)
    return f"{word}_" if word in _VARIABLES.split() or _MADE.fullmatch(word) else word


def build_name(name: str) -> str:
    """The name as prefix of all functions, as target of make and CMake, and as name of files on any system."""
    word = _word(name)
    if len(word) > LONGEST_NAME:
        word = shortened(word, name, CUT_NAME)
    return f"{word}_robot" if word.lower() in TAKEN or re.fullmatch(r"t\d+", word) else word


def _word(name: str) -> str:
    word = re.sub(r"\W", "_", name, flags=re.ASCII)
    if not word or word[0].isdigit() or word[0] == "_":
        word = f"r{word}" if word else "model"
    return word
