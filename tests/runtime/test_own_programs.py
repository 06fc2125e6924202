"""A program of ours that is forked is as one that Python has just started."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from pegasus_bb.runtime import own_programs
from pegasus_bb.runtime.own_programs import OwnProgram


@pytest.fixture
def status_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[Callable[[], int]], int]:
    """The exit status of a forked program that calls what it is given."""
    monkeypatch.setattr(sys, "argv", [str(tmp_path / "record")])

    def run(main: Callable[[], int]) -> int:
        module = SimpleNamespace(main=main)
        monkeypatch.setattr(own_programs, "load", lambda name: module)
        argv = [str(tmp_path / "transfer"), "--threads", "2"]
        return OwnProgram(argv[0], argv, {**os.environ, "JOB": "one"}).wait().status

    return run


def test_it_has_its_arguments_and_environment(
    status_of: Callable[[Callable[[], int]], int],
) -> None:
    assert status_of(lambda: len(sys.argv) + (os.environ["JOB"] == "one")) == 4


def test_it_is_interrupted_as_any_python(
    status_of: Callable[[Callable[[], int]], int],
) -> None:
    def raises() -> int:
        try:
            os.kill(os.getpid(), signal.SIGINT)
        except KeyboardInterrupt:
            return 5  # a transfer removes its temporary files then
        return 0

    assert status_of(raises) == 5


def test_an_exit_and_an_error_are_statuses(
    status_of: Callable[[Callable[[], int]], int],
) -> None:
    assert status_of(lambda: sys.exit(7)) == 7
    assert status_of(lambda: 1 // 0) == 1
