"""Two processes fill folders, each what the other has not begun."""

from __future__ import annotations

import _thread
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from pegasus_bb.planner.fork_worker import fork_worker
from tests.support.trees import contents

WANTED = {f"{n}/{k}.sub": f"{n} {k}".encode() for n in range(6) for k in range(3)}
# A process of pytest-xdist has threads, and so no worker. Newer Pythons warn if a fork
# could lose threads; here that is an error.
PYTHON = (sys.executable, "-W", "error")
FILL = """\
import os, sys, time
from pathlib import Path
from pegasus_bb.planner.fork_worker import fill_folders

mine, (root, how) = os.getpid(), sys.argv[1:]

def files(n):
    for k in range(3):
        if how == "killed" and n == 2 and k == 1 and os.getpid() != mine:
            os.kill(os.getpid(), 9)
        (Path(root).parent / f"by-{os.getpid()}").touch()
        while how == "interrupted" and os.getpid() != mine:
            time.sleep(1)
        yield f"{n}/{k}.sub", f"{n} {k}".encode()

def meanwhile():
    time.sleep(0.5)  # the worker takes all folders, or is at work on the first
    if how == "interrupted":
        raise KeyboardInterrupt

folders = {str(n): lambda n=n: files(n) for n in range(6)}
fill_folders(Path(root), folders, with_worker=True, meanwhile=meanwhile)
"""
DIE = """\
import os, signal, time
from pegasus_bb.planner.fork_worker import fork_worker

print(fork_worker(lambda: time.sleep(600)), flush=True)
time.sleep(0.5)
os.kill(os.getpid(), signal.SIGKILL)
"""
two_processors = pytest.mark.skipif(
    (os.cpu_count() or 1) < 2, reason="no worker on one processor"
)


def fill(root: Path, how: str) -> list[int]:
    """Fill ``root`` in a process of its own; the processes that took part."""
    root.mkdir()
    argv = [*PYTHON, "-c", FILL, root, how]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=120)
    assert done.returncode == (-2 if how == "interrupted" else 0), done.stderr
    return [int(path.name.partition("-")[2]) for path in root.parent.glob("by-*")]


def has_ended(process: int) -> bool:
    deadline = time.monotonic() + 60
    while Path("/proc", str(process)).exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    return not Path("/proc", str(process)).exists()


@two_processors
def test_what_a_killed_worker_had_begun_is_written_again(tmp_path: Path) -> None:
    fill(tmp_path / "root", "killed")
    assert contents(tmp_path / "root") == WANTED


@two_processors
def test_an_error_ends_the_worker(tmp_path: Path) -> None:
    (worker,) = fill(tmp_path / "root", "interrupted")
    assert has_ended(worker)


@two_processors
def test_a_worker_ends_with_a_killed_planning() -> None:
    done = subprocess.run([*PYTHON, "-c", DIE], stdout=subprocess.PIPE, timeout=120)
    assert int(done.stdout) > 0
    assert has_ended(int(done.stdout))


def test_with_a_thread_that_python_does_not_know_there_is_no_fork() -> None:
    over = threading.Event()
    _thread.start_new_thread(over.wait, (120,))
    assert fork_worker(lambda: None) == 0
    over.set()
