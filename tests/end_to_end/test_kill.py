"""Kill -9 of the engine, or of a task, at nodes of each kind: a second run finishes."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from tests.support.user_site import Site, killed_when, wait_for_event

NODES = [
    pytest.param("stage_in_remote_cluster_0_0", marks=pytest.mark.sweep),
    pytest.param("mix_D", marks=pytest.mark.sweep),
    "stage_out_remote_cluster_2_0",
    pytest.param("bb_delete_BB0000002", marks=pytest.mark.sweep),
]
CLEAN_UP = "clean_up_cluster_level_5_0"
PERSISTENT = ("--bb-mode", "persistent", "--cleanup", "leaf")


@pytest.mark.parametrize("node", [*NODES, CLEAN_UP])
def test_the_engine_is_killed(site: Site, node: str) -> None:
    cleanup = "inplace" if node == CLEAN_UP else "leaf"
    site.planned("bb", "--bb-mode", "persistent", "--cleanup", cleanup)
    killed_when(site, "bb", node)
    site.finishes("bb")


@pytest.mark.parametrize("node", NODES)
def test_a_task_is_killed(site: Site, node: str) -> None:
    site.planned("bb", *PERSISTENT, "-Ddagman.retry=0")
    engine = site.start_run("bb")
    log = site.submit_dir("bb") / "jobstate.log"
    assert wait_for_event(log, node, "EXECUTE", engine)
    kill_processes_of(node, site, log)
    engine.wait()
    site.finishes("bb")


def kill_processes_of(node: str, site: Site, log: Path) -> None:
    """SIGKILL each process of this site that has ``node`` in its environment.

    There is none where the node has ended before.
    """
    ledger = site.environ()["PEGASUS_BB_LEDGER"]
    marks = {f"PEGASUS_DAG_JOB_ID={node}", f"PEGASUS_BB_LEDGER={ledger}"}
    wanted = {mark.encode() for mark in marks}
    while f" {node} JOB_TERMINATED " not in log.read_text():
        found = [
            int(entry.name)
            for entry in Path("/proc").iterdir()
            if entry.name.isdigit() and wanted <= set(environment_of(entry))
        ]
        for pid in found:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        if found:
            return
        time.sleep(0.005)


def environment_of(entry: Path) -> list[bytes]:
    try:
        return (entry / "environ").read_bytes().split(b"\0")
    except OSError:
        return []
