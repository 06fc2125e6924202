"""A task's stdin, stdout and stderr, and what its record says about them."""

from __future__ import annotations

import errno
import os

from pegasus_bb.core.light_typing import TYPE_CHECKING
from pegasus_bb.runtime.records.kickstart_options import Options
from pegasus_bb.runtime.records.yaml import Data, Verbatim, as_text

if TYPE_CHECKING:
    from typing import Any

    Facts = dict[Any, Any]


TAIL = 256 * 1024  # bytes of a task's output that its record keeps
# In the environment, where TMPDIR is a disk that the task may fill: what it was before.
NODE_TEMP = "PEGASUS_BB_NODE_TEMP"
_ROOM = 4096  # bytes that a folder for temporary files must have
_NAMES = ("stdin", "stdout", "stderr")


def temporary(kind: str, environ: dict[str, str]) -> tuple[int, str]:
    """An open file that has no name any more, and the name that it had.

    Raises OSError if no folder for temporary files takes one.
    """
    handle, name = named_temporary(kind, environ)
    os.unlink(name)
    return handle, name


def named_temporary(kind: str, environ: dict[str, str]) -> tuple[int, str]:
    failure: OSError = FileNotFoundError(2, "no folder for temporary files")
    own = environ.get(NODE_TEMP) or environ.get("TMPDIR") or "/tmp"  # noqa: S108
    for folder in (own, "/tmp", "/var/tmp"):  # noqa: S108
        name = os.path.join(folder, f"ks.{kind}.{os.getpid()}.{os.urandom(4).hex()}")
        try:
            flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
            handle = os.open(name, flags, 0o600)
        except OSError as error:
            failure = error
            continue
        try:
            _check_room(handle)
        except OSError as error:
            failure = OSError(error.errno, error.strerror, folder)
            os.close(handle)
            os.unlink(name)
            continue
        return handle, name
    raise failure


def _check_room(handle: int) -> None:
    """Raises OSError on a full disk: it takes new names, but no output."""
    if os.write(handle, bytes(_ROOM)) < _ROOM:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    os.lseek(handle, 0, os.SEEK_SET)
    os.ftruncate(handle, 0)


class Streams:
    """The streams of one task. ``-`` is our own stream, a name is a file."""

    def __init__(self, options: Options, environ: dict[str, str]) -> None:
        """Raises OSError if a named file cannot be opened."""
        self._options = options
        self._temporary = [False] * 3
        self.numbers: list[int] = [0, 1, 2]
        stdin = options.value("stdin")
        if stdin != "-":
            self.numbers[0] = os.open(stdin or os.devnull, os.O_RDONLY | os.O_CLOEXEC)
        for number, kind in ((1, "out"), (2, "err")):
            self._open_output(number, kind, environ)

    def _open_output(self, number: int, kind: str, environ: dict[str, str]) -> None:
        where = self._options.value(_NAMES[number])
        if where == "-":
            return
        if where:
            appends = where[:2].count("!") > 0
            flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC
            flags |= os.O_APPEND if appends else os.O_TRUNC
            self.numbers[number] = os.open(where.lstrip("!^"), flags, 0o666)
        else:
            self.numbers[number], _ = temporary(kind, environ)
            self._temporary[number] = True

    def say(self, text: str) -> None:
        """Add a line to the task's stderr, for the reader of the record."""
        os.write(self.numbers[2], text.encode("utf-8", "surrogateescape") + b"\n")

    def facts(self, *, with_data: bool, tail: int) -> Facts:
        """What the record says of them, with the last ``tail`` bytes of the outputs."""
        return {
            name: self._facts_of(number, name, tail if with_data else 0)
            for number, name in enumerate(_NAMES)
        }

    def _facts_of(self, number: int, name: str, tail: int) -> Facts:
        handle = self.numbers[number]
        where = self._options.value(name)
        if number == 0 and where != "-":
            return file_facts(where or os.devnull)
        try:
            size = os.fstat(handle).st_size
        except OSError as error:
            return {"error": error.errno}
        data = _data(handle, size, tail) if self._temporary[number] else {}
        return {"size": size, **data}


def file_facts(path: str) -> Facts:
    """A file under its real name; ``error`` holds the errno if it is not there."""
    real = os.path.realpath(path)
    try:
        return {"file_name": real, "size": os.stat(path).st_size}
    except OSError as error:
        return {"error": error.errno, "file_name": real}


def _data(handle: int, size: int, tail: int) -> Facts:
    """The end of a task's output; a character that the cut split is left out."""
    if not size or not tail:
        return {}
    data = os.pread(handle, tail, max(0, size - tail))
    if size > tail:
        skip = next((i for i, byte in enumerate(data[:4]) if byte & 0xC0 != 0x80), 0)
        data = data[skip:]
    truncated = "true" if size > tail else "false"
    return {"data_truncated": Verbatim(truncated), "data": Data(as_text(data))}
