"""A program of the run is forked, and its job cannot tell that from a fresh start."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.run.engine import forked_jobs
from pegasus_bb.run.engine.children import Child, Children
from pegasus_bb.run.engine.processes import Processes, end_left_over
from pegasus_bb.runtime.install import install_runtime
from tests.support.waiting import until

SEEN = """
import json, os, resource, signal, sys
def target(fd):
    try:
        return os.readlink(f"/proc/self/fd/{fd}")
    except OSError:
        return "itself"
print(json.dumps({
    "argv": sys.argv[1:], "cwd": os.getcwd(), "stdin": sys.stdin.read(),
    "environ": dict(os.environ), "leads": os.getsid(0) == os.getpgrp() == os.getppid(),
    "descriptors": {fd: target(fd) for fd in sorted(os.listdir("/proc/self/fd"))},
    "signals": [str(signal.getsignal(n)) for n in range(1, 32) if n not in (9, 19)],
    "masked": sorted(signal.pthread_sigmask(signal.SIG_BLOCK, [])),
    "umask": os.umask(0), "nice": os.nice(0), "files": resource.getrlimit(7),
}))
print("to stderr", file=sys.stderr)
"""


class Site:
    """A bb folder with programs, and an engine that starts them."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.bin = root / "bb" / "bin"
        install_runtime(str(root / "bb"), sys.executable)
        self.notes = root / "engine.jsonl"
        self.processes = Processes(self.notes)
        self.children = Children(self.processes, self.bin)
        (root / "in").write_text("given")

    def start(self, name: str, *argv: str, **env: str) -> Child:
        child = Child(None, "job", f"{self.root}#{name}")
        files = [
            os.open(self.root / "in", os.O_RDONLY),
            os.open(self.root / f"{name}.out", os.O_RDWR | os.O_CREAT),
            os.open(self.root / f"{name}.err", os.O_RDWR | os.O_CREAT),
        ]
        environ = {**os.environ, "JOB": "a \udcff job", **env}
        environ.pop("SLURM_JOB_ID", None)
        argv = (str(self.bin / "launch"), *argv)
        self.children.start(
            child, list(argv), str(self.root), environ, (files[0], files[1], files[2])
        )
        for handle in files:
            os.close(handle)
        return child

    def python(self, name: str, code: str, **env: str) -> Child:
        return self.start(name, sys.executable, "-c", code, "1 2", "", **env)

    def recorded(self, name: str, program: str) -> Child:
        record = str(self.bin / "record")
        return self.start(name, record, "-i", "-", str(self.bin / program))

    def count_starts(self) -> None:
        python = self.root / "python"
        note = f"echo >> {self.root}/starts"
        python.write_text(f'#!/bin/sh\n{note}\nexec {sys.executable} "$@"')
        python.chmod(0o755)
        install_runtime(str(self.root / "bb"), str(python))

    @property
    def starts(self) -> int:
        """How often a program of the run was a new Python."""
        return len((self.root / "starts").read_text().splitlines())

    def end(self) -> list[int]:
        """Statuses of all jobs, in the order of their ends."""
        statuses = []
        while self.children:
            statuses += [status for _, status in self.children.wait(10)]
        return statuses

    def seen(self, name: str) -> Any:
        return json.loads((self.root / f"{name}.out").read_text())


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    site = Site(tmp_path)
    yield site
    site.children.stop(1.0, lambda: False)
    site.children.close()


def is_forked(child: Child) -> bool:
    return isinstance(child.running, forked_jobs.Forked)


def test_a_job_sees_what_it_sees_when_it_is_started_afresh(site: Site) -> None:
    forked = site.python("forked", SEEN)
    fresh = site.python("fresh", SEEN, TZ="Europe/Berlin")  # read at Python's start
    assert site.end() == [0, 0]
    assert (is_forked(forked), is_forked(fresh)) == (True, False)
    here, there = site.seen("forked"), site.seen("fresh")
    assert here["leads"] and here["stdin"] == "given" and here["argv"] == ["1 2", ""]
    assert here["environ"].pop("_PEGASUS_BB_NODE").endswith("#forked")
    assert there["environ"].pop("_PEGASUS_BB_NODE").endswith("#fresh")
    assert there["environ"].pop("TZ") == "Europe/Berlin"
    assert set(here["descriptors"]) == set(there["descriptors"])
    for name in ("1", "2"):
        assert here["descriptors"].pop(name).startswith(str(site.root / "forked"))
        assert there["descriptors"].pop(name).startswith(str(site.root / "fresh"))
    assert here == there
    assert (site.root / "forked.err").read_text() == "to stderr\n"


