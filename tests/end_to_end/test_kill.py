"""Kill -9 of the engine, or of any task, at every node: a second run finishes."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.support.user_site import (
    Site,
    done_well,
    expected,
    killed_when,
    wait_for_event,
)

NODES = [
    "bb_setup_BB0000001",
    "create_dir_diamond_0_cluster",
    "stage_in_remote_cluster_0_0",
    "mix_A",
    "mix_B",
    "stage_in_remote_cluster_1_0",
    "mix_C",
    "mix_D",
    "stage_out_remote_cluster_2_0",
    "mix_E",
    "stage_out_remote_cluster_3_0",
    "cleanup_diamond_0_cluster",
    "bb_delete_BB0000002",
]
CLEAN_UP = "clean_up_cluster_level_5_0"
PERSISTENT = ("--bb-mode", "persistent", "--cleanup", "leaf")


def at(nodes: Iterable[str], *chosen: str) -> pytest.MarkDecorator:
    """At each node; ``make test`` has the ``chosen`` ones."""
    sweep = pytest.mark.sweep
    rows = [pytest.param(n, marks=[] if n in chosen else sweep) for n in nodes]
    return pytest.mark.parametrize("node", rows)


def test_the_list_above_names_every_node(site: Site) -> None:
    dag = next(site.planned("bb", *PERSISTENT).glob("*.dag")).read_text().splitlines()
    nodes = [line.split()[1] for line in dag if line.startswith("JOB ")]
    assert sorted(NODES) == sorted(nodes)


@at([*NODES, CLEAN_UP], "bb_delete_BB0000002")
def test_the_engine_is_killed(site: Site, node: str) -> None:
    cleanup = "inplace" if node == CLEAN_UP else "leaf"
    site.planned("bb", "--bb-mode", "persistent", "--cleanup", cleanup)
    killed_when(site, "bb", node)
    assert done_well(site.run("bb"))
    assert site.content("bb") == expected()
    assert site.reservations() == []


@at(NODES, "stage_out_remote_cluster_2_0")
def test_a_task_is_killed(site: Site, node: str) -> None:
    site.planned("bb", *PERSISTENT, "-Ddagman.retry=0")
    engine = site.start_run("bb")
    log = site.submit_dir("bb") / "jobstate.log"
    assert wait_for_event(log, node, "EXECUTE", engine)
    kill_processes_of(node, site, log)
    if engine.wait() != 0:
        assert done_well(site.run("bb"))
    assert site.content("bb") == expected()
    assert site.reservations() == []


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
