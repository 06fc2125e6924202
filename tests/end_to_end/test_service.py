"""Both examples on a tier with a staging service, which moves every file of theirs."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from tests.stager.conftest import daemon
from tests.support.stager import Daemon
from tests.support.user_site import Site, done_well, expected

from .examples import SMALL, example_of, gives_what_it_gives_on_the_pfs

__all__ = ["daemon"]
MODES = ("persistent", "transient", "hybrid")
TRANSFERS = ("stage_in", "stage_out", "create_dir", "clean_up", "cleanup")


def moved(daemon: Daemon) -> set[str]:
    """Where the service has brought files to."""
    with daemon.connect() as client:
        tasks = client.status()
    assert {task["state"] for task in tasks} == {"done"}
    return {"/" + task["dest"].partition("://")[2] for task in tasks}


ONCE = ("cybershake", "hybrid")  # make test has it
EXAMPLES = [
    pytest.param(name, mode, marks=[] if (name, mode) == ONCE else [pytest.mark.sweep])
    for name in SMALL
    for mode in MODES
]


@pytest.mark.parametrize(("name", "mode"), EXAMPLES)
def test_an_example_gives_what_it_gives_on_the_pfs(
    tmp_path: Path, daemon: Daemon, name: str, mode: str
) -> None:
    example = example_of(name, tmp_path)
    example.declare(service=str(daemon.sockets))
    daemon.start()
    submit = gives_what_it_gives_on_the_pfs(example, "--bb-mode", mode)
    results = {str(example.results("bb") / lfn) for lfn in example.content("bb")}
    assert moved(daemon) > results
    for sub in submit.glob("*/*/*.sub"):
        if sub.name.startswith(TRANSFERS):
            assert "universe = local" in sub.read_text()


@pytest.mark.parametrize(
    "mode",
    [
        pytest.param(mode, marks=[] if mode == "persistent" else [pytest.mark.sweep])
        for mode in MODES
    ],
)
def test_a_service_that_is_killed_again_and_again_loses_nothing(
    site: Site, daemon: Daemon, mode: str
) -> None:
    site.declare(service=str(daemon.sockets), granularity="1KiB")
    site.planned("bb", "--bb-mode", mode, "--bb-poll", "1s")
    client = daemon.start()
    run = site.start_run("bb")
    kills = 0
    while run.poll() is None:
        if len(client.status()) > kills:  # once for each task, whatever its state
            daemon.kill()
            client = daemon.start()
            kills = kills + 1
        time.sleep(0.01)
    assert kills > 1
    assert run.returncode == 0
    assert site.content("bb") == expected()


def test_a_run_goes_to_the_pfs_where_it_may(site: Site, daemon: Daemon) -> None:
    site.declare(service=str(daemon.sockets), fail="create: no such project")
    daemon.start()
    folder = site.planned("bb", "--bb-mode", "persistent", "--bb-fallback", "pfs")
    assert done_well(site.run("bb"))
    assert site.content("bb") == expected()
    decision = json.loads((folder / "bb" / "storage_decision.json").read_text())
    assert decision["to"] == "pfs"
    assert moved(daemon)
