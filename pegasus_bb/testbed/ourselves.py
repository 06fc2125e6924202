"""pegasus-bb inside: a workflow is planned and run there as on a submit host."""

from __future__ import annotations

import shlex
import sys
import sysconfig
from pathlib import Path

import pegasus_bb
from pegasus_bb.testbed.home import Home
from pegasus_bb.testbed.showing import python_paths, show

_COMMAND = "usr/local/bin/pegasus-bb"


def share_ourselves(home: Home) -> None:
    """Let this very Python and package be seen inside at the same paths, and found on
    PATH. May be repeated, also by another installation. Raises PegasusBBError."""
    show(home, paths())
    command = Path(f"{home.root}/{_COMMAND}")
    # A file of ours and not a link: an installation may have no such program.
    python = shlex.quote(sys.executable)
    command.write_text(f'#!/bin/sh\nexec {python} -m pegasus_bb "$@"\n')
    command.chmod(0o755)


def paths() -> list[Path]:
    """What has to be seen."""
    stdlib, program = Path(sysconfig.get_path("stdlib")), Path(sys.executable)
    python = python_paths(
        Path(sys.base_prefix), Path(sys.prefix), stdlib, program.resolve()
    )
    package = Path(pegasus_bb.__file__).resolve().parents[1]
    return list(dict.fromkeys([*python, package]))
