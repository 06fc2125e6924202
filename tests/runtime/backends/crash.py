"""kill -9 at every step: a child process ends before its n-th touch of the disk."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
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
    for step in range(1000):
        root = tmp_path / f"crash{step}"
        before(root)
        if not _dies(lambda root=root: killed(root), step):
            assert step > 3, "nothing touched the disk: the test tests nothing"
            return
        yield step, root
    raise AssertionError("it never comes to an end")


def _dies(action: Callable[[], object], step: int) -> bool:
    child = os.fork()
    if child == 0:
        _die_before(step)
        try:
            action()
        except BaseException as error:
            print(repr(error), file=sys.stderr)
            os._exit(1)
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status in (0, _KILLED), f"the child failed on its own ({status})"
    return status == _KILLED


def _die_before(step: int) -> None:
    left = [step]

    def count(event: str, _: tuple[object, ...]) -> None:
        if event in _TOUCHES:
            left[0] -= 1
            if left[0] < 0:
                os._exit(_KILLED)

    sys.addaudithook(count)
