"""Kill -9 of the engine, or of any task, at every node: a second run finishes."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from .conftest import Site, expected, kill, wait_for_event

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


def nodes(submit_dir: Path) -> list[str]:
    dag = next(submit_dir.glob("*.dag")).read_text()
    return [line.split()[1] for line in dag.splitlines() if line.startswith("JOB ")]


CLEAN_UP = "clean_up_cluster_level_5_0"
PERSISTENT = ("--bb-mode", "persistent", "--cleanup", "leaf")


def test_the_list_below_names_every_node(site: Site) -> None:
    assert sorted(NODES) == sorted(nodes(site.planned("bb", *PERSISTENT)))


@pytest.mark.parametrize("node", [*NODES, CLEAN_UP])
def test_the_engine_is_killed(site: Site, node: str) -> None:
    cleanup = "inplace" if node == CLEAN_UP else "leaf"
    site.planned("bb", "--bb-mode", "persistent", "--cleanup", cleanup)
    engine = site.start_run("bb")
    log = site.submit_dir("bb") / "jobstate.log"
    assert wait_for_event(log, node, "EXECUTE", engine)
    kill(engine)
    done = site.run("bb")
    assert done.returncode == 0, done.stdout + done.stderr
    assert site.content("bb") == expected()
    assert site.reservations() == []


@pytest.mark.parametrize("node", NODES)
def test_a_task_is_killed(site: Site, node: str) -> None:
    site.planned("bb", *PERSISTENT, "-Ddagman.retry=0")
    engine = site.start_run("bb")
    log = site.submit_dir("bb") / "jobstate.log"
    assert wait_for_event(log, node, "EXECUTE", engine)
    kill_processes_of(node, site)
    engine.wait()
    if engine.returncode != 0:
        done = site.run("bb")
        assert done.returncode == 0, done.stdout + done.stderr
    assert site.content("bb") == expected()
    assert site.reservations() == []


def kill_processes_of(node: str, site: Site) -> None:
    """SIGKILL every process of this site that carries ``node`` in its environment."""
    ledger = site.environ()["PEGASUS_BB_LEDGER"]
    marks = {f"PEGASUS_DAG_JOB_ID={node}", f"PEGASUS_BB_LEDGER={ledger}"}
    wanted = {mark.encode() for mark in marks}
    deadline = time.monotonic() + 2
    while time.monotonic() < deadline:
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
