"""A file system that takes so many bytes per second, and tells how many it took when.

As root, with cgroups that throttle (cgroups.py): a loop device in memory whose writes
the kernel throttles, beneath a second one, which has one queue for reads and writes. So
a reader waits behind writers, as at a disk. Rescheduled: beneath.py.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from pathlib import Path

from benchmarks.cgroups import throttling, version
from pegasus_bb.report.drained import read_segments

MEMORY = Path("/dev/shm")
SIZE = 4 << 30  # bytes of the device; memory only as far as it is written
_OFTEN = 0.05  # seconds
Segment = tuple[float, float, int]  # from, until (epoch), bytes


class Throttled:
    """Where to write, how a Python module is started so that it is limited, and what
    came of it."""

    def __init__(self, folder: Path, how: str) -> None:
        self.folder, self.how = folder, how

    def module(self, name: str, *words: str) -> list[str]:
        return [sys.executable, "-m", name, *words]

    def written(self, since: float, until: float) -> list[Segment]:
        raise NotImplementedError


class Loop(Throttled):
    """Asks the kernel again and again how much the device has written."""

    def __init__(self, folder: Path, device: str) -> None:
        super().__init__(folder, f"a loop device, throttled by cgroup v{version()}")
        self._stat = Path("/sys/block", Path(device).name, "stat")
        self._seen: list[tuple[float, int]] = []
        self._stopped = threading.Event()
        threading.Thread(target=self._look, daemon=True).start()

    def _look(self) -> None:
        while not self._stopped.wait(_OFTEN):
            sectors = int(self._stat.read_text().split()[6])
            self._seen.append((time.time(), sectors * 512))

    def stop(self) -> None:
        self._stopped.set()
        time.sleep(2 * _OFTEN)

    def written(self, since: float, until: float) -> list[Segment]:
        seen = [each for each in self._seen if since <= each[0] <= until]
        return [
            (since, until, after - before)
            for (since, before), (until, after) in pairwise(seen)
            if after > before
        ]


class Beneath(Throttled):
    def __init__(self, folder: Path, log: Path, rate: int) -> None:
        super().__init__(folder, "a limiter beneath the mover, and beneath the reader")
        self._log, self._rate = log, rate

    def module(self, name: str, *words: str) -> list[str]:
        limited = (str(self._log), str(self._rate), name)
        return super().module("benchmarks.beneath", *limited, *words)

    def written(self, since: float, until: float) -> list[Segment]:
        segments = read_segments(self._log)
        return sorted(each for each in segments if since <= each[0] <= until)


@contextmanager
def throttled(
    root: Path, rate: int, *, beneath: bool = False, options: str = "noatime"
) -> Iterator[Throttled]:
    """One that takes ``rate`` bytes per second; it is gone afterwards. ``beneath``: no
    device is wanted. ``options``: of its mount."""
    folder = root / "pfs"
    folder.mkdir()
    if os.geteuid() == 0 and version() and not beneath:
        with ExitStack() as stack:
            loop = Loop(folder, _mounted(stack, folder, rate, options))
            stack.callback(loop.stop)
            yield loop
    else:
        yield Beneath(folder, root / "device.jsonl", rate)


def _mounted(stack: ExitStack, folder: Path, rate: int, options: str) -> str:
    """The throttled device, beneath the one that is mounted at ``folder``."""
    image = MEMORY / f"throttled.{os.getpid()}"
    stack.callback(image.unlink)
    with image.open("wb") as file:
        file.truncate(SIZE)
    lower = _attached(stack, str(image))
    # Lazily, they would be written while something is measured.
    _run(["mkfs.ext4", "-q", "-E", "lazy_itable_init=0,lazy_journal_init=0", lower])
    number = Path("/sys/block", Path(lower).name, "dev").read_text().strip()
    stack.enter_context(throttling(number, rate))
    upper = _attached(stack, lower)
    _run(["mount", "-o", options, upper, str(folder)])
    stack.callback(_run, ["umount", str(folder)])
    return lower


def _attached(stack: ExitStack, what: str) -> str:
    device = _run(["losetup", "--find", "--show", what]).strip()
    stack.callback(_run, ["losetup", "--detach", device])
    return device


def _run(words: Sequence[str]) -> str:
    return subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True).stdout
