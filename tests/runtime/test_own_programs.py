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

StatusOf = Callable[..., int]


@pytest.fixture
def status_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StatusOf:
    """The exit status of a forked program that calls what it is given."""
    monkeypatch.setattr(sys, "argv", [str(tmp_path / "record")])

    def run(main: Callable[[], int], name: str = "") -> int:
        module = SimpleNamespace(main=main)
        monkeypatch.setattr(own_programs, "load", lambda name: module)
        program = str(tmp_path / "transfer")
        argv = [name or program, "--threads", "2"]
        return OwnProgram(program, argv, {**os.environ, "JOB": "one"}).wait().status

    return run


def test_it_has_its_arguments_and_environment(
    status_of: StatusOf,
) -> None:
    assert status_of(lambda: len(sys.argv) + (os.environ["JOB"] == "one")) == 4


def test_it_is_interrupted_as_any_python(
    status_of: StatusOf,
) -> None:
    def raises() -> int:
        try:
            os.kill(os.getpid(), signal.SIGINT)
        except KeyboardInterrupt:
            return 5  # a transfer removes its temporary files then
        return 0

    assert status_of(raises) == 5


def test_an_interrupt_that_it_does_not_catch_is_its_end(status_of: StatusOf) -> None:
    assert status_of(lambda: os.kill(os.getpid(), signal.SIGINT) or 3) == 128 + 2


def test_one_that_is_found_on_the_path_knows_its_folder(
    status_of: StatusOf, tmp_path: Path
) -> None:
    beside = str(tmp_path / "transfer")
    assert status_of(lambda: int(sys.argv[0] != beside), name="transfer") == 0


def test_streams_that_its_parent_had_closed_are_its_own(
    status_of: StatusOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("stdin", "stdout", "stderr"):
        monkeypatch.setattr(sys, name, None)
    assert status_of(lambda: sys.stdout.fileno() + sys.stderr.fileno()) == 3


def test_an_exit_and_an_error_are_statuses(
    status_of: StatusOf,
) -> None:
    assert status_of(lambda: sys.exit(7)) == 7
    assert status_of(lambda: 1 // 0) == 1
