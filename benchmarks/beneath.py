"""A limiter beneath the mover, where no device can be throttled.

python -m benchmarks.beneath LOG RATE MODULE ARG...

MODULE runs as usual, but a sync takes as long as a device of RATE bytes per second
would, one at a time among all processes with the same LOG, which gets [from, until,
bytes]. A direct read waits for its turn as well.
"""

from __future__ import annotations

import fcntl
import json
import os
import runpy
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


class Device:
    def __init__(self, log: str, rate: float) -> None:
        self._log, self._rate = log, rate
        self._written: dict[tuple[int, int], int] = {}  # device, inode -> bytes

    @contextmanager
    def _turn(self) -> Iterator[int]:
        handle = os.open(self._log, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield handle
        finally:
            os.close(handle)

    def syncing(self, sync: Callable[[int], None]) -> Callable[[int], None]:
        def slow(handle: int) -> None:
            with self._turn() as log:
                begun = time.time()
                size = self._new_bytes(handle)
                sync(handle)
                time.sleep(max(0.0, begun + size / self._rate - time.time()))
                if size:
                    line = json.dumps([begun, time.time(), size])
                    os.write(log, f"{line}\n".encode())

        return slow

    def reading(self, read: Callable[..., int]) -> Callable[..., int]:
        def slow(*words: Any) -> int:
            with self._turn():
                return read(*words)

        return slow

    def _new_bytes(self, handle: int) -> int:
        found = os.fstat(handle)
        key = found.st_dev, found.st_ino
        before, self._written[key] = self._written.get(key, 0), found.st_size
        return max(0, found.st_size - before)


def main() -> None:
    log, rate, module, *words = sys.argv[1:]
    device = Device(log, float(rate))
    os.fsync, os.fdatasync = map(device.syncing, (os.fsync, os.fdatasync))
    if module == "benchmarks.probe":
        os.preadv = device.reading(os.preadv)
    sys.argv = [module, *words]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
