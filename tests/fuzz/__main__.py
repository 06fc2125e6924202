"""``python -m tests.fuzz [SECONDS]``: new damaged files for every reader, for so long.

Each reader in a process of its own, with 2 GiB of memory: a crash of a library and a
file that fills the memory are mistakes as well.
"""

from __future__ import annotations

import os
import resource
import sys
import time

from hypothesis import HealthCheck, Phase, given, seed, settings

from .mutate import damaged
from .probe import probe
from .targets import TARGETS, Target

_MEMORY = 2 << 30
_ROUND = 200  # inputs between two looks at the clock


def main(words: list[str]) -> int:
    """0: nothing was found; 1: something was, and is shown."""
    seconds = float(words[0]) if words else 120.0
    only = [t for t in TARGETS if not words[1:] or t.name in words[1:]]
    failed = [t.name for t in only if not _in_a_process(t, seconds / len(only))]
    print(f"{len(failed)} of {len(only)} readers failed: {', '.join(failed) or 'none'}")
    return 1 if failed else 0


def _in_a_process(target: Target, seconds: float) -> bool:
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
        try:
            _search(target, seconds)
        except BaseException:
            sys.excepthook(*sys.exc_info())
            os._exit(1)
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status:
        print(f"{target.name}: FAILED ({status})")
    return status == 0


def _search(target: Target, seconds: float) -> None:
    until = time.monotonic() + seconds
    tried = 0
    number = int.from_bytes(os.urandom(4))
    refused = 0
    while time.monotonic() < until:

        @seed(number)
        @settings(
            max_examples=_ROUND,
            derandomize=False,
            database=None,
            deadline=None,
            phases=[Phase.generate, Phase.shrink],
            suppress_health_check=list(HealthCheck),
        )
        @given(damaged(target.seeds))
        def try_it(data: bytes) -> None:
            nonlocal tried, refused
            tried += 1
            refused += probe(target, data) == "refused"

        try_it()
        number += 1
    print(f"{target.name}: {tried} files, {refused} refused")
    sys.stdout.flush()


sys.exit(main(sys.argv[1:]))
