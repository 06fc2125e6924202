"""Folders of buffers, and the mounts that lead a job to them.

Accounts are written last. A folder or mount that no account knows was left by a killed
call; the next call that changes something removes it.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import uuid
from pathlib import Path

from pegasus_bb_testbed.datawarp.accounts import Accounts, Instance, Session
from pegasus_bb_testbed.datawarp.place import Place

_ACCESS = ("striped", "private")
_MS_BIND = 0x1000
_MNT_DETACH = 0x2


def folder(place: Place, instance: Instance, access: str = "striped") -> Path:
    return place.buffers / str(instance.id) / access


def make(place: Place, instance: Instance, session: Session) -> None:
    """Empty folders that belong to the session's owner.

    The folder above is root's, so that the owner cannot put another in its place.
    """
    above = place.buffers / str(instance.id)
    above.mkdir(mode=0o711)
    above.chmod(0o711)
    for access in _ACCESS:
        made = above / access
        made.mkdir(mode=0o700)
        if os.geteuid() == 0:
            os.chown(made, session.owner, session.group)


def mount(place: Place, mount_name: str, target: Path) -> None:
    """Let ``mount_name`` lead to ``target``; may be repeated. Raises OSError."""
    name = place.mounts() / mount_name
    if not place.binds():
        part = name.parent / f".{uuid.uuid4().hex}"
        part.symlink_to(target)
        part.replace(name)
        return
    name.mkdir(mode=0o700, exist_ok=True)
    if not os.path.samestat(name.stat(), target.stat()):
        unmount(place, mount_name)
        name.mkdir(mode=0o700)
        paths = (os.fsencode(target), os.fsencode(name))
        _libc("mount", *paths, None, ctypes.c_ulong(_MS_BIND), None)


def unmount(place: Place, mount_name: str) -> None:
    """Remove the mount or link, even while a process stands on it; may be repeated."""
    name = place.mounts() / mount_name
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


def sweep(place: Place, accounts: Accounts) -> None:
    """Remove what no account knows. Only under the lock."""
    known = {str(instance.id) for instance in accounts.instances}
    for found in place.buffers.iterdir():
        if found.name not in known:
            found.rename(place.trash / uuid.uuid4().hex)
    mounts = {name for session in accounts.sessions for name in session.mounts}
    for found in place.mounts().iterdir():
        if found.name not in mounts:
            unmount(place, found.name)


def empty_trash(place: Place) -> None:
    """May take long: not under the lock. Two may do it at the same time."""
    for found in place.trash.iterdir():
        shutil.rmtree(found, ignore_errors=True)
