"""kill -9 at every step: a child process ends before its n-th touch of the disk."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

# What a program does to the disk, as Python's audit events name it.
_TOUCHES = {
    "open",
    "os.mkdir",
    "os.rename",
    "os.remove",
    "os.rmdir",
    "os.chmod",
    "os.link",
    "os.truncate",
    "os.listdir",
    "os.scandir",
}
_KILLED = 137


def crash_at_every_step(
    tmp_path: Path, before: Callable[[Path], object], killed: Callable[[Path], object]
) -> Iterator[tuple[int, Path]]:
    """For n = 0, 1, ...: a fresh root in which ``killed`` died before its n-th touch.

    Ends when it came to its end unhurt; that it died at least thrice is asserted.
    """
    for step in count():
        root = tmp_path / f"crash{step}"
        before(root)
        child = os.fork()
        if child == 0:
            _end_before(step, lambda root=root: killed(root))
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if status == 0:
            assert step > 3, "nothing touched the disk: the test tests nothing"
            return
        assert status == _KILLED, "the child failed on its own"
        yield step, root


def _end_before(step: int, action: Callable[[], object]) -> None:
    left = iter(range(step))

    def touched(event: str, _: tuple[object, ...]) -> None:
        if event in _TOUCHES and next(left, None) is None:
            os._exit(_KILLED)

    sys.addaudithook(touched)
    try:
        action()
        os._exit(0)
    finally:
        os._exit(1)
