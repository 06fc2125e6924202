"""Gives our package the byte code that pip writes when it installs a package."""

from __future__ import annotations

import compileall
import os
from pathlib import Path

import pegasus_bb


def compile_as_installed() -> None:
    """Compile pegasus_bb, and let the programs that start from here use that.

    A checkout has no byte code at first, and an environment that forbids to write it
    would make each start compile all that it loads.
    """
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    compileall.compile_dir(Path(pegasus_bb.__file__).parent, quiet=1)
