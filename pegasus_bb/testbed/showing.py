"""Folders and files of the host, seen inside at the same paths."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from pegasus_bb.errors import PegasusBBError
from pegasus_bb.process import ask
from pegasus_bb.testbed.home import Home
from pegasus_bb.testbed.namespace import holder_of

_SYSTEM = Path("/usr")


def show(home: Home, paths: Iterable[Path]) -> None:
    """May be repeated. Raises PegasusBBError where one cannot be shown."""
    for path in paths:
        _show(home, path)
    _do(home, "chroot", str(home.root), "ldconfig")  # a Python of /usr/local needs it


def python_paths(base: Path, prefix: Path, stdlib: Path, program: Path) -> list[Path]:
    """What has to be seen of a Python; of a system's own only what may be lacking."""
    python = [stdlib, program] if base == _SYSTEM else [base]
    return python + ([prefix] if prefix != base else [])


def _show(home: Home, path: Path) -> None:
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