def test_how_it_ends_is_told_as_for_any_child(site: Site) -> None:
    children = [
        site.python("well", "pass"),
        site.python("failed", "import sys; sys.exit(3)"),
        site.python("killed", "import os, signal; os.kill(os.getppid(), 9)"),
        site.start("none", "/no/such/program"),
    ]
    assert all(map(is_forked, children))
    assert sorted(site.end()) == [-signal.SIGKILL, 0, 3, 127]
    assert "/no/such/program" in (site.root / "none.err").read_text()


def test_the_task_of_a_killed_job_is_ended(site: Site) -> None:
    kill = "import os, time; print(os.getpid(), flush=True); os.kill(os.getppid(), 9)"
    site.python("killed", f"{kill}; time.sleep(60)")
    assert site.end() == [-signal.SIGKILL]
    pid = (site.root / "killed.out").read_text().strip()
    until(lambda: not Path(f"/proc/{pid}").exists())


def test_a_recorded_program_of_ours_is_a_fork_too(site: Site) -> None:
    site.count_starts()
    site.recorded("staging", "transfer")
    assert site.end() == [2]
    assert site.starts == 1, "the server's own"
    record = (site.root / "staging.out").read_text()
    assert "regular_exitcode: 2" in record
    assert "the job list on stdin is not JSON" in record


def test_what_a_user_put_in_the_place_of_a_recorded_program_runs(site: Site) -> None:
    (site.bin / "transfer").write_text("#!/bin/sh\necho the user\n")
    site.recorded("staging", "transfer")
    assert site.end() == [0]
    assert "the user" in (site.root / "staging.out").read_text()


def test_a_program_that_was_edited_is_started_afresh(site: Site) -> None:
    assert is_forked(site.python("before", "pass"))
    text = (site.bin / "launch").read_text()
    (site.bin / "launch").write_text(text.replace("import os, sys", "import sys, os"))
    assert not is_forked(site.python("after", "pass"))
    assert site.end() == [0, 0]


@pytest.mark.parametrize("what", ["no server", "a server that cannot start", "large"])
def test_without_a_server_jobs_are_started_afresh(site: Site, what: str) -> None:
    large = {}
    if what == "no server":  # a plan of before
        (site.bin / "fork_server").unlink()
    elif what == "large":
        large = {"LIST": "x" * 120_000}
    else:
        for program in site.bin.iterdir():
            first, rest = program.read_text().split("\n", 1)
            program.write_text(f"{first}\nimport sys\n{rest}")
        (site.bin / "fork_server").chmod(0o644)
    assert not is_forked(site.python("one", "pass", **large))
    assert not is_forked(site.python("two", "pass", **large))
    assert site.end() == [0, 0]


def test_a_server_that_is_killed_takes_its_jobs_along(site: Site) -> None:
    site.python("long", "import time; print('here', flush=True); time.sleep(60)")
    until((site.root / "long.out").read_text)
    (server,) = (e for e in map(json.loads, site.notes.open()) if is_server(e))
    os.kill(server["pid"], signal.SIGKILL)
    assert site.end() == [-signal.SIGKILL]
    assert not is_forked(site.python("next", "pass"))
    assert site.end() == [0]


def is_server(entry: dict[str, Any]) -> bool:
    return "pid" in entry and entry["mark"].endswith("/fork_server")


def test_jobs_of_an_engine_that_was_killed_are_found(site: Site) -> None:
    """Also one that was forked before its PID was noted: it has the server's mark."""
    site.start("first", "/bin/sleep", "60")
    lines = site.notes.read_text().splitlines(keepends=True)
    site.notes.write_text("".join(line for line in lines if '"mark"' not in line))
    end_left_over(site.notes)
    assert site.end() == [-signal.SIGKILL]
