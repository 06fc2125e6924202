"""A second process does its share, or this one does it all."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from pegasus_bb.beside import Beside


def test_what_a_second_process_found_comes_back() -> None:
    with Beside(lambda: {"by": os.getpid(), "jobs": ["a"] * 100_000}) as other:
        found = other.finish()
    assert found["jobs"] == ["a"] * 100_000
    assert (found["by"] != os.getpid()) == ((os.cpu_count() or 1) > 1)


def test_what_is_not_worth_a_process_is_done_here() -> None:
    with Beside(os.getpid, worth=False) as other:
        assert other.finish() == os.getpid()


def test_work_beside_is_done_here_where_that_process_dies(tmp_path: Path) -> None:
    parent, done = os.getpid(), []

    def work() -> None:
        if os.getpid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)
        done.append(1)

    with Beside(work, worth=True) as beside:
        beside.finish()
    assert done == [1]


def test_work_beside_ends_with_whoever_wanted_it(tmp_path: Path) -> None:
    def work() -> None:
        while True:
            (tmp_path / "still here").touch()

    beside = Beside(work, worth=True)
    with pytest.raises(KeyboardInterrupt), beside:
        if not beside._child:
            pytest.skip("one processor, or threads: nothing runs beside")
        raise KeyboardInterrupt
    with pytest.raises(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)
