"""One process that writes and reads: started by own.py, as a program of its own.

It is told and answers in lines of JSON, on its standard files: an order, after which it
is ready; when to begin; then it says when it began and ended. All that start at one
moment, on one machine, have one clock. It ends where nobody talks to it any more.
"""

from __future__ import annotations

import errno
import json
import mmap
import os
import sys
import time
from collections.abc import Iterator
from typing import Any


class Late(Exception):
    """The time for measuring is up."""


def main() -> None:
    data = mmap.mmap(-1, mmap.PAGESIZE)
    for line in iter(sys.stdin.buffer.readline, b""):
        order = json.loads(line)
        if len(data) != order["transfer"]:
            data = _noise(order["transfer"])
        _say({})
        told = sys.stdin.buffer.readline()
        if told:
            _say(done(order, data, json.loads(told)["begin"]))


def _noise(size: int) -> mmap.mmap:
    """Whole pages, as direct I/O wants them, that nothing on the way can compress."""
    data = mmap.mmap(-1, size)
    data[:] = os.urandom(size)
    return data


def done(order: dict[str, Any], data: mmap.mmap, begin: float) -> dict[str, Any]:
    """Do what is ordered, from ``begin`` on, and say when that was; or what failed."""
    time.sleep(max(0.0, begin - time.monotonic()))
    began = time.monotonic()
    try:
        (_write if order["do"] == "write" else _read)(order, data)
    except Late:
        return {"late": True}
    except OSError as error:
        return {"failed": f"{order['do']} {order['path']}: {error.strerror}"}
    return {"began": began, "ended": time.monotonic()}


def _write(order: dict[str, Any], data: mmap.mmap) -> None:
    handle = _open(order, os.O_WRONLY | os.O_CREAT)
    try:
        for at, size in _pieces(order):
            while size:  # a file system that gets full takes a part, then says so
                taken = os.pwrite(handle, memoryview(data)[:size], at)
                at, size = at + taken, size - taken
        if order["fsync"]:
            os.fsync(handle)
    finally:
        os.close(handle)


def _read(order: dict[str, Any], data: mmap.mmap) -> None:
    handle = _open(order, os.O_RDONLY)
    try:
        for at, size in _pieces(order):
            while size:
                got = os.preadv(handle, [memoryview(data)[:size]], at)
                if not got:
                    raise OSError(errno.EIO, f"ends at {at}, before what was written")
                at, size = at + got, size - got
    finally:
        os.close(handle)


def _open(order: dict[str, Any], flags: int) -> int:
    direct = os.O_DIRECT if order["direct"] else 0
    return os.open(order["path"], flags | direct, 0o600)


def _pieces(order: dict[str, Any]) -> Iterator[tuple[int, int]]:
    """Offset and size of each call, until it is too late for any more."""
    at, end = order["offset"], order["offset"] + order["block"]
    while at < end:
        if time.monotonic() > order["until"]:
            raise Late
        size = min(order["transfer"], end - at)
        yield at, size
        at += size


def _say(answer: dict[str, Any]) -> None:
    sys.stdout.buffer.write(json.dumps(answer).encode() + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    try:
        main()
    except (BrokenPipeError, ConnectionResetError):
        os._exit(1)  # who has started it is gone
