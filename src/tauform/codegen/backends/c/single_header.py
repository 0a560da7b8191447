"""Declarations and definitions in one header; one file of the user asks for the definitions."""

from __future__ import annotations

import re

from tauform.codegen.backends.c.templates import template

# Read from the text itself: a function added to the templates is renamed without being listed here.
_MACRO = re.compile(r"^#define (\w+)", re.MULTILINE)
_STATIC = re.compile(r"^static [^=;{]*?\b(\w+)\(", re.MULTILINE)
_TYPE = re.compile(r"^typedef [^;]*?\b(\w+) __attribute__", re.MULTILINE)


def single_header(header: str, source: str, name: str) -> str:
    """The header with the source behind a switch.

    Names that the source keeps to itself get the prefix, and macros end with it: headers of several robots may be
    included in one file.
    """
    # what stands before the library's headers is the comment and the header itself
    body = source[source.index("#include <") :]
    private = [*_STATIC.findall(body), *_TYPE.findall(body)]
    # Public names begin with the prefix already and stay as they are.
    renamed = dict.fromkeys(word for word in private if not word.startswith(f"{name}_"))
    # Macros that end with the file: the next robot's header defines them anew.
    macros = dict.fromkeys([*renamed, *_MACRO.findall(body)])
    return template("single_header.h").substitute(
        header=header.rstrip("\n"),
        switch=implementation(name),
        renamed="\n".join(f"#define {word} {name}_{word}" for word in renamed),
        body=body.rstrip("\n"),
        ended="\n".join(f"#undef {word}" for word in macros),
    )


def implementation(name: str) -> str:
    """The macro that asks for the definitions."""
    return f"{name.upper()}_IMPLEMENTATION"
