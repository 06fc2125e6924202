"""Memory to a file: the client passes a descriptor, a memfd say, with its request.

The source of such a task is ``fd://0``: the first descriptor of the request. It goes
with the service: a task that has not ended then fails, and its user, who has the
memory still, submits it again.
"""

from __future__ import annotations

import array
import fcntl
import os
import re
import socket
import stat
import tempfile
from collections.abc import Sequence

from pegasus_bb.core.refusals import keep_mode, sync_folder
from pegasus_bb.runtime.stager_client.protocol import Refused
from pegasus_bb.runtime.staging.digests import SHA256
from pegasus_bb.runtime.staging.failures import CopyFailed
from pegasus_bb.runtime.staging.hints import NO_HINT
from pegasus_bb.runtime.staging.items import Folder
from pegasus_bb.runtime.staging.moves import Tell
from pegasus_bb.runtime.staging.onefile import Changed, copy_into
from pegasus_bb.runtime.staging.parts import part_of
from pegasus_bb.runtime.staging.writing import Writing

SPACE = "fd"  # as if it were a dataspace
MOST = 16  # descriptors of a request
_URL = re.compile(r"fd://([0-9]{1,2})", re.ASCII)
_GET_SEALS = 1034  # linux/fcntl.h: F_GET_SEALS; only memory has seals
_SHARED_MEMORY = "/dev/shm"  # noqa: S108 - the system's own
_MODE = 0o600


def number_of(source: str) -> int:
    """Which descriptor ``source`` means; -1 where it is a place."""
    match = _URL.fullmatch(source) if source.startswith("fd://") else None
    return int(match[1]) if match else -1


def check_readable(descriptor: int, only_memory: bool) -> None:
    """Never waits, whatever file system it is of. Raises Refused."""
    flags = fcntl.fcntl(descriptor, fcntl.F_GETFL)
    if flags & os.O_ACCMODE == os.O_WRONLY or flags & getattr(os, "O_PATH", 0):
        raise Refused("bad-descriptor", "a descriptor is open for reading")
    if only_memory and not is_memory(descriptor):
        why = "this service takes descriptors of memory only; say a file by its name"
        raise Refused("bad-descriptor", why)


def is_memory(descriptor: int) -> bool:
    """Never waits, either."""
    try:
        fcntl.fcntl(descriptor, _GET_SEALS)
    except OSError:
        return False
    return True


def copy_memory(
    handle: int, dest: Folder, name: str, tag: str, tell: Tell, hint: int = NO_HINT
) -> int:
    """Copy the whole open file to ``name``, of mode 0600; its bytes. ``hint``: how long
    they will live (hints.py).

    Raises OSError, CopyFailed; what was at ``name`` is then still there.
    """
    before = os.fstat(handle)
    if not stat.S_ISREG(before.st_mode):
        raise CopyFailed("the descriptor is neither of memory nor of a file")
    part = part_of(name, tag)
    try:
        how = Writing(hint=hint)
        poured = copy_into(
            handle, before, part, digest=SHA256, folder=dest.fd, tell=tell, writing=how
        )
    except Changed as error:
        raise CopyFailed(f"it changed while it was copied ({error})") from error
    keep_mode(f"/proc/self/fd/{dest.fd}/{part}", _MODE, dest.at(name))  # it has 0777
    os.rename(part, name, src_dir_fd=dest.fd, dst_dir_fd=dest.fd)
    sync_folder(dest.fd)
    return poured.size


def memory_of(data: bytes) -> int:
    """A new descriptor of memory that holds ``data``. Raises OSError."""
    if hasattr(os, "memfd_create"):
        handle = os.memfd_create("pegasus-bb", os.MFD_CLOEXEC)
    else:  # Python 3.9
        with tempfile.TemporaryFile(dir=_SHARED_MEMORY) as file:
            handle = os.dup(file.fileno())
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]
    return handle


def send_descriptors(sock: socket.socket, data: bytes, handles: Sequence[int]) -> int:
    """Send ``data`` with ``handles``; how many of its bytes went. Raises OSError."""
    rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", handles))
    return sock.sendmsg([data], [rights] if handles else [])


def receive_descriptors(sock: socket.socket, size: int, found: list[int]) -> bytes:
    """Up to ``size`` bytes; what came with them is added to ``found``. Raises OSError.

    The kernel closes what is above ``MOST``.
    """
    space = socket.CMSG_SPACE(MOST * array.array("i").itemsize)
    flags = getattr(socket, "MSG_CMSG_CLOEXEC", 0)
    data, control, _, _ = sock.recvmsg(size, space, flags)
    for level, kind, payload in control:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            came = array.array("i")
            came.frombytes(payload[: len(payload) - len(payload) % came.itemsize])
            found += came
    return data


class Inbox:
    """A worker's end: the descriptors of its tasks, sent before the tasks."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock

    def take(self, task: int) -> int:
        """The descriptor of ``task``, which the caller closes. Those that came before
        it are of tasks that were cancelled before they began. Raises OSError."""
        while True:
            found: list[int] = []
            text = receive_descriptors(self._sock, 32, found)
            if len(found) != 1:
                raise OSError("the descriptor did not come")
            if int(text) == task:
                return found[0]
            os.close(found[0])
