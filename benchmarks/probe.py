"""A competing program: it reads or writes a block of a file on the target every 50 ms.

python -m benchmarks.probe read|write FILE LOG

O_DIRECT, else without the page cache, so that the latency is the disk's. It ends on
SIGTERM. `pegasus-bb report --probe LOG` shows what it saw.
"""

from __future__ import annotations

import json
import mmap
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

BLOCK = 4096
BLOCKS = 4096
PAUSE = 0.05  # seconds
ROOT = Path(__file__).parents[1]


def make(file: Path) -> None:
    """A file to read, on the disk and not in memory."""
    with file.open("wb") as out:
        out.write(os.urandom(BLOCK * BLOCKS))
        out.flush()
        os.fsync(out.fileno())


@contextmanager
def probing(op: str, file: Path, log: Path) -> Iterator[None]:
    """A probe of ``file`` is at work meanwhile; both are full paths."""
    make(file)
    words = [sys.executable, "-m", "benchmarks.probe", op, str(file), str(log)]
    with running(words):
        yield


@contextmanager
def running(words: Sequence[str]) -> Iterator[None]:
    """The program is at work meanwhile."""
    process = subprocess.Popen(words, cwd=ROOT)
    try:
        yield
    finally:
        process.terminate()
        process.wait()


def main(op: str, file: str, log: str) -> None:
    # O_DIRECT wants whole pages
    handle = _opened(file)
    buffer = mmap.mmap(-1, BLOCK)
    blocks = random.Random(1)
    with Path(log).open("a", buffering=1) as out:
        while True:
            offset = blocks.randrange(BLOCKS) * BLOCK
            begun = time.time()
            since = time.monotonic()
            if op == "read":
                os.posix_fadvise(handle, offset, BLOCK, os.POSIX_FADV_DONTNEED)
                os.preadv(handle, [buffer], offset)
            else:
                os.pwritev(handle, [buffer], offset)
                os.fdatasync(handle)
            latency = round(time.monotonic() - since, 6)
            out.write(json.dumps({"time": begun, "op": op, "latency": latency}) + "\n")
            time.sleep(PAUSE)


def _opened(file: str) -> int:
    try:
        return os.open(file, os.O_RDWR | os.O_DIRECT)
    except OSError:  # a file system in memory
        return os.open(file, os.O_RDWR)


if __name__ == "__main__":
    main(*sys.argv[1:4])
