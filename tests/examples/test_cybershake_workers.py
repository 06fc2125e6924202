"""Processes of a CyberShake job end with it, and it does not outlive them."""

from __future__ import annotations

import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.support.waiting import until

BIN = Path(__file__).resolve().parents[2] / "examples" / "cybershake" / "bin"


def job(body: str) -> list[str]:
    """A job of two workers that both do this."""
    lines = f"""\
        import os, signal, sys, time
        sys.path.insert(0, {str(BIN)!r})
        from cybershake_workers import run_workers
        def task(number):
            {body}
        run_workers(2, task)
        """
    return [sys.executable, "-c", textwrap.dedent(lines)]


def run(body: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        job(body), capture_output=True, text=True, timeout=120, check=False
    )


def test_a_killed_worker_fails_the_job() -> None:
    """And ends the other worker, which would go on for a minute."""
    done = run("os.kill(os.getpid(), signal.SIGKILL) if number else time.sleep(60)")
    assert done.returncode == 1
    assert "a worker process failed (signal SIGKILL)" in done.stderr


def test_a_full_disk_fails_the_job_in_the_systems_own_words() -> None:
    done = run("os.write(os.open('/dev/full', os.O_WRONLY), b'x')")
    assert done.returncode == 1
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="PR_SET_PDEATHSIG is Linux's")
def test_a_killed_job_leaves_no_worker_behind() -> None:
    body = "os.write(1, b'%d\\n' % os.getpid()); time.sleep(60)"
    with subprocess.Popen(job(body), stdout=subprocess.PIPE, text=True) as started:
        assert started.stdout is not None
        workers = [int(started.stdout.readline()) for _ in range(2)]
        started.send_signal(signal.SIGKILL)
    until(lambda: not any(map(alive, workers)))


def alive(pid: int) -> bool:
    """Running: neither gone nor a zombie that waits for init to notice."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
