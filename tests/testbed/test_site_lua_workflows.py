"""Workflows whose files the staging service moves: no processor waits for a copy."""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import yaml

from pegasus_bb.testbed import lua
from pegasus_bb.testbed.home import Home
from tests.testbed.lua_site import ON_LUA, LuaSite
from tests.testbed.slurm_site import until
from tests.testbed.test_site_lua import MODES, Started
from tests.testbed.workflow_runner import (
    PLANNERS,
    ExampleRunner,
    UserCommands,
    WorkflowRunner,
)

pytestmark = [pytest.mark.site, ON_LUA]
SOCKETS = "/run/pegasus-bb"
RATE, SECONDS = 1_000_000, 32  # bytes per second; how long a large file takes at that
LARGE = os.urandom(1 << 16) * (RATE * SECONDS >> 16)
CONFIG = "etc/pegasus-bb/stager.json"
_TASKS = (
    "import json; from pegasus_bb.service.client import Client; "
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


class ServedExample(ExampleRunner):
    """Has one of examples/, on a tier with the service."""

    def __init__(self, home: Home, name: str, planner: str) -> None:
        super().__init__(home, name, planner)
        name_service(self)


@pytest.fixture(params=PLANNERS, scope="module")
def started(
    request: pytest.FixtureRequest, home: Home, planners: None
) -> Iterator[Started]:
    LuaSite(home)
    with ThreadPoolExecutor(16) as pool:
        yield Started(home, request.param, pool, ServedExample)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ExampleRunner.SMALL)
def test_results_are_those_of_a_run_on_the_pfs(
    started: Started, name: str, mode: str
) -> None:
    for each in ("off", mode):
        started.runs[name, each].result()
    example = started.examples[name]
    content = example.content(mode)
    assert content == example.content("off") != {}
    dests = {task["dest"].partition("://")[2] for task in tasks(example)}
    results = example.results(mode).relative_to(example.home.work)
    assert {f"{results}/{lfn}" for lfn in content} <= dests


def test_nothing_is_left(started: Started, home: Home) -> None:
    for run in started.runs.values():
        run.result()
    example = started.examples["cybershake"]
    states = {row["state"] for row in example.ls().values()}
    assert states <= {"released", "absent"}, states
    site = LuaSite.__new__(LuaSite)
    site.home, site.work = home, home.work
    until(lambda: site.left() == {"buffers": [], "kept": []})
    assert {task["state"] for task in tasks(example)} == {"done"}


class LargeRunner(WorkflowRunner):
    """Has one job; what it reads and writes takes long to copy."""

    def write(self) -> None:
        (self.root / "inputs" / "in.txt").write_bytes(LARGE)
        super().write()


@pytest.fixture
def slow(home: Home) -> Iterator[LuaSite]:
    """The service copies a large file in SECONDS."""
    file = home.root / CONFIG
    before = file.read_text()
    config = json.loads(before)
    config["dataspaces"]["work"]["rate"] = f"{RATE}B/s"
    site = LuaSite(home)
    file.write_text(json.dumps(config))
    site.kill(service=True, slurmctld=False)
    yield site
    file.write_text(before)
    site.kill(service=True, slurmctld=False)


@pytest.mark.parametrize("planner", PLANNERS)
def test_no_cpu_is_allocated_while_data_moves(
    slow: LuaSite, planners: None, planner: str
) -> None:
    runner = LargeRunner(slow.home, "large", jobs=1, planner=planner)
    name_service(runner)
    runner.planned("bb", "--bb-mode", "persistent", "--bb-capacity", "100MiB")
    run = runner.start("bb")
    seen: dict[str, list[int]] = {"in": [], "out": []}
    while run.process.poll() is None:
        before = moving(runner)
        busy = slow.busy_cpus()
        if before and before == moving(runner):
            seen[before].append(busy)
        time.sleep(1.0)
    done = run.end()
    assert done.status == 0, done.err
    digest = hashlib.sha256(LARGE).hexdigest().encode()
    assert runner.content("bb") == {"a.dat": digest + b"\n" + LARGE}
    assert {way: set(counts) for way, counts in seen.items()} == {"in": {0}, "out": {0}}
    assert all(len(counts) > SECONDS / 4 for counts in seen.values())
    until(lambda: slow.left() == {"buffers": [], "kept": []})


def moving(runner: UserCommands) -> str:
    """Whether the large file is on its way in or out now."""
    for task in tasks(runner):
        if task["state"] == "running" and task["size"] >= len(LARGE):
            return "out" if task["source"].startswith(f"{lua.POOL}://") else "in"
    return ""
