"""The first lines of a test's program, also where the path of Python has a blank."""

from __future__ import annotations

import shlex
import sys

_LONGEST = 127  # bytes that every kernel reads


def shebang(options: str = "", python: str = sys.executable) -> str:
    """``#!PYTHON OPTIONS``; where that is no path for a kernel, sh starts Python."""
    line = f"#!{python} {options}".rstrip()
    if " " not in python and len(line) <= _LONGEST:
        return line
    words = " ".join(filter(None, (shlex.quote(python), options)))
    return f"#!/bin/sh\n'''exec' {words} \"$0\" \"$@\"\n' '''"
