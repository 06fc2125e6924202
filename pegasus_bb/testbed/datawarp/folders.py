"""Folders of buffers, and the mounts that lead a job to them.

The books come first: what stands in a folder but not in the books is what a killed call
left behind, and the next call that changes something clears it away.
"""

from __future__ import annotations

import os
import shutil
import uuid
from pathlib import Path

from pegasus_bb.testbed.datawarp.books import Books, Instance, Session
from pegasus_bb.testbed.datawarp.mounting import attach, detach
from pegasus_bb.testbed.datawarp.place import Place

ACCESS = ("striped", "private")


def folder(place: Place, instance: Instance, access: str = "striped") -> Path:
    """Where the files of a buffer are."""
    return place.buffers / str(instance.id) / access


def make(place: Place, instance: Instance, session: Session) -> None:
    """Empty folders that belong to the session's owner.

    The folder above is root's, so that the owner cannot put another in its place.
    """
    above = place.buffers / str(instance.id)
    above.mkdir(mode=0o711)
    above.chmod(0o711)
    for access in ACCESS:
        made = above / access
        made.mkdir(mode=0o700)
        if os.geteuid() == 0:
            os.chown(made, session.owner, session.group)


def mount(place: Place, name: str, target: Path) -> None:
    """Let ``name`` below the mount folder lead to ``target``; again is fine."""
    attach(place.mounts() / name, target, place.binds())


def unmount(place: Place, name: str) -> None:
    """After it no job finds the buffer under that name; again is fine."""
    detach(place.mounts() / name)


def sweep(place: Place, books: Books) -> None:
    """Clear away what no book knows. Only under the lock."""
    known = {str(instance.id) for instance in books.instances}
    for found in place.buffers.iterdir():
        if found.name not in known:
            found.rename(place.trash / uuid.uuid4().hex)
    mounts = {name for session in books.sessions for name in session.mounts}
    for found in place.mounts().iterdir():
        if found.name not in mounts:
            unmount(place, found.name)


def empty_trash(place: Place) -> None:
    """May take long: not under the lock. Two may do it at the same time."""
    for found in place.trash.iterdir():
        shutil.rmtree(found, ignore_errors=True)
