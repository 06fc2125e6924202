"""How a job finds a buffer: a bind mount where root may make one, else a link."""

from __future__ import annotations

import contextlib
import ctypes
import os
import uuid
from pathlib import Path

_MS_BIND, _MNT_DETACH = 0x1000, 0x2


def attach(name: Path, target: Path, bind: bool) -> None:
    """Let ``name`` lead to the folder ``target``; again is fine. Raises OSError."""
    if not bind:
        part = name.parent / f".{uuid.uuid4().hex}"
        part.symlink_to(target)
        part.replace(name)
        return
    name.mkdir(mode=0o700, exist_ok=True)
    if not os.path.samestat(name.stat(), target.stat()):
        detach(name)
        name.mkdir(mode=0o700)
        paths = (os.fsencode(target), os.fsencode(name))
        _libc("mount", *paths, None, ctypes.c_ulong(_MS_BIND), None)


def detach(name: Path) -> None:
    """Take the mount or link away, even while a process stands on it."""
    if name.is_symlink():
        name.unlink()
        return
    with contextlib.suppress(OSError):  # EINVAL: nothing is mounted there
        while True:  # one upon another, where two calls were at it
            _libc("umount2", os.fsencode(name), _MNT_DETACH)
    with contextlib.suppress(FileNotFoundError):
        name.rmdir()


def _libc(function: str, *arguments: object) -> None:
    """Call it; the standard library has no mount()."""
    libc = ctypes.CDLL(None, use_errno=True)
    if getattr(libc, function)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), f"{function} {arguments[0]!r}")
