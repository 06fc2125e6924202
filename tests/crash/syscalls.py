"""Which system calls change what is on a disk, and what each of them touches.

The numbers of the two machines that we know; the kernel tells the arguments in the same
way on each (PTRACE_GET_SYSCALL_INFO).
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

FICLONE, FICLONERANGE = 0x40049409, 0x4020940D
_AT_FDCWD = -100

ReadText = Callable[[int], str]  # the text at an address of the program


class Kind(NamedTuple):
    """A system call that can change state.

    ``touches`` has a letter per argument: f a descriptor, d a folder's descriptor whose
    path follows, p a path, - something else.
    """

    name: str
    x86_64: int | None
    aarch64: int | None
    touches: str


KINDS = [
    Kind("write", 1, 64, "f"),
    Kind("writev", 20, 66, "f"),
    Kind("pwrite64", 18, 68, "f"),
    Kind("pwritev", 296, 70, "f"),
    Kind("pwritev2", 328, 287, "f"),
    Kind("sendfile", 40, 71, "f"),
    Kind("splice", 275, 76, "--f"),
    Kind("copy_file_range", 326, 285, "--f"),
    Kind("ioctl", 16, 29, "f"),
    Kind("truncate", 76, 45, "p"),
    Kind("ftruncate", 77, 46, "f"),
    Kind("fallocate", 285, 47, "f"),
    Kind("open", 2, None, "p"),
    Kind("creat", 85, None, "p"),
    Kind("openat", 257, 56, "dp"),
    Kind("openat2", 437, 437, "dp"),
    Kind("mknod", 133, None, "p"),
    Kind("mknodat", 259, 33, "dp"),
    Kind("mkdir", 83, None, "p"),
    Kind("mkdirat", 258, 34, "dp"),
    Kind("rmdir", 84, None, "p"),
    Kind("unlink", 87, None, "p"),
    Kind("unlinkat", 263, 35, "dp"),
    Kind("rename", 82, None, "pp"),
    Kind("renameat", 264, 38, "dpdp"),
    Kind("renameat2", 316, 276, "dpdp"),
    Kind("link", 86, None, "pp"),
    Kind("linkat", 265, 37, "dpdp"),
    Kind("symlink", 88, None, "-p"),
    Kind("symlinkat", 266, 36, "-dp"),
    Kind("chmod", 90, None, "p"),
    Kind("fchmod", 91, 52, "f"),
    Kind("fchmodat", 268, 53, "dp"),
    Kind("fchmodat2", 452, 452, "dp"),
    Kind("chown", 92, None, "p"),
    Kind("lchown", 94, None, "p"),
    Kind("fchown", 93, 55, "f"),
    Kind("fchownat", 260, 54, "dp"),
    Kind("utime", 132, None, "p"),
    Kind("utimes", 235, None, "p"),
    Kind("futimesat", 261, None, "dp"),
    Kind("utimensat", 280, 88, "dp"),
    Kind("setxattr", 188, 5, "p"),
    Kind("lsetxattr", 189, 6, "p"),
    Kind("fsetxattr", 190, 7, "f"),
    Kind("fsync", 74, 82, "f"),
    Kind("fdatasync", 75, 83, "f"),
    Kind("syncfs", 306, 267, "f"),
    Kind("execve", 59, 221, "p"),
    Kind("execveat", 322, 281, "dp"),
]


def numbered(machine: str = "") -> dict[int, Kind]:
    """Number -> system call on this kind of machine; empty where we do not know it."""
    machine = machine or platform.machine()
    if machine not in Kind._fields:
        return {}
    found = ((getattr(kind, machine), kind) for kind in KINDS)
    return {number: kind for number, kind in found if number is not None}


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
