"""A part of a planning is done in a worker, or here, with one result."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

# A process of pytest-xdist has threads, and so no worker.
PYTHON = (sys.executable, "-W", "error")
ASK = """\
import os, sys
from pegasus_bb.planner.fork_worker import in_worker

mine, how = os.getpid(), sys.argv[1]

def work():
    if os.getpid() != mine:
        if how == "killed":
            os.kill(os.getpid(), 9)
        if how == "failed":
            raise ValueError("there alone")
    return ["a result", os.getpid()]

with in_worker(work, with_worker=True) as result:
    if how == "interrupted":
        raise KeyboardInterrupt
    text, process = result()
assert text == "a result"
print("here" if process == mine else "there")
"""
two_processors = pytest.mark.skipif(
    len(os.sched_getaffinity(0)) < 2, reason="no worker on one processor"
)


def ask(how: str, status: int = 0) -> str:
    argv = [*PYTHON, "-c", ASK, how]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=120)
    assert done.returncode == status, done.stderr
    return done.stdout.strip()


@two_processors
def test_a_worker_does_the_work() -> None:
    assert ask("well") == "there"


@pytest.mark.parametrize("how", ["killed", "failed"])
def test_what_a_worker_could_not_do_is_done_here(how: str) -> None:
    assert ask(how) == "here"


def test_an_interrupted_planning_waits_for_no_worker() -> None:
    assert ask("interrupted", status=-2) == ""
