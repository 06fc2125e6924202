"""A tier with a staging service, which moves every file of a run."""

from __future__ import annotations

import json
import time

import pytest

from tests.stager.conftest import daemon
from tests.support.stager import Daemon
from tests.support.user_site import Site, expected

__all__ = ["daemon"]


def moved(daemon: Daemon) -> set[str]:
    """Where the service has brought files to."""
    with daemon.connect() as client:
        tasks = client.status()
    assert {task["state"] for task in tasks} == {"done"}
    return {"/" + task["dest"].partition("://")[2] for task in tasks}


@pytest.mark.parametrize(
    "mode", ["persistent", pytest.param("hybrid", marks=pytest.mark.sweep)]
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
    site.finishes("bb")
    decision = json.loads((folder / "bb" / "storage_decision.json").read_text())
    assert decision["to"] == "pfs"
    assert moved(daemon)
