"""Which system calls change what is on a disk, and what each of them touches.

The numbers are those of x86_64; the kernel tells the arguments
(PTRACE_GET_SYSCALL_INFO).
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

FICLONE = 0x40049409
FICLONERANGE = 0x4020940D
_AT_FDCWD = -100

ReadText = Callable[[int], str]  # the text at an address of the program


class Kind(NamedTuple):
    """A system call that can change state.

    ``touches`` has a letter per argument: f a descriptor, d a folder's descriptor whose
    path follows, p a path, - something else.
    """

    name: str
    number: int  # on x86_64
    touches: str


KINDS = [
    Kind("write", 1, "f"),
    Kind("writev", 20, "f"),
    Kind("pwrite64", 18, "f"),
    Kind("pwritev", 296, "f"),
    Kind("pwritev2", 328, "f"),
    Kind("sendfile", 40, "f"),
    Kind("splice", 275, "--f"),
    Kind("copy_file_range", 326, "--f"),
    Kind("ioctl", 16, "f"),
    Kind("truncate", 76, "p"),
    Kind("ftruncate", 77, "f"),
    Kind("fallocate", 285, "f"),
    Kind("open", 2, "p"),
    Kind("creat", 85, "p"),
    Kind("openat", 257, "dp"),
    Kind("openat2", 437, "dp"),
    Kind("mknod", 133, "p"),
    Kind("mknodat", 259, "dp"),
    Kind("mkdir", 83, "p"),
    Kind("mkdirat", 258, "dp"),
    Kind("rmdir", 84, "p"),
    Kind("unlink", 87, "p"),
    Kind("unlinkat", 263, "dp"),
    Kind("rename", 82, "pp"),
    Kind("renameat", 264, "dpdp"),
    Kind("renameat2", 316, "dpdp"),
    Kind("link", 86, "pp"),
    Kind("linkat", 265, "dpdp"),
    Kind("symlink", 88, "-p"),
    Kind("symlinkat", 266, "-dp"),
    Kind("chmod", 90, "p"),
    Kind("fchmod", 91, "f"),
    Kind("fchmodat", 268, "dp"),
    Kind("fchmodat2", 452, "dp"),
    Kind("chown", 92, "p"),
    Kind("lchown", 94, "p"),
    Kind("fchown", 93, "f"),
    Kind("fchownat", 260, "dp"),
    Kind("utime", 132, "p"),
    Kind("utimes", 235, "p"),
    Kind("futimesat", 261, "dp"),
    Kind("utimensat", 280, "dp"),
    Kind("setxattr", 188, "p"),
    Kind("lsetxattr", 189, "p"),
    Kind("fsetxattr", 190, "f"),
    Kind("fsync", 74, "f"),
    Kind("fdatasync", 75, "f"),
    Kind("syncfs", 306, "f"),
    Kind("execve", 59, "p"),
    Kind("execveat", 322, "dp"),
]


def numbered() -> dict[int, Kind]:
    """Number -> system call; empty on a machine whose numbers we do not know."""
    known = platform.machine() == "x86_64"
    return {kind.number: kind for kind in KINDS} if known else {}


class Call(NamedTuple):
    """One system call that a program is about to make."""

    name: str
    paths: tuple[str, ...]  # full paths of what it touches

    def __str__(self) -> str:
        return f"{self.name}({' -> '.join(self.paths)})"


def decode(kind: Kind, args: Sequence[int], pid: int, text: ReadText) -> Call | None:
    """The call; None for one that changes nothing (a file opened to be read)."""
    if not _changes(kind, args, pid):
        return None
    return Call(kind.name, tuple(_paths(kind.touches, args, pid, text)))


def _changes(kind: Kind, args: Sequence[int], pid: int) -> bool:
    making = os.O_CREAT | os.O_TRUNC
    if kind.name == "open":
        return bool(args[1] & making)
    if kind.name == "openat":
        return bool(args[2] & making)
    if kind.name == "openat2":
        with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
            how = os.pread(memory.fileno(), 8, args[2])
        return bool(int.from_bytes(how, "little") & making)
    if kind.name == "ioctl":
        return args[1] in (FICLONE, FICLONERANGE)
    return True


def _paths(
    touches: str, args: Sequence[int], pid: int, text: ReadText
) -> Iterator[str]:
    folder = _AT_FDCWD
    for letter, arg in zip(touches, args):  # noqa: B905 - there are always six
        if letter == "f":
            yield _of_descriptor(pid, arg)
        elif letter == "d":
            folder = _signed(arg)
        elif letter == "p":
            path = text(arg) if arg else ""
            yield _full(pid, folder, path)
            folder = _AT_FDCWD


def _full(pid: int, folder: int, path: str) -> str:
    """The path without links on the way; what it names may be a link itself."""
    path = path.replace("/proc/self/", f"/proc/{pid}/", 1)
    if not path.startswith("/"):
        base = "cwd" if folder == _AT_FDCWD else f"fd/{folder}"
        try:
            path = os.path.join(os.readlink(f"/proc/{pid}/{base}"), path)
        except OSError:  # not a descriptor: the call will fail
            return path
    if path.startswith("/proc/"):
        return os.path.realpath(path)
    return os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))


def _of_descriptor(pid: int, number: int) -> str:
    try:
        return os.readlink(f"/proc/{pid}/fd/{_signed(number)}")
    except OSError:
        return ""


def _signed(number: int) -> int:
    number &= 0xFFFFFFFF
    return number - (1 << 32) if number >> 31 else number
