"""One process that writes and reads: built_in_engine.py starts it as a program.

Orders come and answers go as lines of JSON on the standard files: an order; "ready";
when to begin; when it began and ended. It ends when its input ends.
"""

from __future__ import annotations

import errno
import json
import os
import sys
import time
from collections.abc import Iterator
from typing import Any

_FILES = 2000  # small files that a folder has at once, if it is fast enough


def main() -> None:
    data = b""
    for line in iter(sys.stdin.buffer.readline, b""):
        order = json.loads(line)
        if len(data) != order["transfer"]:
            data = os.urandom(order["transfer"])  # nothing can compress it
        _answer({})
        begin = sys.stdin.buffer.readline()
        if begin:
            _answer(run(order, bytearray(data), json.loads(begin)["begin"]))


def run(order: dict[str, Any], data: bytearray, begin: float) -> dict[str, Any]:
    """Write or read from ``begin`` on; say when that was, or what failed."""
    time.sleep(max(0.0, begin - time.monotonic()))
    began = time.monotonic()
    try:
        more = _DO[order["do"]](order, data)
    except OSError as error:
        return {"failed": f"{order['do']} {order['path']}: {error.strerror}"}
    return {"began": began, "ended": time.monotonic(), **more}


def _write(order: dict[str, Any], data: bytearray) -> dict[str, Any]:
    handle = os.open(order["path"], os.O_WRONLY | os.O_CREAT, 0o600)
    try:
        for at, size in _pieces(order):
            while size:  # a file system that gets full takes a part, then says so
                taken = os.pwrite(handle, memoryview(data)[:size], at)
                at = at + taken
                size = size - taken
        os.fsync(handle)
    finally:
        os.close(handle)
    return {}


def _read(order: dict[str, Any], data: bytearray) -> dict[str, Any]:
    handle = os.open(order["path"], os.O_RDONLY)
    try:
        for at, size in _pieces(order):
            while size:
                got = os.preadv(handle, [memoryview(data)[:size]], at)
                if not got:
                    raise OSError(errno.EIO, f"ends at {at}, before what was written")
                at = at + got
                size = size - got
    finally:
        os.close(handle)
    return {}


def _operate(order: dict[str, Any], data: bytearray) -> dict[str, Any]:
    """Run cycles of five operations for ``seconds``, and until the files are removed.

    A folder has many files at once, as those of tasks have: a file system may give the
    numbers of removed files to new ones fast, or not for some seconds (ext4).
    """
    os.mkdir(order["path"], 0o700)
    paths = [os.path.join(order["path"], str(number)) for number in range(_FILES)]
    until = time.monotonic() + order["seconds"]
    done = 0
    while not done or time.monotonic() < until:
        made = 0
        for path in paths:
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            try:
                os.write(handle, data)
            finally:
                os.close(handle)
            made += 1
            if time.monotonic() >= until:
                break
        for path in paths[:made]:
            os.stat(path)
        for path in paths[:made]:
            os.unlink(path)
        done += 5 * made
    return {"operations": done}


_DO = {"write": _write, "read": _read, "operate": _operate}


def _pieces(order: dict[str, Any]) -> Iterator[tuple[int, int]]:
    """Yield the offset and the size of each call."""
    for at in range(0, order["block"], order["transfer"]):
        yield at, min(order["transfer"], order["block"] - at)


def _answer(answer: dict[str, Any]) -> None:
    sys.stdout.buffer.write(json.dumps(answer).encode() + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    try:
        main()
    except (BrokenPipeError, ConnectionResetError):
        os._exit(1)  # the benchmark has ended
