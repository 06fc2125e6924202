"""Whether this machine can have a testbed, and whose turn it is to use it."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

from pegasus_bb_testbed import testbed
from pegasus_bb_testbed.home import Home
from pegasus_bb_testbed.namespace import check_namespaces
from pegasus_bb_testbed.testbed import check_host, check_root

from pegasus_bb.core.errors import UsageError

_PATIENCE = 1200.0  # seconds for the tests of another run


def what_is_missing(home: Home) -> str:
    """Why there can be no testbed here; empty where there can."""
    try:
        check_root()
        check_host(home, install=False, say=print)
        check_namespaces()
    except UsageError as error:
        return str(error)
    return ""


def up(home: Home) -> bool:
    """As testbed.up; it goes down with this process, also where that is killed."""
    return testbed.up(home, print, life=_life())


@lru_cache
def _life() -> int:
    """The end of a pipe whose other end this process has, and no other."""
    return os.pipe()[0]


@contextmanager
def turn(home: Home) -> Iterator[None]:
    """One module at a time, other test runs on this machine included."""
    home.folder.mkdir(parents=True, exist_ok=True)
    until = time.monotonic() + _PATIENCE
    with (home.folder / "tests.lock").open("w") as lock:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                assert time.monotonic() < until, f"{lock.name} is held by others"
                time.sleep(0.5)
        yield
