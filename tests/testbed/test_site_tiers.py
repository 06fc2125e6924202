"""Tiers beside the shared buffer on the real Slurm of a testbed, under DAGMan: disks of
the nodes, and private reservations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pegasus_bb.testbed.home import Home
from tests.end_to_end.conftest import expected
from tests.testbed.condor_desk import PLANNERS, TIER, Desk
from tests.testbed.site_hands import Site
from tests.testbed.test_site_transient import spaces

pytestmark = [pytest.mark.site]
SECONDS = 500.0
NVME = {"name": "nvme", "backend": "node-local", "mount": "any", "granularity": "1MiB"}
PRIVATE = {**TIER, "name": "own", "access": "private"}


def declared(home: Home, name: str, planner: str, *tiers: dict[str, Any]) -> Desk:
    """A site with these tiers; its disk is a folder of the only node."""
    desk = Desk(home, name, planner=planner)
    disk(desk).mkdir()
    sites = desk.document("sites.yml")
    sites["x-storage-tiers"]["cluster"] = list(tiers)
    text = json.dumps(sites).replace("NVME", str(disk(desk)))
    desk.save("sites.yml", json.loads(text))
    desk.belongs_to_the_user()
    return desk


def disk(desk: Desk) -> Path:
    return desk.root / "nvme"


def is_well(desk: Desk) -> None:
    done = desk.start("bb").end(SECONDS)
    assert done.status == 0, done.err
    assert "engine: dagman" in done.err
    assert desk.content("bb") == expected()
    assert list(disk(desk).iterdir()) == []


def places(desk: Desk) -> dict[str, str]:
    return {
        node: record["cwd"]
        for node, record in desk.records("bb").items()
        if node.startswith("mix_")
    }


@pytest.mark.parametrize("planner", PLANNERS)
def test_every_task_works_on_the_disk_of_its_node(
    submit_host: Site, home: Home, planner: str, planners: None
) -> None:
    desk = declared(home, "disk", planner, {**NVME, "path": "NVME"})
    desk.planned("bb", "--bb-mode", "transient")
    is_well(desk)
    assert all(p.startswith(f"{disk(desk)}/") for p in places(desk).values())
    assert not spaces(submit_host)


@pytest.mark.parametrize("planner", PLANNERS)
def test_what_is_shared_is_on_the_buffer_and_a_room_on_the_disk(
    submit_host: Site, home: Home, planner: str, planners: None
) -> None:
    tiers = ({**TIER, "granularity": "1KiB"}, {**NVME, "path": "NVME"})
    desk = declared(home, "both", planner, *tiers)
    desk.planned("bb", "--bb-mode", "hybrid")
    is_well(desk)
    on_disk = [n for n, p in places(desk).items() if p.startswith(f"{disk(desk)}/")]
    assert on_disk == ["mix_E"]
    assert not submit_host.buffers()
    assert not spaces(submit_host)


@pytest.mark.parametrize("planner", PLANNERS)
def test_a_private_reservation_serves_the_job_that_has_it(
    submit_host: Site, home: Home, planner: str, planners: None
) -> None:
    desk = declared(home, "private", planner, PRIVATE)
    submit = desk.planned("bb", "--bb-mode", "transient")
    (lines,) = {f.read_text() for f in (submit / "bb/jobs").glob("*A.bbf")}
    assert lines.splitlines() == [
        "#DW jobdw capacity=1048576 access_mode=private type=scratch pool=wlm_pool"
    ]
    is_well(desk)
    assert all("_private_scratch/run" in p for p in places(desk).values())
    assert not spaces(submit_host)
