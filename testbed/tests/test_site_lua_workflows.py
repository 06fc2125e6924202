"""Workflows whose files the staging service moves: no processor waits for a copy."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import yaml
from pegasus_bb_testbed import lua, site
from pegasus_bb_testbed.home import Home
from pegasus_bb_testbed.namespace import inside

from testbed.tests.lua_site import ON_LUA, LuaSite
from testbed.tests.slurm_site import POOL
from testbed.tests.workflow_runner import SHOWN, UserCommands, WorkflowRunner
from tests.support.waiting import until

pytestmark = [pytest.mark.site, ON_LUA]
SOCKETS = "/run/pegasus-bb"
# bytes per second; how long a large file takes at that
RATE = 500_000
SECONDS = 60
LARGE = os.urandom(1 << 16) * (RATE * SECONDS >> 16)
_TASKS = (
    "import json; from pegasus_bb.runtime.stager_client.client import Client; "
    f"print(json.dumps(Client({SOCKETS!r}).status()))"
)


def name_service(runner: Any) -> None:
    """The tier of ``runner`` names the staging service."""
    file = runner.root / "work" / "sites.yml"
    sites = yaml.safe_load(file.read_text())
    sites["x-storage-tiers"]["cluster"][0]["service"] = SOCKETS
    file.write_text(yaml.safe_dump(sites))


def tasks(runner: UserCommands) -> list[dict[str, Any]]:
    """The user's tasks, as the service tells him."""
    done = runner.ask(sys.executable, "-c", _TASKS)
    assert done.status == 0, done.err
    found: list[dict[str, Any]] = json.loads(done.out)
    return found


class LargeRunner(WorkflowRunner):
    """Has one job; what it reads and writes takes long to copy."""

    def __init__(self, home: Home, mode: str, planner: str) -> None:
        super().__init__(home, f"large-{mode}", jobs=1, planner=planner)
        self.mode, self.space = mode, f"{mode}-{planner}"
        name_service(self)

    def write(self) -> None:
        (self.root / "inputs" / "in.txt").write_bytes(LARGE)
        super().write()

    def begin(self) -> None:
        capacity = ("--bb-capacity", "100MiB")
        self.planned("bb", "--bb-mode", self.mode, *capacity)
        self.running = self.start("bb")

    def end(self) -> None:
        """It has ended well, with the right result."""
        done = self.running.end()
        assert done.status == 0, done.err
        digest = hashlib.sha256(LARGE).hexdigest().encode()
        assert self.content("bb") == {"a.dat": digest + b"\n" + LARGE}


class LargeJob:
    """A job without Pegasus that copies as much."""

    def __init__(self, slurm: LuaSite) -> None:
        self.slurm, self.space = slurm, "plain"
        self.root = slurm.work / "plain"
        self.root.mkdir()
        self.root.chmod(0o777)
        (self.root / "in.dat").write_bytes(LARGE)

    def begin(self) -> None:
        lines = ("jobbb capacity=100MiB pool=flash",)
        places = ("stage_in plain://in.dat job://a", "stage_out job://b plain://out")
        copy = " cp $BB_JOB/a $BB_JOB/b"
        self.number = self.slurm.submit("wfuser", "large.sh", *lines, *places, copy)

    def end(self) -> None:
        self.slurm.completed(self.number)
        assert (self.root / "out").read_bytes() == LARGE


class Stories:
    """Each has a dataspace of its own, so none slows another one down."""

    def __init__(self, home: Home) -> None:
        self.slurm = LuaSite(home)
        self.job = LargeJob(self.slurm)
        self.transient = LargeRunner(home, "transient", "builtin")
        self.others = [LargeRunner(home, "persistent", "builtin")]
        if SHOWN is not None:
            self.others.append(LargeRunner(home, "persistent", "pegasus"))
        self.all = [self.job, self.transient, *self.others]
        self.names = {each.space for each in self.all}

    def pace(self, rate: int) -> None:
        """From now on a file moves so many bytes a second; 0: as fast as it can."""
        rates = {"rate": f"{rate}B/s"} if rate else {}
        spaces = {each.space: {"path": str(each.root), **rates} for each in self.all}
        self.slurm.configure(spaces)

    def begin(self) -> None:
        self.pace(0)
        self.transient.begin()
        here = f"{self.transient.space}://"
        until(lambda: self.has_come(here), 240)  # to the PFS, from where Slurm takes it
        self.slurm.control("pause")
        self.pace(RATE)
        self.job.begin()

    def has_come(self, space: str) -> bool:
        done = [task for task in tasks(self.transient) if task["state"] == "done"]
        return any(task["dest"].startswith(space) for task in done)

    def copying(self, way: str, *states: str) -> set[str]:
        """The stories with a large file on its way in or out, in one of ``states``."""
        found = set()
        for task in tasks(self.transient):
            fast = task["dest"]
            space = task["source"]
            if way == "out":
                fast, space = space, fast
            if fast.startswith(f"{lua.POOL}://") and task["state"] in states:
                found.add(space.partition("://")[0])
        return found & self.names

    def while_all_move(self, way: str) -> dict[int, int]:
        """How many processors were allocated, by the time of the look, about each
        second while bytes of all stories moved, before and after it."""
        of_slurm = {self.job.space, self.transient.space}
        until(lambda: self.copying(way, "running") >= of_slurm, 240)
        if way == "out":
            until(lambda: not self.copying("in", "running"), 240)
        self.slurm.control("pause")  # they stop where they are, until all are there
        if way == "in":
            for each in self.others:
                each.begin()
        until(lambda: self.copying(way, "pending", "running") == self.names, 400)
        until(lambda: self.slurm.busy_cpus() == 0)  # a job that cleans up may run yet
        self.slurm.control("resume")
        until(lambda: self.copying(way, "running") == self.names)
        with sampled(self.slurm) as samples:
            first = last = time.time()
            while self.copying(way, "running") == self.names:
                last = time.time()
        return {when: busy for when, busy in samples() if first <= when <= last}

    def end(self) -> None:
        self.pace(0)
        for each in self.all:
            each.end()
        until(lambda: self.slurm.left() == {"buffers": [], "kept": []})


@contextmanager
def sampled(slurm: LuaSite) -> Iterator[Callable[[], list[tuple[int, int]]]]:
    """Meanwhile Slurm is asked each second how many processors are allocated; what is
    given says when (seconds since the epoch) and what it said."""
    file = slurm.home.work / "allocated"
    flag = slurm.home.work / "looking"
    flag.touch()
    look = "while [ -e $0 ]; do echo $(date +%s) $(sinfo -h -o%C); sleep 0.9; done"
    with file.open("w") as out:
        argv = inside(slurm.home, ["sh", "-c", look, str(flag)])
        process = subprocess.Popen(argv, stdout=out)
    try:
        yield lambda: [
            (int(when), int(cpus.split("/")[0]))
            for when, cpus in (line.split() for line in file.read_text().splitlines())
        ]
    finally:
        flag.unlink()
        process.wait(timeout=60)


@pytest.fixture
def stories(home: Home, planners: None) -> Iterator[Stories]:
    yield Stories(home)
    site.forget_jobs(home, POOL)


def test_no_cpu_is_allocated_while_data_moves(stories: Stories) -> None:
    """Of a persistent and a transient reservation, and of a job without Pegasus."""
    stories.begin()
    for way in ("in", "out"):
        busy = stories.while_all_move(way)
        assert set(busy.values()) == {0}
        assert len(busy) >= 10
        assert max(busy) - min(busy) >= 15
    stories.end()
