"""pegasus-bb inside: a workflow is planned and run there as on a submit host."""

from __future__ import annotations

import os
import shlex
import sys
import sysconfig
from pathlib import Path

import pegasus_bb
from pegasus_bb.errors import PegasusBBError
from pegasus_bb.process import ask
from pegasus_bb.testbed.home import Home
from pegasus_bb.testbed.namespace import holder_of

_SYSTEM = Path("/usr")
_COMMAND = "usr/local/bin/pegasus-bb"


def share_ourselves(home: Home) -> None:
    """Let this very Python and package be seen inside at the same paths, and found on
    PATH. May be repeated, also by another installation. Raises PegasusBBError."""
    for path in paths():
        _share(home, path)
    _do(home, "chroot", str(home.root), "ldconfig")  # a Python of /usr/local needs it
    command = Path(f"{home.root}/{_COMMAND}")
    # A file of ours and not a link: an installation may have no such program.
    python = shlex.quote(sys.executable)
    command.write_text(f'#!/bin/sh\nexec {python} -m pegasus_bb "$@"\n')
    command.chmod(0o755)


def paths() -> list[Path]:
    """What has to be seen; of a system's own Python only what the testbed may lack."""
    base, prefix = Path(sys.base_prefix), Path(sys.prefix)
    python = [base]
    if base == _SYSTEM:
        python = [Path(sysconfig.get_path("stdlib")), Path(sys.executable).resolve()]
    package = Path(pegasus_bb.__file__).resolve().parents[1]
    found = python + ([prefix] if prefix != base else []) + [package]
    return list(dict.fromkeys(found))


def _share(home: Home, path: Path) -> None:
    target = f"{home.root}{path}"
    if _do(home, "mountpoint", "-q", target) == 0:
        return
    if path.is_dir():
        _do(home, "mkdir", "-p", target)
    else:
        _do(home, "mkdir", "-p", os.path.dirname(target))  # noqa: PTH120 - as text
        _do(home, "touch", target)
    for above in path.parents[:-1]:  # such as /root: users pass through, see nothing
        _do(home, "chmod", "a+x", f"{home.root}{above}")
    if _do(home, "mount", "--bind", str(path), target) != 0:
        raise PegasusBBError(f"{path} cannot be shown in the testbed as {target}")


def _do(home: Home, *argv: str) -> int:
    """As root among the mounts of the testbed, seen from outside."""
    return ask(["nsenter", f"--target={holder_of(home)}", "--mount", *argv]).status
