"""A file system that refuses some system calls, played by a seccomp filter."""

from __future__ import annotations

import errno
import subprocess
from collections.abc import Callable

import pytest

from pegasus_bb.core import refusals
from tests.crash import ptrace, syscalls
from tests.support.forked import forked

CHMOD = ("chmod", "fchmod", "fchmodat", "fchmodat2")
LINK = ("link", "linkat")
SYMLINK = ("symlink", "symlinkat")


def without(
    names: tuple[str, ...], work: Callable[[], object], error: int = errno.EPERM
) -> subprocess.CompletedProcess[str]:
    """``work`` in a process whose system calls ``names`` end with ``error``."""
    numbers = [each.number for each in syscalls.KINDS if each.name in names]
    if not syscalls.numbered():
        pytest.skip("the numbers of the system calls of this machine are not known")

    def program() -> None:
        refusals.WARNINGS.__init__()  # type: ignore[misc] # nothing was said
        if names:
            ptrace.refuse_all(numbers, error)
        work()

    return forked(program, list(names))
