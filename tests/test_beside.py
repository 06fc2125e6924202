"""A second process does its share, or this one does it all."""

from __future__ import annotations

import _thread
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from pegasus_bb.beside import Beside

SEVERAL = (os.cpu_count() or 1) > 1


def alone(tmp_path: Path, story: str) -> list[str]:
    """What ``story`` prints in a process with one thread, which pytest-xdist's are not.
    Newer Pythons warn where a fork could lose threads; here that is an error."""
    script = tmp_path / "story.py"
    script.write_text("import os\nfrom pegasus_bb.beside import Beside\n" + story)
    words = [sys.executable, "-W", "error", str(script)]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_what_a_second_process_found_comes_back(tmp_path: Path) -> None:
    story = """
with Beside(lambda: {"by": os.getpid(), "jobs": ["a"] * 100_000}) as other:
    found = other.finish()
print(len(found["jobs"]), found["by"] != os.getpid())
"""
    assert alone(tmp_path, story) == ["100000", str(SEVERAL)]


def test_what_is_not_worth_a_process_is_done_here(tmp_path: Path) -> None:
    story = """
with Beside(os.getpid, worth=False) as other:
    print(other.finish() == os.getpid())
"""
    assert alone(tmp_path, story) == ["True"]


def test_beside_a_thread_that_python_does_not_know_there_is_no_fork() -> None:
    over, begun = threading.Lock(), threading.Event()
    with over:
        _thread.start_new_thread(lambda: (begun.set(), over.acquire()), ())
        assert begun.wait(120)
        with Beside(os.getpid) as other:
            assert other.finish() == os.getpid()
    over.acquire(timeout=120)


def test_work_beside_is_done_here_where_that_process_dies(tmp_path: Path) -> None:
    story = """
import signal
parent, done = os.getpid(), []
def work():
    if os.getpid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)
    done.append(1)
with Beside(work) as beside:
    beside.finish()
print(done)
"""
    assert alone(tmp_path, story) == ["[1]"]


@pytest.mark.skipif(not SEVERAL, reason="one processor: nothing runs beside")
def test_work_beside_ends_with_whoever_wanted_it(tmp_path: Path) -> None:
    story = """
def work():
    while True:
        open("still here", "w").close()
try:
    with Beside(work) as beside:
        print(beside._child > 0)
        raise KeyboardInterrupt
except KeyboardInterrupt:
    pass
try:
    os.waitpid(-1, os.WNOHANG)
except ChildProcessError:
    print("nobody")
"""
    assert alone(tmp_path, story) == ["True", "nobody"]


def test_where_this_process_is_killed_the_other_ends_too(tmp_path: Path) -> None:
    story = """
import signal, time
begun = os.pipe()
def work():
    os.write(begun[1], b"%d" % os.getpid())
    time.sleep(600)
with Beside(work) as other:
    if other._child:
        print(os.read(begun[0], 20).decode(), flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
print(0)
"""
    script = tmp_path / "story.py"
    script.write_text("import os\nfrom pegasus_bb.beside import Beside\n" + story)
    done = subprocess.run([sys.executable, script], stdout=subprocess.PIPE, timeout=120)
    child = Path("/proc", done.stdout.decode().strip() or "0")
    deadline = time.monotonic() + 120
    while child.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not child.exists()
